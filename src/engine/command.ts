/**
 * Runs an execution without a model: one command in the sandbox. The command is stored as a call, like an agent's
 * calls, so it is streamed, kept and shown in the same way. A command that a dead process had started runs again from
 * its beginning.
 */
import { LIMITS } from "../core/limits.ts";
import { keptWhole, liveOutput, noteCommand, type Turn } from "./calls.ts";
import type { CommandLine, Ending, StoredCall } from "./execution.ts";
import { keepMaskedEnds } from "./output.ts";
import { type ExecResult, SHELL } from "./sandbox.ts";
import type { ToolResult } from "./tool.ts";

/** Name of the call in transcripts and events. */
const TOOL = "run";
const LAST_LINE_CHARACTERS = 200;
type End = NonNullable<ToolResult["end"]>;

/**
 * Runs until the command exits.
 * @param leftMs the time left, in ms. When it runs out, the output so far is kept.
 * @throws Stopped when its signal aborts, Problem when the sandbox is lost or has no shell.
 */
export async function runCommand(turn: Turn, line: CommandLine, leftMs: number): Promise<Ending> {
  const { execution, ports, masker } = turn;
  const calls = ports.rows.lastReply(execution)?.reply.calls ?? [];
  const said = calls.find(({ ending }) => ending)?.ending;
  if (said) return endingOf(said);
  for (const call of calls) if (call.status === "running") ports.rows.interruptCall(execution, call);
  const fault = lineFault(line);
  if (fault) return { status: "failed", error: { code: "bad_command", message: fault }, text: fault };
  const shown = masker.json(line);
  const call = calls.find(({ status }) => status === "requested") ?? ports.rows.addCall(execution, TOOL, shown);
  ports.rows.startCall(execution, call, shown);
  noteCommand(turn, line.command);
  const result = await runLine(turn, line, call, leftMs);
  turn.signal.throwIfAborted();
  const ends = keepMaskedEnds(result.output, LIMITS.toolOutputBytes, masker);
  const output = `${ends}${await keptWhole(turn, call, result.output)}`;
  const end = masker.json(endOf(result, ends, output.replace(/(?<!\n)\n+$/, ""), execution.timeoutSeconds));
  ports.rows.endCall(execution, call, { ok: end.status === "succeeded", output, end }, result.durationMs);
  return endingOf(end);
}

/** Says why no system could start this command; undefined when the command is fine. */
function lineFault({ command, working_directory = "", env = {} }: CommandLine): string | undefined {
  const long = Object.entries(env).find(([, value]) => Buffer.byteLength(value) > LIMITS.variableBytes);
  if (long)
    return `The variable ${long[0]} has ${Buffer.byteLength(long[1])} bytes; at most ${LIMITS.variableBytes} fit. Have the step before write it to a file.`;
  const odd = [command, working_directory, ...Object.values(env)].some((text) => text.includes("\0"));
  return odd ? "A command line, its folder and its variables cannot hold a NUL character." : undefined;
}

async function runLine(turn: Turn, line: CommandLine, call: StoredCall, leftMs: number): Promise<ExecResult> {
  const { working_directory: cwd, env } = line;
  const live = liveOutput(turn, call);
  try {
    return await turn.sandbox.exec(["sh", "-c", SHELL, "sh", line.command], {
      cwd,
      env,
      timeoutMs: Math.max(1, leftMs),
      maxOutputBytes: LIMITS.toolWholeOutputBytes,
      signal: turn.signal,
      onOutput: live.push,
    });
  } finally {
    live.end();
  }
}

/**
 * @param ends the command's output, with its middle cut out.
 * @param output the same text, followed by where the whole output is stored.
 */
function endOf({ exitCode, timedOut }: ExecResult, ends: string, output: string, timeoutSeconds: number): End {
  const outputs = { output, exit_code: exitCode };
  if (timedOut)
    return { status: "failed", code: "timeout", reason: `It took longer than its ${timeoutSeconds} s.`, outputs };
  if (exitCode === 0) return { status: "succeeded", outputs, summary: "exit code 0" };
  const last = ends.trimEnd().split("\n").at(-1)?.slice(-LAST_LINE_CHARACTERS);
  const hint = exitCode === 137 ? " (killed: perhaps out of memory)" : "";
  const reason = `The command ended with exit code ${exitCode}${hint}${last ? `: ${last}` : "."}`;
  return { status: "failed", code: "command_failed", reason, outputs };
}

function endingOf(end: End): Ending {
  if (end.status === "succeeded") return { status: "succeeded", outputs: end.outputs, text: end.summary };
  const { reason, code = "command_failed", outputs } = end;
  return { status: "failed", error: { code, message: reason }, text: reason, outputs };
}
