/** The limits that an agent's file and a run bring along, as they stand now. */
import { eq } from "drizzle-orm";
import type { AgentConfig } from "../../engine/agent-file.ts";
import type { Store } from "../../store/store.ts";
import { runs } from "../../store/tables/runs.ts";
import type { OwnLimits, Spender } from "./scopes.ts";

type AgentBudgets = Pick<AgentConfig, "budget_usd_per_run" | "budget_usd_per_day">;

/** @param configOf undefined for an agent that there is no more. */
export const createOwnLimits =
  ({ db }: Store, configOf: (agentId: string) => AgentBudgets | undefined) =>
  ({ agentId, runId }: Spender): OwnLimits => {
    const agent = agentId === undefined ? undefined : configOf(agentId);
    const run =
      runId === undefined ? undefined : db.select({ usd: runs.budget_usd }).from(runs).where(eq(runs.id, runId)).get();
    return {
      run: run?.usd,
      agentPerRun: agent?.budget_usd_per_run,
      agentPerDay: agent?.budget_usd_per_day,
    };
  };
