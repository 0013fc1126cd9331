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
  path: t.String({
    minLength: 1,
    maxLength: 300,
    description: "Path of the file in the task's folder, with `/` between names.",
  }),
  content: t.String({ maxLength: 700_000, description: "Content of the file in base64." }),
  executable: t.Optional(t.Boolean()),
});
export type TaskFile = Static<typeof TaskFile>;
const Files = t.Array(TaskFile, { maxItems: 200 });

export const EvalTask = t.Object({
  name: Name,
  instruction: t.String({ minLength: 1, maxLength: 50_000, description: "Instruction that the agent is given." }),
  project_name: t.Optional(
    orNull(t.String({ maxLength: LIMITS.nameCharacters, description: "Project whose repository the agent works on." })),
  ),
  commit: t.Optional(
    orNull(t.String({ pattern: "^[0-9a-f]{40}$", description: "Commit of the repository; the newest one if absent." })),
  ),
  budget_usd: t.Optional(
    orNull(t.Number({ minimum: 0, maximum: 100_000, description: "Budget of one attempt in US dollars." })),
  ),
  timeout_seconds: t.Optional(
    t.Integer({
      minimum: 1,
      maximum: 7 * DAY_SECONDS,
      description: "Time limit of the agent's work in seconds; default 900.",
    }),
  ),
  check_seconds: t.Optional(
    t.Integer({ minimum: 1, maximum: DAY_SECONDS, description: "Time limit of the tests in seconds; default 300." }),
  ),
  cpus: t.Optional(
    t.Number({
      exclusiveMinimum: 0,
      maximum: 256,
      description: "Processors that the task needs; an agent with fewer is refused.",
    }),
  ),
  memory_mb: t.Optional(
    t.Integer({
      minimum: 1,
      maximum: 1_048_576,
      description: "Memory that the task needs, in MiB; an agent with less is refused.",
    }),
  ),
  workspace: t.Optional(
    t.Array(TaskFile, { maxItems: 200, description: "Files in the workspace when the agent begins." }),
  ),
  tests: t.Array(TaskFile, {
    maxItems: 200,
    description: "Tests, which the agent cannot see. `test.sh` decides by its exit code or by its reward.",
  }),
  reward: t.Optional(
    t.Boolean({
      description:
        "Whether the number that `test.sh` writes to $VERIFIER_LOGS/reward.txt decides. 1 passes; anything but a number from 0 to 1 is an error.",
    }),
  ),
  solution: t.Optional(
    t.Array(TaskFile, { maxItems: 200, description: "Reference solution; its `solve.sh` solves the task." }),
  ),
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
    t.Boolean({
      description:
        "Whether to check the tasks without agents: each reference solution must pass, and doing nothing must fail.",
    }),
  ),
  agents: t.Optional(t.Array(t.String({ maxLength: 64 }), { maxItems: 20, uniqueItems: true })),
  models: t.Optional(
    t.Array(Model, {
      maxItems: 20,
      uniqueItems: true,
      description: "Models to try with each agent; by default the agent's own model.",
    }),
  ),
  harnesses: t.Optional(
    t.Array(oneOf(...EVAL_HARNESSES), {
      minItems: 1,
      maxItems: EVAL_HARNESSES.length,
      uniqueItems: true,
      description:
        "What to drive each agent with: Skep's own loop, an external agent, or (`acp`) the command in the agent's file. By default the agent's own.",
    }),
  ),
  attempts: t.Optional(t.Integer({ minimum: 1, maximum: 100, description: "Attempts of each task (k); default 1." })),
  parallel: t.Optional(
    t.Integer({ minimum: 1, maximum: 16, description: "Number of attempts at the same time; default 2." }),
  ),
  budget_usd: t.Optional(
    orNull(t.Number({ minimum: 0, maximum: 1_000_000, description: "Budget of all attempts together in US dollars." })),
  ),
  replay: t.Optional(EvalRecording),
});
export type EvalCreate = Static<typeof EvalCreate>;

const sums = {
  passed: t.Integer(),
  failed: t.Integer(),
  errors: t.Integer({ description: "Number of attempts that say nothing about the agent. They count as not passed." }),
  cost_usd: t.Number(),
  calls_without_price: t.Integer(),
  tokens: t.Integer(),
};

/** The score of one combination of agent, model and harness over all tasks. */
export const EvalScore = t.Object({
  worker: oneOf(...WORKERS),
  agent_id: orNull(t.String()),
  model: orNull(t.String({ description: "Model of the attempts; `null` for the agent's own." })),
  harness: orNull(t.String()),
  ended: t.Integer({ description: "Number of attempts that have an outcome." }),
  total: t.Integer(),
  ...sums,
  pass_at_k: orNull(
    t.Number({
      description: "Probability that at least one of k attempts passes (pass@k); `null` if too few have ended.",
    }),
  ),
  pass_all_k: orNull(
    t.Number({ description: "Probability that all of k attempts pass (pass^k); `null` if too few have ended." }),
  ),
  tool_errors: t.Integer(),
  duration_ms: orNull(t.Integer({ description: "Mean working time of the attempts in milliseconds." })),
});
export type EvalScore = Static<typeof EvalScore>;

export const Eval = t.Object({
  id: t.String(),
  name: t.String(),
  user_id: orNull(t.String()),
  mode: oneOf("agents", "oracle"),
  status: oneOf(...EVAL_STATUSES),
  tasks: t.Integer(),
  attempts: t.Integer({ description: "Attempts of each task (k)." }),
  parallel: t.Integer(),
  budget_usd: orNull(t.Number()),
  replayed: t.Boolean({ description: "Whether recorded replies were played and no model was asked." }),
  ended: t.Integer({ description: "Number of attempts that have ended." }),
  total: t.Integer(),
  ...sums,
  size_bytes: t.Integer({
    description: "Size of the eval's tasks and recorded replies in bytes. It counts toward what its user has stored.",
  }),
  created_at: Time,
  finished_at: orNull(Time),
});
export type Eval = Static<typeof Eval>;

export const EvalDetail = t.Object({
  ...Eval.properties,
  scores: t.Array(EvalScore),
  problems: t.Array(t.Object({ task: t.String(), message: t.String() }), {
    description:
      "For an oracle: tasks whose reference solution does not pass, which pass without one, or which could not be tried.",
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
  reason: orNull(t.String({ description: "Why the attempt did not pass." })),
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
  better: t.Integer({ description: "Number of tasks that pass more often." }),
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
