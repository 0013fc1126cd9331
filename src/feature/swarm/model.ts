/** A swarm: tasks that depend on each other, each done by an agent in a session of its own. */
import { type Static, Type as t } from "@sinclair/typebox";
import { DAY_SECONDS } from "../../core/clock.ts";
import { LIMITS } from "../../core/limits.ts";
import { oneOf, orNull, Time } from "../../core/schema.ts";
import { CallsWithoutPrice } from "../usage/model.ts";

const AgentId = t.String({ minLength: 1, maxLength: 64 });
const TaskKey = t.String({ pattern: "^[a-zA-Z0-9][a-zA-Z0-9_-]{0,63}$" });
const Model = t.String({ minLength: 3, maxLength: LIMITS.nameCharacters });
const Seconds = t.Integer({ minimum: 1, maximum: DAY_SECONDS });

/** Fields in the requests of both people and agents. */
const plan = {
  max_concurrent: t.Optional(
    t.Integer({ minimum: 1, maximum: LIMITS.swarmConcurrent, description: "Tasks at once; default 3." }),
  ),
  on_failure: t.Optional(oneOf("skip_dependents", "cancel_all")),
  budget_usd: t.Optional(orNull(t.Number({ minimum: 0, maximum: 1_000_000, description: "For all tasks together." }))),
  timeout_seconds: t.Optional(Seconds),
};
const task = {
  key: TaskKey,
  prompt: t.String({ minLength: 1, maxLength: LIMITS.textCharacters, pattern: "\\S" }),
  title: t.Optional(t.String({ minLength: 1, maxLength: 200 })),
  agent_id: t.Optional(orNull(AgentId)),
  depends_on: t.Optional(
    t.Array(TaskKey, {
      maxItems: LIMITS.swarmTasks,
      description: "Keys of tasks that must have succeeded; their outputs are quoted in this one's prompt.",
    }),
  ),
  model: t.Optional(orNull(Model)),
  timeout_seconds: t.Optional(orNull(Seconds)),
};
const tasks = t.Array(t.Object(task), { minItems: 1, maxItems: LIMITS.swarmTasks });

export const SwarmRequest = t.Object({
  agent_id: AgentId,
  tasks,
  ...plan,
  project_id: t.Optional(orNull(t.String({ maxLength: 64 }))),
});
export type SwarmRequest = Static<typeof SwarmRequest>;
export type SwarmTaskRequest = SwarmRequest["tasks"][number];

/** The arguments of an agent's `swarm_execute`. Tasks without an agent are done by agents like the caller. */
export const SwarmPlan = t.Object({ tasks, ...plan });
export type SwarmPlan = Static<typeof SwarmPlan>;

const Failure = orNull(t.Object({ code: t.String(), message: t.String() }));

const SwarmStatus = oneOf("running", "succeeded", "failed", "cancelled");
const SwarmTaskStatus = oneOf("pending", "ready", "running", "succeeded", "failed", "skipped", "cancelled");

export const Swarm = t.Object({
  id: t.String(),
  agent_id: t.String(),
  status: SwarmStatus,
  title: t.String({ description: "Title of the swarm's first task." }),
  counts: t.Record(t.String(), t.Integer(), { description: "Number of tasks by status." }),
  task_count: t.Integer(),
  max_depth: t.Integer({ description: "Number of tasks in the longest chain of dependencies." }),
  max_concurrent: t.Integer(),
  on_failure: oneOf("skip_dependents", "cancel_all"),
  timeout_seconds: t.Integer(),
  budget_usd: orNull(t.Number()),
  cost_usd: t.Number(),
  calls_without_price: CallsWithoutPrice,
  tokens: t.Integer(),
  session_id: t.String({ description: "Session under which the tasks' sessions are grouped." }),
  parent_session_id: orNull(t.String({ description: "Session of the agent that started the swarm." })),
  project_id: orNull(t.String()),
  error: Failure,
  created_at: Time,
  finished_at: orNull(Time),
});
export type Swarm = Static<typeof Swarm>;

export const SwarmTask = t.Object({
  key: t.String(),
  title: t.String(),
  agent_id: t.String(),
  status: SwarmTaskStatus,
  depends_on: t.Array(t.String()),
  prompt: t.String(),
  model: orNull(t.String()),
  session_id: orNull(t.String()),
  output: orNull(t.String({ description: "Last words of the agent." })),
  outputs: t.Record(t.String(), t.Unknown()),
  error: Failure,
  cost_usd: t.Number(),
  calls_without_price: CallsWithoutPrice,
  tokens: t.Integer(),
  started_at: orNull(Time),
  finished_at: orNull(Time),
});
export type SwarmTask = Static<typeof SwarmTask>;
