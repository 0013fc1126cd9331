/** Describes everything that is wrong with a disturbed run, so that one failure shows all of it. */
import type { SkepEvent } from "../../core/events.ts";
import type { Step } from "../../feature/runs/model.ts";
import type { Disturbed } from "./lane.ts";

/** What must be the same however often the server died: the states and outputs of the run and its steps. */
export function outcomeOf({ run, steps }: Pick<Disturbed, "run" | "steps">): string {
  const task = (text: string) => text.replaceAll(run.task_description, "TASK");
  const toText = ({ step_id, attempt, status, inputs, outputs, error }: Step) =>
    task(JSON.stringify([step_id, attempt, status, inputs, outputs, error]));
  const rows = steps.map(toText).sort();
  return [task(JSON.stringify([run.status, run.outputs, run.error])), ...rows].join("\n");
}

/** @param expected outcome of the undisturbed run. */
export function findings(disturbed: Disturbed, expected: string): string[] {
  const { lostWrites, leftProcesses, runsOfTask } = disturbed;
  const found = [...idFaults(disturbed), ...callFaults(disturbed), ...stepFaults(disturbed.log)];
  const outcome = outcomeOf(disturbed);
  if (outcome !== expected) found.push(`it ended otherwise:\n${outcome}\ninstead of\n${expected}`);
  if (lostWrites.length > 0) found.push(`answered and lost: ${lostWrites.join(", ")}`);
  if (leftProcesses.length > 0) found.push(`still running: ${leftProcesses.join("; ")}`);
  if (runsOfTask !== 1) found.push(`asked for once and again, there are ${runsOfTask} runs`);
  return found;
}

/** Event ids must increase by one, and the log must contain what readers saw. */
function idFaults({ seen, log, from }: Disturbed): string[] {
  const found: string[] = [];
  for (const [at, { id }] of seen.entries()) {
    const before = at === 0 ? from : seen[at - 1]!.id;
    if (id !== before + 1) found.push(`event ${id} came after ${before}`);
  }
  const differing = log.findIndex((event, at) => JSON.stringify(event) !== JSON.stringify(seen[at]));
  if (differing >= 0)
    found.push(`the log now has ${JSON.stringify(log[differing])}, seen was ${JSON.stringify(seen[differing])}`);
  if (log.length !== seen.length) found.push(`the log holds ${log.length} events, ${seen.length} were seen`);
  return found;
}

interface Call {
  starts: number;
  ends: SkepEvent[];
  started: number;
  done: number;
  tool: unknown;
}

/**
 * Every call must be announced once and end once. It must run at most once, and exactly once unless it is marked as
 * interrupted.
 */
function callFaults({ log, journal }: Disturbed): string[] {
  const calls = new Map<string, Call>();
  const callOf = (key: string): Call => {
    const call = calls.get(key) ?? { starts: 0, ends: [], started: 0, done: 0, tool: undefined };
    calls.set(key, call);
    return call;
  };
  for (const event of log) {
    // The calls of a later attempt have the same numbers, followed by a mark of the attempt.
    const [, label] = /^scripted_(\d+_\d+)/.exec(String(event.data["call_id"])) ?? [];
    const key = `${String(event.data["execution_id"])} ${label}`;
    if (event.kind === "tool_call_start") {
      const call = callOf(key);
      call.starts++;
      call.tool = event.data["tool"];
    } else if (event.kind === "tool_call_end") callOf(key).ends.push(event);
  }
  for (const line of journal) {
    const [what, execution, label] = line.split(" ");
    const call = callOf(`${execution} ${label}`);
    if (what === "begin") call.started++;
    else call.done++;
  }
  return [...calls].flatMap(([key, call]) => faultsOf(call).map((fault) => `call ${key}: ${fault}`));
}

function faultsOf({ starts, ends, started, done, tool }: Call): string[] {
  const found: string[] = [];
  if (starts !== 1) found.push(`${starts} starts were announced`);
  if (ends.length !== 1) found.push(`${ends.length} ends were announced`);
  if (tool !== "bash") return found;
  const end = ends[0]?.data;
  const interrupted = end?.["interrupted"] === true;
  if (started > 1) found.push(`it ran ${started} times`);
  if (interrupted && !String(end?.["output"]).startsWith("Interrupted")) found.push("the model did not learn of it");
  if (interrupted && end?.["ok"] !== false) found.push("interrupted and yet well");
  if (!interrupted && (started !== 1 || done !== 1))
    found.push(`it ended, having started ${started} times and done ${done}`);
  return found;
}

/** What was announced as succeeded must not be announced again. */
function stepFaults(log: readonly SkepEvent[]): string[] {
  const times = new Map<string, number>();
  for (const { kind, step_id, data } of log)
    if (kind === "step_complete" || kind === "run_complete") {
      const key = `${kind} ${step_id ?? ""} ${data["index"] ?? ""}`;
      times.set(key, (times.get(key) ?? 0) + 1);
    }
  return [...times].flatMap(([key, count]) => (count === 1 ? [] : [`${key} was announced ${count} times`]));
}

/** Number of calls that the kill interrupted. */
export const interruptedIn = ({ log }: Disturbed): number => log.filter(({ data }) => data["interrupted"]).length;
