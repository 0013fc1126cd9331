/** Swarms and their tasks as the API shows them, with their sessions' costs and results. */
import { toUsd } from "../../core/money.ts";
import { shownOf } from "../../core/schema.ts";
import type { Sessions } from "../sessions/service.ts";
import { Swarm, SwarmTask } from "./model.ts";
import { countsOf } from "./progress.ts";
import type { SwarmRow, SwarmRows, TaskRow } from "./store.ts";

export function createSwarmViews(rows: Pick<SwarmRows, "tasks">, sessions: Pick<Sessions, "find" | "latest">) {
  function present(row: SwarmRow): Swarm {
    const session = sessions.find(row.session_id)!;
    const tasks = rows.tasks(row.id);
    return {
      ...shownOf(Swarm, row),
      agent_id: session.agent_id,
      title: session.title ?? "",
      counts: countsOf(tasks),
      task_count: tasks.length,
      budget_usd: session.budget_nano === null ? null : toUsd(session.budget_nano),
      cost_usd: toUsd(session.spent_nano),
      calls_without_price: session.calls_without_price,
      tokens: session.tokens,
      parent_session_id: session.parent_id,
      project_id: session.project_id,
    };
  }

  function presentTask(task: TaskRow): SwarmTask {
    const session = task.session_id === null ? undefined : sessions.find(task.session_id);
    const work = session && sessions.latest(session.id);
    return {
      ...shownOf(SwarmTask, task),
      model: work?.model ?? task.model,
      output: work?.text || null,
      outputs: work?.outputs ?? {},
      cost_usd: toUsd(session?.spent_nano ?? 0),
      tokens: session?.tokens ?? 0,
      calls_without_price: session?.calls_without_price ?? 0,
    };
  }
  return { present, presentTask };
}
