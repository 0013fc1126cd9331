/** The limits that an agent's file and a run bring along, as they stand now. */
import { eq } from "drizzle-orm";
import type { AgentConfig } from "../../engine/agent-file.ts";
import type { Store } from "../../store/store.ts";
import { runs } from "../../store/tables/runs.ts";
import { sessions } from "../../store/tables/sessions.ts";
import type { OwnLimits, Spender } from "./scopes.ts";

type AgentBudgets = Pick<AgentConfig, "budget_usd_per_run" | "budget_usd_per_day">;

/** @param configOf undefined for an agent that there is no more. */
export const createOwnLimits =
  ({ db }: Store, configOf: (agentId: string) => AgentBudgets | undefined) =>
  ({ agentId, runId, sessionId }: Spender): OwnLimits => {
    const agent = agentId === undefined ? undefined : configOf(agentId);
    const run =
      runId === undefined ? undefined : db.select({ usd: runs.budget_usd }).from(runs).where(eq(runs.id, runId)).get();
    return {
      run: run?.usd,
      agentPerRun: agent?.budget_usd_per_run,
      agentPerDay: agent?.budget_usd_per_day,
      ...(sessionId === undefined ? {} : keptBySessions(db, sessionId)),
    };
  };

function keptBySessions(db: Store["db"], id: string): Pick<OwnLimits, "purse" | "root"> {
  const { budget_nano, spent_nano, reserved_nano, purse_id, root_id } = sessions;
  const kept = db.select({ purse_id, root_id }).from(sessions).where(eq(sessions.id, id)).get();
  if (!kept) return {};
  const read = (session: string) =>
    db.select({ budget_nano, spent_nano, reserved_nano }).from(sessions).where(eq(sessions.id, session)).get()!;
  const root = { id: kept.root_id, spentNano: read(kept.root_id).spent_nano };
  if (kept.purse_id === null) return { root };
  const purse = read(kept.purse_id);
  const takenNano = purse.spent_nano + purse.reserved_nano;
  return { root, purse: { sessionId: kept.purse_id, limitUsd: (purse.budget_nano ?? 0) / 1e9, takenNano } };
}
