/** The state of a run, computed from its events: what each step does now. Pure: the same events give the same state. */

import type { SkepEvent } from "../../core/events.ts";
import { membersOf } from "../../core/is-object.ts";
import type { Cost } from "../terminal/table.ts";
import { noticeOf } from "./notice.ts";

export interface StepView extends Cost {
  name: string;
  /** Position of the item in a `for_each`; undefined for the step itself. */
  index?: number | undefined;
  /** Who does the step, as people read it: an agent, a person or a command. */
  by: string;
  status: string;
  attempt: number;
  /** Unix milliseconds. */
  startedAt?: number | undefined;
  endedAt?: number | undefined;
  /** The tool call that is running, e.g. `bash npm test`. */
  call?: string | undefined;
  /** The last line that the step's agent wrote. */
  says: string;
  error?: string | undefined;
}

interface Question {
  step: string;
  message: string;
}

export interface RunState extends Cost {
  /** Steps in the order of the run; the items of a `for_each` follow their step. */
  steps: StepView[];
  tokens: number;
  startedAt?: number | undefined;
  endedAt?: number | undefined;
  /** The latest notice, for example about a budget or an engine that does not answer. */
  notice?: string | undefined;
  /** Steps that wait for a person. */
  questions: Map<string, Question>;
}

/** The fields of GET /v1/steps that are used here. */
interface StepRow {
  step_id: string;
  index: number | null;
  kind: string;
  agent_id: string | null;
  status: string;
}

/** The state before the first event: the run's steps, none started. */
export function initialState(rows: readonly StepRow[]): RunState {
  const names = new Map(rows.filter(({ index }) => index === null).map((row) => [row.step_id, byOf(row)]));
  const steps = [...names].map(([name, by]) => emptyStep(name, by));
  return { steps, cost_usd: 0, calls_without_price: 0, tokens: 0, questions: new Map() };
}

/** A command step has no agent, though it runs in an agent's sandbox. */
const byOf = ({ kind, agent_id }: StepRow): string => (kind === "command" ? "a command" : (agent_id ?? "a person"));

const emptyStep = (name: string, by: string, index?: number): StepView => ({
  name,
  by,
  index,
  status: "pending",
  attempt: 1,
  cost_usd: 0,
  calls_without_price: 0,
  says: "",
});

/** Applies events to a state, one after the other. */
export function createReducer(state: RunState): (event: SkepEvent) => void {
  /** Items of a `for_each` by their session: their events name only the session. */
  const sessions = new Map<string, StepView>();
  const stepOf = (name: string, index: number | undefined, by: string): StepView => {
    const found = state.steps.find((step) => step.name === name && step.index === index);
    if (found) return found;
    const made = emptyStep(name, by, index);
    const last = state.steps.findLastIndex((step) => step.name === name);
    state.steps.splice(last < 0 ? state.steps.length : last + 1, 0, made);
    return made;
  };
  return ({ kind, at, step_id, agent_id, session_id, data }) => {
    const time = at === undefined ? Date.now() : Date.parse(at);
    if (kind.startsWith("run_")) return runChanged(state, kind, time);
    if (kind === "llm_call") count(state, data, sessions.get(session_id ?? ""));
    if (kind === "budget_warning" || kind === "budget_exceeded" || kind === "activity")
      state.notice = noticeOf(kind, data);
    if (step_id === undefined) return;
    const index = typeof data["index"] === "number" ? data["index"] : undefined;
    const known = kind.startsWith("step_") ? undefined : sessions.get(session_id ?? "");
    const step = known ?? stepOf(step_id, index, agent_id ?? "");
    if (session_id !== undefined) sessions.set(session_id, step);
    stepChanged(state, step, kind, data, time);
  };
}

function runChanged(state: RunState, kind: string, time: number): void {
  if (kind === "run_created" || kind === "run_restarted") {
    state.startedAt = kind === "run_created" ? time : state.startedAt;
    state.endedAt = undefined;
  }
  if (/^run_(complete|failed|cancelled)$/.test(kind)) state.endedAt = time;
}

function count(state: RunState, data: Record<string, unknown>, step: StepView | undefined): void {
  const cost = Number(data["cost_usd"] ?? 0);
  const unpriced = data["cost_usd"] === null ? 1 : 0;
  for (const sums of step ? [state, step] : [state]) {
    sums.cost_usd += cost;
    sums.calls_without_price += unpriced;
  }
  state.tokens += Number(data["input_tokens"] ?? 0) + Number(data["output_tokens"] ?? 0);
}

const ENDS: Readonly<Record<string, string>> = {
  step_complete: "succeeded",
  step_failed: "failed",
  step_skipped: "skipped",
};

function stepChanged(state: RunState, step: StepView, kind: string, data: Record<string, unknown>, time: number): void {
  const end = ENDS[kind];
  if (end !== undefined) {
    const { message } = membersOf(data["error"]);
    const error = message === undefined ? undefined : String(message);
    Object.assign(step, { status: String(data["status"] ?? end), endedAt: time, call: undefined, error });
    state.questions.delete(step.name);
    return;
  }
  switch (kind) {
    case "step_queued":
      // The step runs again after a step back or a retry, so discard what its last attempt showed.
      Object.assign(step, { status: "queued", startedAt: undefined, endedAt: undefined, error: undefined, says: "" });
      step.attempt = Number(data["attempt"] ?? step.attempt);
      return;
    case "step_started":
      Object.assign(step, { status: "running", startedAt: time, endedAt: undefined, error: undefined });
      state.notice = undefined;
      return;
    case "step_retrying":
      step.status = "queued";
      return;
    case "tool_call_start":
      step.call = `${data["tool"]} ${inputText(data["input"])}`.trim();
      return;
    case "tool_call_end":
      step.call = undefined;
      return;
    case "output_withdrawn":
      step.says = "";
      return;
    case "agent_output":
      if (data["call_id"] === undefined || step.by === "a command")
        step.says = lastLine(step.says + String(data["text"] ?? ""));
      return;
    case "approval_requested":
      Object.assign(step, { status: "waiting", startedAt: time });
      state.questions.set(step.name, { step: step.name, message: String(data["message"] ?? "") });
      return;
    case "approval_resolved":
      state.questions.delete(step.name);
  }
}

/** Longer lines are cut: a model may write without line breaks. */
const LINE_CHARACTERS = 1_000;

/** The last line that is not empty so far. */
function lastLine(text: string): string {
  const lines = text.split("\n");
  const last = lines.at(-1)!;
  return (last.trim() === "" && lines.length > 1 ? `${lines.at(-2)}\n` : last).slice(-LINE_CHARACTERS);
}

/** The input of a tool call on one line: its only text member, or all of it as JSON. */
export function inputText(input: unknown): string {
  if (typeof input === "string") return input;
  if (typeof input !== "object" || input === null) return "";
  const values = Object.values(input);
  return values.length === 1 && typeof values[0] === "string" ? values[0] : JSON.stringify(input);
}
