/** Evals, as the API takes and shows them. */
import { type Static, Type as t } from "@sinclair/typebox";
import { DAY_SECONDS } from "../../core/clock.ts";
import { EVAL_HARNESSES } from "../../core/harness-names.ts";
import { LIMITS } from "../../core/limits.ts";
import { oneOf, orNull, Time } from "../../core/schema.ts";
import { ATTEMPT_STATES, EVAL_STATUSES, WORKERS } from "../../store/tables/evals.ts";

const MOST_TASKS = 100;
export const MOST_ATTEMPTS = 1_000;
/** Limit of a task's packed files of one kind. They are passed in one variable of a command. */
export const PACKED_CHARACTERS = 96_000;
export const BUILT_IN_HARNESS = "builtin";

const Name = t.String({ pattern: "^[a-z0-9][a-z0-9-]{0,63}$" });
const Model = t.String({ minLength: 3, maxLength: LIMITS.nameCharacters });

const TaskFile = t.Object({
  path: t.String({ minLength: 1, maxLength: 300, description: "In the task's folder; `/` between names." }),
  content: t.String({ maxLength: 700_000, description: "base64" }),
  executable: t.Optional(t.Boolean()),
});
export type TaskFile = Static<typeof TaskFile>;
const Files = t.Array(TaskFile, { maxItems: 200 });

export const EvalTask = t.Object({
  name: Name,
  instruction: t.String({ minLength: 1, maxLength: 50_000, description: "What the agent is asked." }),
  project_name: t.Optional(orNull(t.String({ maxLength: LIMITS.nameCharacters, description: "Whose repository." }))),
  commit: t.Optional(orNull(t.String({ pattern: "^[0-9a-f]{40}$", description: "Of it; its newest unless given." }))),
  budget_usd: t.Optional(orNull(t.Number({ minimum: 0, maximum: 100_000, description: "Of one attempt." }))),
  timeout_seconds: t.Optional(t.Integer({ minimum: 1, maximum: 7 * DAY_SECONDS, description: "Default 900." })),
  check_seconds: t.Optional(t.Integer({ minimum: 1, maximum: DAY_SECONDS, description: "Default 300." })),
  cpus: t.Optional(
    t.Number({
      exclusiveMinimum: 0,
      maximum: 256,
      description: "That the task needs; an agent with fewer is refused.",
    }),
  ),
  memory_mb: t.Optional(
    t.Integer({
      minimum: 1,
      maximum: 1_048_576,
      description: "That the task needs, MiB; an agent with less is refused.",
    }),
  ),
  workspace: t.Optional(t.Array(TaskFile, { maxItems: 200, description: "Files that the agent begins with." })),
  tests: t.Array(TaskFile, {
    maxItems: 200,
    description: "Hidden from the agent. `test.sh` decides by its exit code, or by its reward.",
  }),
  reward: t.Optional(
    t.Boolean({
      description:
        "The number that test.sh writes to $VERIFIER_LOGS/reward.txt decides: 1 passes. What is no number from 0 to 1 is an error.",
    }),
  ),
  solution: t.Optional(t.Array(TaskFile, { maxItems: 200, description: "`solve.sh` solves the task." })),
});
export type EvalTask = Static<typeof EvalTask>;
export const EvalTaskFolder = t.Object({ ...EvalTask.properties, workspace: Files, solution: Files });
export type EvalTaskFolder = Static<typeof EvalTaskFolder>;

const RecordedTurn = t.Object({
  text: t.Optional(t.String()),
  thinking: t.Optional(t.String()),
  tool_calls: t.Optional(
    t.Array(
      t.Object({
        tool: t.String({ minLength: 1, maxLength: 200 }),
        input: t.Optional(t.Record(t.String(), t.Unknown())),
      }),
      { maxItems: 50 },
    ),
  ),
});

const RecordedAttempt = t.Object({
  task: Name,
  agent_id: t.String({ maxLength: 64 }),
  model: orNull(Model),
  harness: t.String({ maxLength: 64 }),
  number: t.Integer({ minimum: 1, maximum: 100 }),
  turns: t.Array(RecordedTurn, { maxItems: 500 }),
});

export const EvalRecording = t.Object({
  version: t.Literal(1),
  attempts: t.Array(RecordedAttempt, { maxItems: MOST_ATTEMPTS }),
});
export type EvalRecording = Static<typeof EvalRecording>;

export const EvalCreate = t.Object({
  name: t.String({ minLength: 1, maxLength: 200 }),
  tasks: t.Array(EvalTask, { minItems: 1, maxItems: MOST_TASKS }),
  oracle: t.Optional(
    t.Boolean({ description: "No agents: each reference solution must pass, and doing nothing must fail." }),
  ),
  agents: t.Optional(t.Array(t.String({ maxLength: 64 }), { maxItems: 20, uniqueItems: true })),
  models: t.Optional(
    t.Array(Model, { maxItems: 20, uniqueItems: true, description: "Each agent with each; else the agent's own." }),
  ),
  harnesses: t.Optional(
    t.Array(oneOf(...EVAL_HARNESSES), {
      minItems: 1,
      maxItems: EVAL_HARNESSES.length,
      uniqueItems: true,
      description:
        "Each agent with each: Skep's own loop, an external agent, or (acp) the command that the agent's file names. Else the agent's own.",
    }),
  ),
  attempts: t.Optional(t.Integer({ minimum: 1, maximum: 100, description: "k: attempts of each task. Default 1." })),
  parallel: t.Optional(t.Integer({ minimum: 1, maximum: 16, description: "Attempts at once. Default 2." })),
  budget_usd: t.Optional(orNull(t.Number({ minimum: 0, maximum: 1_000_000, description: "Of all attempts." }))),
  replay: t.Optional(EvalRecording),
});
export type EvalCreate = Static<typeof EvalCreate>;

const sums = {
  passed: t.Integer(),
  failed: t.Integer(),
  errors: t.Integer({ description: "Attempts that say nothing of the agent; they count as not passed." }),
  cost_usd: t.Number(),
  calls_without_price: t.Integer(),
  tokens: t.Integer(),
};

/** The score of one combination of agent, model and harness over all tasks. */
export const EvalScore = t.Object({
  worker: oneOf(...WORKERS),
  agent_id: orNull(t.String()),
  model: orNull(t.String({ description: "Null: the agent's own." })),
  harness: orNull(t.String()),
  ended: t.Integer({ description: "Attempts that have an outcome." }),
  total: t.Integer(),
  ...sums,
  pass_at_k: orNull(t.Number({ description: "Chance that at least one of k attempts passes. Null: too few ended." })),
  pass_all_k: orNull(t.Number({ description: "Chance that all of k attempts pass (pass^k). Null: too few ended." })),
  tool_errors: t.Integer(),
  duration_ms: orNull(t.Integer({ description: "Mean of the attempts' work." })),
});
export type EvalScore = Static<typeof EvalScore>;

export const Eval = t.Object({
  id: t.String(),
  name: t.String(),
  user_id: orNull(t.String()),
  mode: oneOf("agents", "oracle"),
  status: oneOf(...EVAL_STATUSES),
  tasks: t.Integer(),
  attempts: t.Integer({ description: "k" }),
  parallel: t.Integer(),
  budget_usd: orNull(t.Number()),
  replayed: t.Boolean({ description: "Recorded replies were played; no model was asked." }),
  ended: t.Integer({ description: "Attempts that have ended." }),
  total: t.Integer(),
  ...sums,
  size_bytes: t.Integer({
    description: "Of its tasks and the replies that it plays; they count to what its user has stored.",
  }),
  created_at: Time,
  finished_at: orNull(Time),
});
export type Eval = Static<typeof Eval>;

export const EvalDetail = t.Object({
  ...Eval.properties,
  scores: t.Array(EvalScore),
  problems: t.Array(t.Object({ task: t.String(), message: t.String() }), {
    description: "Of an oracle: tasks whose solution does not pass, or which pass without one.",
  }),
});
export type EvalDetail = Static<typeof EvalDetail>;

export const EvalAttempt = t.Object({
  id: t.String(),
  eval_id: t.String(),
  task: t.String(),
  worker: oneOf(...WORKERS),
  agent_id: orNull(t.String()),
  model: orNull(t.String()),
  harness: orNull(t.String()),
  number: t.Integer(),
  status: oneOf(...ATTEMPT_STATES),
  run_id: orNull(t.String()),
  reason: orNull(t.String({ description: "Why it did not pass." })),
  cost_usd: t.Number(),
  calls_without_price: t.Integer(),
  tokens: t.Integer(),
  model_calls: t.Integer(),
  tool_errors: t.Integer(),
  duration_ms: orNull(t.Integer()),
  finished_at: orNull(Time),
});
export type EvalAttempt = Static<typeof EvalAttempt>;

const Passes = t.Object({ passed: t.Integer(), ended: t.Integer() });
export const EvalComparison = t.Object({
  before: Eval,
  after: Eval,
  better: t.Integer({ description: "Tasks that pass more often." }),
  worse: t.Integer(),
  tasks: t.Array(
    t.Object({
      task: t.String(),
      worker: oneOf(...WORKERS),
      agent_id: orNull(t.String()),
      model: orNull(t.String()),
      harness: orNull(t.String()),
      before: orNull(Passes),
      after: orNull(Passes),
    }),
  ),
});
export type EvalComparison = Static<typeof EvalComparison>;
