/**
 * `demo/scripted`: a model that plays a transcript, says so, and costs nothing. It keeps no state: the number of
 * assistant messages in the request determines the turn, so a call repeated after a crash gives the same answer. Tokens
 * are counted as characters / 4. script-file.ts describes the transcript's format.
 */
import { readFile, realpath, stat } from "node:fs/promises";
import { isAbsolute, join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../../core/clock.ts";
import { messageOf } from "../../core/errors.ts";
import type { FinishReason, ModelPort, ModelReply, ModelRequest } from "../../engine/model.ts";
import type { AssistantPart } from "../../engine/parts.ts";
import { BUILTIN_SCRIPT } from "./builtin-script.ts";
import { sampleOutputs } from "./sample-outputs.ts";
import { parseScript, SCRIPT_FILE_BYTES, type ScriptFile, type ScriptTurn } from "./script-file.ts";
import { FREE, NO_USAGE } from "./usage.ts";

export const SCRIPTED_MODEL = "demo/scripted";

interface ScriptedDeps {
  clock: Clock;
  /**
   * Folder of transcripts. `scope.script` is a path in it, and nothing outside is read. When absent, any path is read.
   */
  scriptsDir?: string | undefined;
  /** Recorded replies that a run plays word for word instead of a transcript. */
  recordedFor?: ((runId: string) => ScriptTurn[] | undefined) | undefined;
}

/** Reads transcripts; a file is parsed again only when it has changed. */
function createScripts(scriptsDir: string | undefined): (path: string) => Promise<ScriptFile> {
  const known = new Map<string, { version: string; script: ScriptFile }>();
  return async (path) => {
    const { real, version } = await findScript(path, scriptsDir);
    const found = known.get(real);
    if (found?.version === version) return found.script;
    const script = parseScript(await readFile(real, "utf8"));
    known.clear();
    known.set(real, { version, script });
    return script;
  };
}

async function findScript(path: string, scriptsDir: string | undefined): Promise<{ real: string; version: string }> {
  try {
    const real = await realpath(scriptsDir === undefined || isAbsolute(path) ? path : join(scriptsDir, path));
    if (scriptsDir !== undefined) {
      const inside = relative(await realpath(scriptsDir), real);
      if (inside.startsWith("..") || isAbsolute(inside)) throw new Error("outside");
    }
    const found = await stat(real);
    if (!found.isFile() || found.size > SCRIPT_FILE_BYTES) throw new Error("no file");
    return { real, version: `${found.ino} ${found.size} ${found.mtimeMs}` };
  } catch {
    throw new Error(
      "the transcript file cannot be read (missing, larger than 1 MiB, or outside the transcripts' folder)",
    );
  }
}

const own = <T>(record: Record<string, T> | undefined, key: string | undefined): T | undefined =>
  record && key !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;

/** Turns for a chat. Interviewers play their built-in part if the transcript has none for them. */
const chatOf = (script: ScriptFile, agentId: string): ScriptTurn[] | undefined =>
  own(script.chats, agentId) ?? own(BUILTIN_SCRIPT.chats, agentId) ?? script.chat;

/** The turns for that request. Optional calls of tools that the agent lacks are left out. */
function turnsFor(script: ScriptFile, request: ModelRequest): { turns: ScriptTurn[]; again: boolean } {
  const names = new Set([...request.tools.map((tool) => tool.name), ...(request.moreTools ?? [])]);
  const named = own(script.steps, request.scope.stepId) ?? own(script.agents, request.scope.agentId);
  const chat = named || names.has("complete") ? undefined : chatOf(script, request.scope.agentId);
  const again = chat !== undefined;
  const chosen = named ?? chat ?? script.default ?? [];
  const turns = chosen.flatMap((turn) => {
    if (!turn.tool_calls?.length) return [turn];
    const tool_calls = turn.tool_calls.filter((call) => !call.optional || names.has(call.tool));
    return tool_calls.length ? [{ ...turn, tool_calls }] : [];
  });
  return { turns, again };
}

/** Says what is wrong, and ends the execution if there is a tool for that. */
function giveUp(request: ModelRequest, reason: string): ScriptTurn {
  const text = `I am a scripted model (${SCRIPTED_MODEL}). ${reason}`;
  const canFail = request.tools.some((tool) => tool.name === "fail");
  return canFail ? { text, tool_calls: [{ tool: "fail", input: { reason } }] } : { text };
}

function turnFor(script: ScriptFile, request: ModelRequest): ScriptTurn {
  const { turns, again } = turnsFor(script, request);
  const made = request.messages.filter((message) => message.role === "assistant").length;
  const turn = turns[again && turns.length ? made % turns.length : made];
  if (!turn) {
    const where = request.scope.stepId ?? request.scope.agentId;
    return giveUp(request, `The transcript has no turn ${made + 1} for "${where}".`);
  }
  const missing = turn.tool_calls?.find(
    ({ tool }) => !request.moreTools?.includes(tool) && !request.tools.some(({ name }) => name === tool),
  );
  return missing ? giveUp(request, `The transcript calls the tool "${missing.tool}", which I do not have.`) : turn;
}

const wordsOf = (parts: readonly { type: string; text?: string }[]): string =>
  parts.map(({ text }) => text ?? "").join("");

type Fill = (value: unknown) => unknown;

/**
 * Makes a function that replaces placeholders throughout a JSON value. Inserted text is not searched for placeholders.
 */
function createFill(request: ModelRequest): Fill {
  const users = request.messages.flatMap((message) => (message.role === "user" ? [wordsOf(message.parts)] : []));
  const tools = request.messages.flatMap((message) => (message.role === "tool" ? message.results : []));
  const values = new Map([
    ["user", users[0] ?? ""],
    ["last_user", users.at(-1) ?? ""],
    ["last_tool_output", tools.at(-1)?.output ?? ""],
  ]);
  const fillText = (template: string) =>
    template.replace(/\{\{\s*([a-z_]+)\s*\}\}/g, (whole, name: string) => values.get(name) ?? whole);
  const fill: Fill = (value) => {
    if (typeof value === "string") {
      if (!/^\{\{\s*outputs\s*\}\}$/.test(value)) return fillText(value);
      return sampleOutputs(request.tools.find((tool) => tool.name === "complete")?.parameters);
    }
    if (Array.isArray(value)) return value.map(fill);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item)]));
  };
  return fill;
}

/** Waits. @returns false when the signal aborted. */
async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  if (ms > 0) await sleep(ms, undefined, { signal }).catch(() => {});
  return !signal.aborted;
}

/** Splits by characters, not by UTF-16 units, so that a piece never ends within an emoji. */
function piecesOf(text: string, chunk: number): string[] {
  const characters = [...text];
  const pieces: string[] = [];
  for (let at = 0; at < characters.length; at += chunk) pieces.push(characters.slice(at, at + chunk).join(""));
  return pieces;
}

/** Streams the texts of a turn at its pace. @returns the parts so far, without tool calls when aborted. */
async function play(
  turn: ScriptTurn,
  fill: Fill,
  request: ModelRequest,
  onFirst: () => void,
): Promise<AssistantPart[]> {
  const words = (["thinking", "text"] as const).flatMap((type) => {
    const text = String(fill(turn[type] ?? ""));
    return text ? [{ type, pieces: piecesOf(text, turn.chunk ?? text.length) }] : [];
  });
  const count = words.reduce((sum, word) => sum + word.pieces.length, 0);
  const waitMs = (turn.delay_ms ?? 0) / Math.max(1, count);
  const parts: AssistantPart[] = [];
  for (const { type, pieces } of words) {
    const part: Extract<AssistantPart, { type: "text" | "thinking" }> = { type, text: "" };
    for (const piece of pieces) {
      if (!(await pause(waitMs, request.signal))) return part.text ? [...parts, part] : parts;
      onFirst();
      part.text += piece;
      if (type === "text") request.onText?.(piece);
      else request.onThinking?.(piece);
    }
    parts.push(part);
  }
  if (count === 0 && !(await pause(waitMs, request.signal))) return [];
  onFirst();
  const made = request.messages.filter((message) => message.role === "assistant").length;
  for (const [index, call] of (turn.tool_calls ?? []).entries())
    parts.push({
      type: "tool_call",
      call_id: `scripted_${made + 1}_${index + 1}`,
      tool: call.tool,
      input: fill(call.input ?? {}),
    });
  return parts;
}

const estimateTokens = (value: unknown): number =>
  Math.ceil((typeof value === "string" ? value : JSON.stringify(value)).length / 4);

function usageOf(request: ModelRequest, parts: AssistantPart[]) {
  const thinking = parts.filter((part) => part.type === "thinking");
  return {
    ...NO_USAGE,
    input_tokens: estimateTokens(request.system) + estimateTokens(request.messages),
    output_tokens: parts.length ? estimateTokens(parts) : 0,
    reasoning_tokens: thinking.length ? estimateTokens(thinking) : 0,
  };
}

/** Makes the scripted model as a port; every model id is played as `demo/scripted`. */
export function createScriptedModel({ clock, scriptsDir, recordedFor }: ScriptedDeps): ModelPort {
  const scriptAt = createScripts(scriptsDir);
  async function call(request: ModelRequest): Promise<ModelReply> {
    const started = clock.monotonic();
    let firstAt: number | undefined;
    let parts: AssistantPart[] = [];
    let error: ModelReply["error"];
    try {
      const { script, runId } = request.scope;
      const recorded = runId === undefined ? undefined : recordedFor?.(runId);
      const scripted = script === undefined ? BUILTIN_SCRIPT : await scriptAt(script);
      const turn = turnFor(recorded ? { version: 1, default: recorded } : scripted, request);
      // Recorded replies are played unchanged, because they hold no placeholders.
      const fill: Fill = recorded ? (value) => value : createFill(request);
      parts = await play(turn, fill, request, () => {
        firstAt ??= clock.monotonic();
      });
    } catch (thrown) {
      error = { code: "script_invalid", message: `${SCRIPTED_MODEL}: ${messageOf(thrown)}`, retryable: false };
    }
    const called = parts.some((part) => part.type === "tool_call");
    const finish: FinishReason = error ? "error" : request.signal.aborted ? "aborted" : called ? "tool_calls" : "stop";
    return {
      parts: finish === "aborted" ? parts.filter((part) => part.type !== "tool_call") : parts,
      finish,
      ...FREE,
      usage: usageOf(request, parts),
      provider: "demo",
      model: SCRIPTED_MODEL,
      duration_ms: clock.monotonic() - started,
      time_to_first_token_ms: firstAt === undefined ? null : firstAt - started,
      attempts: 1,
      ...(error ? { error } : {}),
    };
  }

  return {
    call,
    info: () => ({
      id: SCRIPTED_MODEL,
      context_window: null,
      max_context_window: null,
      max_output_tokens: null,
      input_usd_per_mtok: 0,
      output_usd_per_mtok: 0,
      reasoning: false,
      tools: true,
      images: true,
      documents: true,
    }),
    estimateUsd: () => 0,
  };
}
