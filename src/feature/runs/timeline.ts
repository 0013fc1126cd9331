/** The times at which the attempts of a run's steps waited, worked and asked a model, without inputs and outputs. */
import { type Static, Type as t } from "@sinclair/typebox";
import { oneOf, orNull, shownOf, Time } from "../../core/schema.ts";
import { kindOfStep, type PipelineStep, STEP_KINDS } from "../../engine/pipeline/definition.ts";
import type { Store } from "../../store/store.ts";
import { CallsWithoutPrice } from "../usage/model.ts";
import { Step, StepStatus } from "./model.ts";
import { type RunRow, spentOf } from "./store.ts";

const ModelTime = t.Object(
  {
    from_ms: t.Integer({ description: "Start, in milliseconds since the attempt began." }),
    to_ms: t.Integer(),
  },
  { title: "ModelTime" },
);

const StepAttempt = t.Object(
  {
    id: t.String(),
    step_id: t.String({ description: "Name of the step in the pipeline." }),
    kind: oneOf(...STEP_KINDS),
    index: orNull(t.Integer()),
    agent_id: orNull(t.String()),
    status: StepStatus,
    attempt: t.Integer(),
    visit: t.Integer({ description: "Number of the run's visit to this step, from 1; a restart counts from 1 again." }),
    superseded: t.Boolean({ description: "Whether a restart or a jump back has replaced this attempt." }),
    session_id: orNull(t.String()),
    cost_usd: t.Number(),
    calls_without_price: CallsWithoutPrice,
    queued_at: Step.properties.queued_at,
    started_at: orNull(Time),
    finished_at: orNull(Time),
    waited_ms: t.Integer({
      description: "Milliseconds of the attempt spent waiting for a provider's quota or a part of the machine.",
    }),
    model_time: t.Array(ModelTime, {
      description:
        "Times at which the attempt waited for a model; calls close together are one entry. An agent's remaining time, without `waited_ms`, is tools and setup.",
    }),
  },
  { title: "StepAttempt" },
);
type StepAttempt = Static<typeof StepAttempt>;

export const RunTimeline = t.Object(
  {
    run_id: t.String(),
    items: t.Array(StepAttempt, { description: "Attempts, oldest first." }),
    left_out: t.Integer({ description: "Number of older attempts left out; the steps of the run include them." }),
  },
  { title: "RunTimeline" },
);
export type RunTimeline = Static<typeof RunTimeline>;

/** Most attempts in one answer; the newest are kept. */
export const ATTEMPTS_MAX = 1_000;
/** Most model calls of a run that are read; the newest are read. */
const CALLS_MAX = 2_000;
/** Most parts of one attempt's time. If there are more, the closest are joined. */
const PARTS_MAX = 60;

interface AttemptRow {
  id: string;
  step_id: string;
  item_index: number | null;
  agent_id: string | null;
  status: StepAttempt["status"];
  attempt: number;
  visit: number;
  superseded: number;
  session_id: string | null;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  queued_at: string | null;
  cost_nano: number | null;
  calls_without_price: number | null;
  waited_ms: number | null;
  waiting_since: number | null;
}

interface CallRow {
  session_id: string;
  created_at: string;
  duration_ms: number;
}

const ATTEMPTS = `
  SELECT steps.id, steps.step_id, item_index, steps.agent_id, steps.status, attempt, visit, superseded,
    steps.session_id, steps.created_at, steps.started_at, steps.finished_at,
    executions.created_at AS queued_at, executions.cost_nano, executions.calls_without_price,
    executions.waited_ms, executions.waiting_since
  FROM steps LEFT JOIN executions ON executions.id = steps.execution_id
  WHERE steps.run_id = ? ORDER BY position DESC LIMIT ?`;
const COUNT = "SELECT count(*) FROM steps WHERE run_id = ?";
const CALLS = `
  SELECT session_id, created_at, duration_ms FROM llm_calls
  WHERE run_id = ? AND session_id IS NOT NULL ORDER BY id DESC LIMIT ?`;

interface Part {
  from_ms: number;
  to_ms: number;
}

/**
 * Joins overlapping parts, and then the closest ones until at most `most` are left.
 * @param parts in the order of time.
 */
export function joinParts(parts: readonly Part[], most: number): Part[] {
  const joinAt = (gap: number) => {
    const joined: Part[] = [];
    for (const part of parts) {
      const last = joined.at(-1);
      if (last && part.from_ms - last.to_ms <= gap) last.to_ms = Math.max(last.to_ms, part.to_ms);
      else joined.push({ ...part });
    }
    return joined;
  };
  const joined = joinAt(0);
  if (joined.length <= most) return joined;
  const gaps = joined.slice(1).map(({ from_ms }, at) => from_ms - joined[at]!.to_ms);
  const widest = gaps.sort((a, b) => b - a)[most - 1]!;
  return joinAt(widest);
}

/** The times of an attempt's model calls, limited to the attempt. */
function modelTimeOf({ started_at, finished_at }: AttemptRow, calls: readonly CallRow[]): Part[] {
  if (started_at === null) return [];
  const begin = Date.parse(started_at);
  const end = finished_at === null ? Number.POSITIVE_INFINITY : Date.parse(finished_at);
  const parts = calls.flatMap(({ created_at, duration_ms }): Part[] => {
    const to = Date.parse(created_at);
    const from = Math.max(begin, to - duration_ms);
    return to < begin || from > end ? [] : [{ from_ms: from - begin, to_ms: Math.min(to, end) - begin }];
  });
  return joinParts(parts, PARTS_MAX);
}

/** The kind of an attempt. An item of a `for_each` step is an agent's work. */
const kindOf = (step: PipelineStep | undefined, index: number | null): StepAttempt["kind"] =>
  step === undefined || index !== null ? "agent" : kindOfStep(step);

/** How long the attempt waited, including a wait that is not over. */
const waitedMsOf = ({ waited_ms, waiting_since, finished_at }: AttemptRow, now: number): number =>
  (waited_ms ?? 0) + (waiting_since === null || finished_at !== null ? 0 : Math.max(0, now - waiting_since));

export function timelineOf(
  { statement }: Pick<Store, "statement">,
  { id, definition }: RunRow,
  now: number,
): RunTimeline {
  const rows = statement<AttemptRow>(ATTEMPTS).all(id, ATTEMPTS_MAX).reverse();
  const all = rows.length < ATTEMPTS_MAX ? rows.length : (statement<number>(COUNT).pluck().get(id) ?? 0);
  const bySession = new Map<string, CallRow[]>();
  for (const call of statement<CallRow>(CALLS).all(id, CALLS_MAX).reverse()) {
    const calls = bySession.get(call.session_id);
    if (calls) calls.push(call);
    else bySession.set(call.session_id, [call]);
  }
  const steps = new Map(definition.steps.map((step) => [step.id, step]));
  const items = rows.map((row): StepAttempt => {
    const { step_id, item_index, session_id, cost_nano, calls_without_price } = row;
    const spent = spentOf({ cost_nano: cost_nano ?? 0, calls_without_price: calls_without_price ?? 0, tokens: 0 });
    return {
      ...shownOf(StepAttempt, row),
      kind: kindOf(steps.get(step_id), item_index),
      index: item_index,
      superseded: row.superseded === 1,
      cost_usd: spent.cost_usd,
      calls_without_price: spent.calls_without_price,
      // A step's row exists from the start of the run. Time spent on the steps before it does not count as time in the
      // queue.
      queued_at: row.queued_at ?? row.started_at ?? row.created_at,
      waited_ms: waitedMsOf(row, now),
      model_time: modelTimeOf(row, bySession.get(session_id ?? "") ?? []),
    };
  });
  return { run_id: id, items, left_out: all - items.length };
}
