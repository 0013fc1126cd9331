/**
 * Runs the tool calls of one reply. Each call is checked, bounded and masked, and its result is stored before the next
 * begins.
 */
import { isProblem, messageOf } from "../core/errors.ts";
import { executionRefs } from "../core/events.ts";
import { textIn } from "../core/is-object.ts";
import { LIMITS } from "../core/limits.ts";
import type { Masker } from "../core/masking.ts";
import { OUTSIDE_SOURCES, outsideRow, reachesOut, readByTool } from "../core/outside-table.ts";
import { raceSignal } from "../core/race-signal.ts";
import { agentOutput } from "./events.ts";
import type { AssistantMessage, Execution, StoredCall } from "./execution.ts";
import { SHUT_OUT } from "./model-call.ts";
import { firstBytesOf, keepMaskedEnds } from "./output.ts";
import { refusalOf } from "./permission/permit.ts";
import type { EnginePorts } from "./ports.ts";
import { contractFault, type SchemaCheck } from "./result.ts";
import type { Sandbox } from "./sandbox.ts";
import type { Tool, ToolContext, ToolGroup, ToolResult } from "./tool.ts";
import { searchTool } from "./tool-search.ts";

/** Lists where a value does not fit a schema. A schema that could not be checked counts as one fault. */
export const schemaCheck =
  ({ ports, execution }: Pick<Turn, "ports" | "execution">): SchemaCheck =>
  async (schema, value) => {
    try {
      return await ports.text.schemaFaults(execution.id, schema, value);
    } catch (error) {
      if (isProblem(error)) return [`it could not be checked. ${error.detail}`];
      throw error;
    }
  };

/** Tools in these groups work in the sandbox, so it is started before them. */
const NEED_SANDBOX: ReadonlySet<ToolGroup> = new Set(["files", "shell"]);

export interface Turn {
  execution: Execution;
  ports: EnginePorts;
  sandbox: Sandbox;
  /** Starts the sandbox when it has not been started. @throws Problem 503. */
  open(): Promise<void>;
  masker: Masker;
  signal: AbortSignal;
  aside: ToolContext["aside"];
  /**
   * Awaits a person's answer. The wait does not use the execution's time, and meanwhile the execution does not count as
   * one at work. @param why a sentence.
   */
  setAside<T>(why: string, wait: Promise<T>): Promise<T>;
}

/**
 * Finishes every call of a reply. A call that a dead process had started is reported as interrupted and never repeated,
 * with two exceptions. `complete` and `fail` are run again, because they only touch our rows. Tools with `resumes` find
 * what they had started. Calls left open by an earlier execution are marked as interrupted.
 * @returns how the execution ends, if a call said so.
 */
export async function settleCalls(turn: Turn, { calls, executionId }: AssistantMessage): Promise<ToolResult["end"]> {
  const { execution, ports, sandbox } = turn;
  const open = calls.filter(({ status }) => status === "requested" || status === "running");
  if (executionId !== execution.id) {
    for (const call of open) ports.rows.interruptCall(execution, call);
    return undefined;
  }
  if (open.length === 0) return calls.find(({ ending }) => ending)?.ending ?? undefined;
  const all = await ports.toolsFor(execution, sandbox);
  const tools = new Map([searchTool(all), ...all].map((tool) => [tool.name, tool]));
  for (const [earlier, call] of calls.entries()) {
    if (call.ending) return call.ending;
    const tool = tools.get(call.tool);
    if (call.status === "done" || call.status === "interrupted") continue;
    if (call.status === "running" && tool?.group !== "end" && !tool?.resumes) {
      ports.rows.interruptCall(execution, call);
      continue;
    }
    await ports.turn();
    turn.signal.throwIfAborted();
    const shutOut = ports.shutOut(execution);
    if (shutOut !== undefined) {
      ports.rows.interruptCall(execution, call);
      return { status: "failed", reason: shutOut, code: SHUT_OUT };
    }
    const isMade = earlier < LIMITS.callsPerReply;
    // Checked before the call counts as started, so that a call that waits for a person or a sandbox is made once,
    // afterwards.
    const refusal =
      tool && isMade && call.status === "requested"
        ? await refusalOf(turn, call, tool, () => inputFault(turn, call, tool))
        : undefined;
    if (tool && !refusal && NEED_SANDBOX.has(tool.group)) await turn.open();
    const result = await runCall(turn, call, isMade ? tools : undefined, refusal);
    if (result.end) return result.end;
  }
  await sandbox.workspace.bringBack();
  return undefined;
}

/**
 * @param tools undefined when the call exceeds the number of calls per reply.
 * @param refusal what the model reads when the call may not be made.
 */
async function runCall(
  turn: Turn,
  call: StoredCall,
  tools: ReadonlyMap<string, Tool> | undefined,
  refusal: ToolResult | undefined,
): Promise<ToolResult> {
  const { execution, ports, masker } = turn;
  if (call.status === "requested") ports.rows.startCall(execution, call, masker.json(call.input));
  const started = ports.clock.monotonic();
  const raw = refusal ?? (tools ? await makeCall(turn, call, tools) : tooMany());
  await ports.turn();
  turn.signal.throwIfAborted();
  const fault =
    raw.end?.status === "succeeded"
      ? await contractFault(raw.end.outputs, execution.contract, schemaCheck(turn))
      : undefined;
  const checked = fault === undefined ? raw : { ok: false, output: fault };
  const output =
    keepMaskedEnds(checked.output, LIMITS.toolOutputBytes, masker) + (await keptWhole(turn, call, checked.output));
  const result = masker.json({ ...checked, output });
  ports.rows.endCall(execution, call, result, ports.clock.monotonic() - started);
  return result;
}

/** Workspace folder for outputs that are too long for a transcript. Its `.gitignore` keeps it out of every commit. */
const OUTPUTS = ".skep/output";

/**
 * Writes an output that is too long for the transcript to the workspace. @returns a sentence for the model that says
 * where it is.
 */
export async function keptWhole(
  { sandbox, execution, ports }: Turn,
  call: StoredCall,
  output: string,
): Promise<string> {
  if (output.length <= LIMITS.toolOutputBytes && Buffer.byteLength(output) <= LIMITS.toolOutputBytes) return "";
  const path = `${OUTPUTS}/${execution.id}-${call.seq}-${call.position}.txt`;
  const data = firstBytesOf(output, LIMITS.toolWholeOutputBytes);
  try {
    await sandbox.workspace.write(".skep/.gitignore", Buffer.from("*\n"));
    await sandbox.workspace.write(path, data);
  } catch (error) {
    ports.log.debug({ err: error, execution: execution.id }, "a long output could not be kept in the workspace");
    return "";
  }
  return `\n[The whole output, ${data.length} bytes, is in ${path}: read parts of it, or search it.]`;
}

const tooMany = (): ToolResult => ({
  ok: false,
  output: `Not made: a reply may hold ${LIMITS.callsPerReply} calls. This one and all after it were left out; make them in your next replies.`,
});

async function makeCall(turn: Turn, call: StoredCall, tools: ReadonlyMap<string, Tool>): Promise<ToolResult> {
  const tool = tools.get(call.tool);
  if (!tool) return unknownTool(call, [...tools.keys()]);
  const fault = await inputFault(turn, call, tool);
  if (fault !== undefined) return { ok: false, output: fault };
  noteReading(turn, call, tool);
  return guardCall(turn, call, tool);
}

/**
 * Marks the execution when its tool may read outside text. It runs before the call, so that after a crash no work has
 * read such text unmarked.
 */
function noteReading(turn: Turn, { input }: StoredCall, tool: Tool): void {
  const { reads } = outsideRow(tool);
  if (reads === "always") turn.ports.rows.outside.mark(turn.execution, readByTool(tool.name));
  if (reads === "reaching") noteCommand(turn, textIn(input, "command") ?? "");
}

/** Marks the execution when its command may read from another machine. */
export function noteCommand({ execution, ports, sandbox }: Turn, line: string): void {
  const connected = sandbox.capabilities.network === "host" || ports.agentOf(execution).network !== "none";
  if (connected && reachesOut(line)) ports.rows.outside.mark(execution, OUTSIDE_SOURCES.command);
}

/** Why a tool does not take an input, in words for the model. */
async function inputFault(turn: Turn, { input }: StoredCall, tool: Tool): Promise<string | undefined> {
  if (typeof input !== "object" || input === null || Array.isArray(input))
    return `The input of ${tool.name} must be a JSON object, not ${describeInput(input)}.`;
  const faults = await schemaCheck(turn)(tool.accepts ?? tool.parameters, input);
  return faults.length > 0 ? `The input does not fit ${tool.name}: ${faults.join("; ")}` : undefined;
}

const SHOWN_CHARACTERS = 200;

function describeInput(input: unknown): string {
  const text = typeof input === "string" ? input : JSON.stringify(input);
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}

/** Streams what a call writes to people while it runs, masked. */
export function liveOutput({ execution, ports, masker }: Turn, { callId: call_id }: StoredCall) {
  const shown = masker.stream();
  const say = (text: string) => {
    if (text) ports.emitSoon(agentOutput, { ...executionRefs(execution), data: { text, call_id } });
  };
  return { push: (text: string) => say(shown.push(text)), end: () => say(shown.end()) };
}

/** Failures of the sandbox and not of the call: the execution goes back to the queue and makes the call again. */
const SANDBOX_FAILURES = new Set(["sandbox_lost", "sandbox_unavailable", "sandbox_not_stopped"]);

async function guardCall(turn: Turn, call: StoredCall, tool: Tool): Promise<ToolResult> {
  const { execution, ports, sandbox, masker, aside } = turn;
  const late = AbortSignal.timeout(tool.timeoutMs);
  const live = liveOutput(turn, call);
  const context: ToolContext = {
    execution,
    sandbox,
    masker,
    aside,
    outside: () => ports.rows.outside.reasonOf(execution),
    callId: call.callId,
    signal: AbortSignal.any([turn.signal, late]),
    onOutput: live.push,
  };
  try {
    // A tool that ignores its abort signal cannot hold up the execution.
    return await raceSignal(tool.run(call.input as never, context), context.signal);
  } catch (error) {
    turn.signal.throwIfAborted();
    if (isProblem(error) && SANDBOX_FAILURES.has(error.code)) throw error;
    if (late.aborted)
      return { ok: false, output: `${tool.name} took longer than ${tool.timeoutMs / 1_000} s and was stopped.` };
    if (isProblem(error)) return { ok: false, output: error.detail };
    ports.log.error({ err: error, tool: tool.name, execution: execution.id }, "tool failed");
    return { ok: false, output: `${tool.name} failed inside: ${messageOf(error).slice(0, 300)}` };
  } finally {
    live.end();
  }
}

const unknownTool = ({ tool }: StoredCall, names: readonly string[]): ToolResult => ({
  ok: false,
  output: `There is no tool ${tool} here. There are: ${names.join(", ")}.`,
});
