/** Running the tool calls of one reply: checked, bounded, masked, each stored before the next begins. */
import { isProblem, messageOf } from "../core/errors.ts";
import { executionRefs } from "../core/events.ts";
import { LIMITS } from "../core/limits.ts";
import type { Masker } from "../core/masking.ts";
import { agentOutput } from "./events.ts";
import type { AssistantMessage, Execution, StoredCall } from "./execution.ts";
import { firstBytes, keepMaskedEnds } from "./output.ts";
import type { EnginePorts } from "./ports.ts";
import { contractFault } from "./result.ts";
import type { Sandbox } from "./sandbox.ts";
import { schemaFaults } from "./schema-faults.ts";
import type { Tool, ToolResult } from "./tool.ts";

export interface Turn {
  execution: Execution;
  ports: EnginePorts;
  sandbox: Sandbox;
  masker: Masker;
  signal: AbortSignal;
}

/**
 * Brings every call of a reply to an end. A call that a dead process had begun is reported as interrupted, never run
 * again; except `complete` and `fail`, which touch nothing but our rows: those are taken as said. Calls of an earlier
 * turn that was ended before them are not run any more.
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
  const tools = new Map((await ports.toolsFor(execution, sandbox)).map((tool) => [tool.name, tool]));
  for (const call of calls) {
    if (call.ending) return call.ending;
    const tool = tools.get(call.tool);
    if (call.status === "done" || call.status === "interrupted") continue;
    if (call.status === "running" && tool?.group !== "end") {
      ports.rows.interruptCall(execution, call);
      continue;
    }
    turn.signal.throwIfAborted();
    const result = await runCall(turn, call, tools);
    if (result.end) return result.end;
  }
  await sandbox.workspace.bringBack();
  return undefined;
}

async function runCall(turn: Turn, call: StoredCall, tools: ReadonlyMap<string, Tool>): Promise<ToolResult> {
  const { execution, ports, masker } = turn;
  const tool = tools.get(call.tool);
  if (call.status === "requested") ports.rows.startCall(execution, call, masker.json(call.input));
  const started = ports.clock.monotonic();
  const raw = tool ? await guarded(turn, call, tool) : unknownTool(call, [...tools.keys()]);
  await ports.turn();
  turn.signal.throwIfAborted();
  const fault = raw.end?.status === "succeeded" ? contractFault(raw.end.outputs, execution.contract) : undefined;
  const checked = fault === undefined ? raw : { ok: false, output: fault };
  const output =
    keepMaskedEnds(checked.output, LIMITS.toolOutputBytes, masker) + (await keptWhole(turn, call, checked));
  const result = masker.json({ ...checked, output });
  ports.rows.endCall(execution, call, result, ports.clock.monotonic() - started);
  return result;
}

/** Where outputs that are too long for a transcript are kept: a folder that keeps itself out of every commit. */
const OUTPUTS = ".skep/output";

/** Writes an output that does not fit into the workspace. @returns where it is, in words for the model. */
async function keptWhole(
  { sandbox, execution, ports }: Turn,
  call: StoredCall,
  { output }: ToolResult,
): Promise<string> {
  if (output.length <= LIMITS.toolOutputBytes && Buffer.byteLength(output) <= LIMITS.toolOutputBytes) return "";
  const path = `${OUTPUTS}/${execution.id}-${call.seq}-${call.position}.txt`;
  const data = Buffer.from(firstBytes(output, LIMITS.toolWholeOutputBytes));
  try {
    await sandbox.workspace.write(".skep/.gitignore", Buffer.from("*\n"));
    await sandbox.workspace.write(path, data);
  } catch (error) {
    ports.log.debug({ err: error, execution: execution.id }, "a long output could not be kept in the workspace");
    return "";
  }
  return `\n[The whole output, ${data.length} bytes, is in ${path}: read parts of it, or search it.]`;
}

async function guarded(turn: Turn, call: StoredCall, tool: Tool): Promise<ToolResult> {
  const faults = schemaFaults(tool.parameters, call.input);
  if (faults.length > 0) return { ok: false, output: `The input does not fit ${tool.name}: ${faults.join("; ")}` };
  const { execution, ports, sandbox, masker } = turn;
  const late = AbortSignal.timeout(tool.timeoutMs);
  const shown = masker.stream();
  const say = (text: string) => {
    if (text) ports.emitSoon(agentOutput, { ...executionRefs(execution), data: { text, call_id: call.callId } });
  };
  const context = {
    execution,
    sandbox,
    masker,
    signal: AbortSignal.any([turn.signal, late]),
    onOutput: (text: string) => say(shown.push(text)),
  };
  try {
    return await raceSignal(tool.run(call.input as never, context), context.signal);
  } catch (error) {
    turn.signal.throwIfAborted();
    if (isProblem(error) && (error.code === "sandbox_lost" || error.code === "docker_unavailable")) throw error;
    if (late.aborted)
      return { ok: false, output: `${tool.name} took longer than ${tool.timeoutMs / 1_000} s and was stopped.` };
    if (isProblem(error)) return { ok: false, output: error.detail };
    ports.log.error({ err: error, tool: tool.name, execution: execution.id }, "tool failed");
    return { ok: false, output: `${tool.name} failed inside: ${messageOf(error).slice(0, 300)}` };
  } finally {
    say(shown.end());
  }
}

/** A tool that does not heed its signal is left behind rather than waited for. */
function raceSignal<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

const unknownTool = ({ tool }: StoredCall, names: readonly string[]): ToolResult => ({
  ok: false,
  output: `There is no tool ${tool} here. There are: ${names.join(", ")}.`,
});
