/** The limits that an agent's file and a run set, as they are now. */
import { toUsd } from "../../core/money.ts";
import type { AgentConfig } from "../../engine/agent-file.ts";
import type { Store } from "../../store/store.ts";
import type { OwnLimits, Spender } from "./scopes.ts";

type AgentBudgets = Pick<AgentConfig, "budget_usd_per_run" | "budget_usd_per_day">;

/** @param configOf returns undefined for an agent that no longer exists. */
export const createOwnLimits =
  ({ statement }: Store, configOf: (agentId: string) => AgentBudgets | undefined) =>
  ({ agentId, runId, sessionId }: Spender): OwnLimits => {
    const agent = agentId === undefined ? undefined : configOf(agentId);
    const run =
      runId === undefined
        ? undefined
        : statement<{ usd: number | null }>("SELECT budget_usd AS usd FROM runs WHERE id = ?").get([runId]);
    return {
      run: run?.usd,
      agentPerRun: agent?.budget_usd_per_run,
      agentPerDay: agent?.budget_usd_per_day,
      ...(sessionId === undefined ? {} : keptBySessions(statement, sessionId)),
    };
  };

/** Runs before every model call, so it is a single statement that is compiled once. */
const KEPT = `
  SELECT root.id AS root, root.spent_nano AS root_spent, purse.id AS purse, purse.budget_nano AS budget,
    purse.spent_nano + purse.reserved_nano AS taken
  FROM sessions own JOIN sessions root ON root.id = own.root_id LEFT JOIN sessions purse ON purse.id = own.purse_id
  WHERE own.id = ?`;

function keptBySessions(statement: Store["statement"], id: string): Pick<OwnLimits, "purse" | "root"> {
  const kept = statement<{
    root: string;
    root_spent: number;
    purse: string | null;
    budget: number | null;
    taken: number | null;
  }>(KEPT).get([id]);
  if (!kept) return {};
  const root = { id: kept.root, spentNano: kept.root_spent };
  if (kept.purse === null) return { root };
  const limitUsd = toUsd(kept.budget ?? 0);
  return { root, purse: { sessionId: kept.purse, limitUsd, takenNano: kept.taken ?? 0 } };
}
