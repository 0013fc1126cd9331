/** Swarms and their tasks as they are shown, with what their sessions cost and gave. */
import { toUsd } from "../../core/money.ts";
import type { Sessions } from "../sessions/service.ts";
import type { Swarm, SwarmTask } from "./model.ts";
import { countsOf } from "./progress.ts";
import type { SwarmRow, SwarmRows, TaskRow } from "./store.ts";

export function createSwarmViews(rows: Pick<SwarmRows, "tasks">, sessions: Pick<Sessions, "find" | "latest">) {
  function present(row: SwarmRow): Swarm {
    const { id, session_id, status, max_depth, max_concurrent, on_failure, timeout_seconds, error } = row;
    const session = sessions.find(session_id)!;
    const tasks = rows.tasks(id);
    return {
      id,
      agent_id: session.agent_id,
      status,
      title: session.title ?? "",
      counts: countsOf(tasks),
      task_count: tasks.length,
      max_depth,
      max_concurrent,
      on_failure,
      timeout_seconds,
      session_id,
      error,
      budget_usd: session.budget_nano === null ? null : toUsd(session.budget_nano),
      cost_usd: toUsd(session.spent_nano),
      calls_without_price: session.calls_without_price,
      tokens: session.tokens,
      parent_session_id: session.parent_id,
      project_id: session.project_id,
      created_at: row.created_at,
      finished_at: row.finished_at,
    };
  }

  function presentTask(task: TaskRow): SwarmTask {
    const session = task.session_id === null ? undefined : sessions.find(task.session_id);
    const work = session && sessions.latest(session.id);
    const { key, title, agent_id, status, depends_on, prompt, session_id, error, started_at, finished_at } = task;
    return {
      key,
      title,
      agent_id,
      status,
      depends_on,
      prompt,
      session_id,
      error,
      started_at,
      finished_at,
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
