/** Finds what keeps a routine from running. It is checked at every tick, because rights, agents and projects change. */
import { isProblem, type Problem } from "../../core/errors.ts";
import type { Reason } from "./model.ts";
import type { PulseStore, RoutineRow } from "./store.ts";

interface ObstaclesDeps {
  rows: Pick<PulseStore, "isActive" | "live">;
  /** @throws Problem 404 for an unknown agent, 409 `agent_broken`, `agent_disabled`. */
  agentReady(id: string): { settings: { pulse_enabled: boolean } };
  /** Whether that account may start work in the project; false for an unknown project. Null: no account. */
  mayWorkIn(project: string, userId: string | null): boolean;
  /** What is wrong with a model's name; undefined for a model that can be called. */
  wrongModel(id: string): string | undefined;
  /** A sentence if the budget of that agent or user is used up; otherwise undefined. */
  overdrawn(agentId: string, userId: string | undefined): string | undefined;
  /** Why the files of that user's runs and chats leave no room for more work; undefined while they do. */
  fullWorkspaces(userId: string | null): Problem | undefined;
}

export type Obstacles = ReturnType<typeof createObstacles>;

const toReason = (code: string, message: string): Reason => ({ code, message });

export function createObstacles(deps: ObstaclesDeps) {
  function ofAgent({ agent_id }: RoutineRow, cause: "schedule" | "manual"): Reason | undefined {
    try {
      const { settings } = deps.agentReady(agent_id);
      if (settings.pulse_enabled || cause === "manual") return undefined;
      return toReason(
        "pulses_disabled",
        `Routines of the agent ${agent_id} are switched off: pulse_enabled is false in its settings. Switch them on: skep agents set ${agent_id} pulse_enabled=true`,
      );
    } catch (error) {
      if (!isProblem(error)) throw error;
      return toReason(error.status === 404 ? "agent_missing" : error.code, error.detail);
    }
  }
  function ofOwner({ user_id }: RoutineRow): Reason | undefined {
    if (user_id === null || deps.rows.isActive(user_id)) return undefined;
    return toReason("owner_inactive", "The account that it works for is switched off or gone.");
  }
  return {
    /** Checks everything except running ticks, budget and disk space. Cheap enough for lists. */
    standing(routine: RoutineRow, cause: "schedule" | "manual"): Reason | undefined {
      const { project_id, model } = routine;
      const found = ofOwner(routine) ?? ofAgent(routine, cause);
      if (found) return found;
      if (project_id !== null && !deps.mayWorkIn(project_id, routine.user_id))
        return toReason(
          "project_missing",
          "Its project is gone, or its owner may not start work there. Choose another, or none.",
        );
      if (model !== null && deps.wrongModel(model) !== undefined)
        return toReason("model_missing", `No provider has the model ${model}. Choose another, or none.`);
      return undefined;
    },
    /** Checks what matters only when the routine is about to run. */
    now(routine: RoutineRow): Reason | undefined {
      const { id, agent_id, user_id, max_concurrent } = routine;
      const live = deps.rows.live(id).length;
      if (live >= max_concurrent)
        return toReason(
          "still_running",
          live === 1 ? "The previous run is still at work." : `${live} previous runs are still at work.`,
        );
      const budget = deps.overdrawn(agent_id, user_id ?? undefined);
      if (budget !== undefined) return toReason("budget", budget);
      const full = deps.fullWorkspaces(user_id);
      return full && toReason(full.code, full.detail);
    },
  };
}
