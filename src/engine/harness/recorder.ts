/** Stores what an external agent says in a turn as the same rows and events that the built-in loop makes. */

import { executionRefs } from "../../core/events.ts";
import { isObject, textIn } from "../../core/is-object.ts";
import { LIMITS } from "../../core/limits.ts";
import { OUTSIDE_SOURCES } from "../../core/outside-table.ts";
import { noteCommand, type Turn } from "../calls.ts";
import { agentOutput, agentPlan, agentThinking, PLAN_STATES } from "../events.ts";
import type { StoredCall } from "../execution.ts";
import { ownToolName } from "../gateway/scripted-tools.ts";
import { firstBytes, keepMaskedEnds } from "../output.ts";
import { type AssistantPart, textOf } from "../parts.ts";
import type { CallKind, CallUpdate } from "./port.ts";

/** Names shown for calls when the program gives no name for its tool. */
const NAMES: Record<CallKind, string> = {
  read: "read",
  edit: "edit",
  delete: "delete",
  move: "move",
  search: "search",
  execute: "bash",
  think: "think",
  fetch: "fetch_url",
  switch_mode: "switch_mode",
  other: "tool",
};
const NAME_CHARACTERS = 64;
const PLAN_CHARACTERS = 4_000;
const NO_RESULT = "The agent ended its turn before this call had a result.";

interface Known {
  update: CallUpdate;
  stored?: StoredCall;
  startedAt: number;
  isDone: boolean;
}

export type Recorder = ReturnType<typeof createRecorder>;

/** @param onFlood called when the agent makes more calls than a turn may have. */
export function createRecorder(turn: Turn, onFlood: (why: string) => void) {
  const { execution, ports, masker } = turn;
  const calls = new Map<string, Known>();
  let parts: AssistantPart[] = [];
  let [shown, thought] = [masker.stream(), masker.stream()];
  let characters = 0;
  let last = "";

  const emit = (definition: typeof agentOutput | typeof agentThinking, text: string): void => {
    if (text) ports.emitSoon(definition, { ...executionRefs(execution), data: { text } });
  };
  function say(type: "text" | "thinking", piece: string): void {
    characters += piece.length;
    // Text beyond the limit is neither shown nor stored.
    if (characters > LIMITS.replyCharacters) return;
    const part = parts.at(-1);
    if (part?.type === type) part.text += piece;
    else parts.push({ type, text: piece });
    if (type === "text") emit(agentOutput, shown.push(piece));
    else emit(agentThinking, thought.push(piece));
  }
  /** Stores what was said so far as one message. @returns the message's calls. */
  function store(more: AssistantPart[], finish: "stop" | "tool_calls"): StoredCall[] {
    emit(agentThinking, thought.end());
    emit(agentOutput, shown.end());
    [shown, thought, characters] = [masker.stream(), masker.stream(), 0];
    const said = [...parts, ...more];
    parts = [];
    // The text may become the result, which is stored and shown, so it is masked.
    if (textOf(said).trim() !== "") last = masker.text(textOf(said));
    return said.length === 0 ? [] : ports.rows.addSaid(execution, masker.json(said), finish).calls;
  }
  function begin(known: Known): StoredCall | undefined {
    if (known.stored) return known.stored;
    const { update } = known;
    const input = inputOf(update);
    const part: AssistantPart = { type: "tool_call", call_id: update.id.slice(0, 100), tool: nameOf(update), input };
    const [stored] = store([part], "tool_calls");
    if (!stored) return undefined;
    known.stored = stored;
    ports.rows.startCall(execution, stored, masker.json(input));
    noteReach(turn, update);
    return stored;
  }
  function end(known: Known, ok: boolean, output: string): void {
    const stored = begin(known);
    known.isDone = true;
    if (!stored) return;
    const text = keepMaskedEnds(output, LIMITS.toolOutputBytes, masker);
    ports.rows.endCall(execution, stored, { ok, output: text }, ports.clock.monotonic() - known.startedAt);
  }
  return {
    onText: (piece: string): void => say("text", piece),
    onThinking: (piece: string): void => say("thinking", piece),
    onPlan(entries: readonly { content: string; status: string }[]): void {
      const lines = entries.map(({ content, status }) => `- [${status === "completed" ? "x" : " "}] ${content}`);
      say("thinking", `\nPlan:\n${lines.join("\n").slice(0, PLAN_CHARACTERS)}\n`);
      const known = entries.map(({ content, status }) => ({
        content,
        status: PLAN_STATES.find((one) => one === status) ?? "pending",
      }));
      ports.emitSoon(agentPlan, { ...executionRefs(execution), data: { entries: masker.json(known) } });
    },
    onCall(update: CallUpdate): void {
      const before = calls.get(update.id);
      // Calls of Skep's own tools are stored when they are made.
      if (isOwn(update) || (before && (before.isDone || isOwn(before.update)))) return;
      if (!before && calls.size >= LIMITS.harnessCallsPerTurn)
        return onFlood(`it made more than ${LIMITS.harnessCallsPerTurn} calls in one turn`);
      const known = before ?? { update, startedAt: ports.clock.monotonic(), isDone: false };
      known.update = { ...known.update, ...withoutGaps(update) };
      calls.set(update.id, known);
      const { status } = known.update;
      if (status === "in_progress") begin(known);
      if (status === "completed" || status === "failed") end(known, status === "completed", outputOf(known.update));
    },
    /** The call, with everything the program has said about it so far. */
    wholeCall: (update: CallUpdate): CallUpdate => ({
      ...calls.get(update.id)?.update,
      ...withoutGaps(update),
      id: update.id,
    }),
    /** Stores what was said since the last message. @returns the agent's last words. */
    endMessage(): string {
      store([], "stop");
      return last;
    },
    /**
     * Stores what was said since the last message, and fails every call without a result. @returns the agent's last
     * words.
     */
    endTurn(): string {
      for (const known of calls.values()) if (!known.isDone && known.stored) end(known, false, NO_RESULT);
      store([], "stop");
      calls.clear();
      return last;
    },
  };
}

/**
 * Whether the call is to one of Skep's own tools. Some programs name the tool, some put its name before the id, others
 * name the server in the input.
 */
const isOwn = ({ id, name, title, input }: CallUpdate): boolean =>
  [name, title, id.split("__", 1)[0]].some((one) => ownToolName(one ?? "") !== undefined) ||
  textIn(input, "server") === "skep";

const withoutGaps = (update: CallUpdate): Partial<CallUpdate> =>
  Object.fromEntries(Object.entries(update).filter(([, value]) => value !== undefined));

function nameOf({ name, kind = "other", title }: CallUpdate): string {
  const given = name ?? (kind === "other" ? title : undefined) ?? NAMES[kind];
  return given.replace(/[^\w.:/-]+/g, "_").slice(0, NAME_CHARACTERS) || "tool";
}

function inputOf({ input, title }: CallUpdate): Record<string, unknown> {
  const given = isObject(input) ? input : {};
  const isTooLong = JSON.stringify(given).length > LIMITS.textCharacters;
  if (isTooLong) return { title, left_out: "The input is too long to be kept." };
  return Object.keys(given).length > 0 ? given : { title };
}

function outputOf({ output = "", changed = [], diff = "" }: CallUpdate): string {
  const shown = new Set(Array.from(diff.matchAll(/^\+\+\+ (.*)$/gm), ([, path = ""]) => path));
  const others = changed.filter((path) => !shown.has(path));
  const files = others.length > 0 ? `Changed: ${others.join(", ")}` : "";
  return firstBytes([output, diff, files].filter(Boolean).join("\n"), LIMITS.toolWholeOutputBytes);
}

/** Marks the execution when a call may have read outside text. */
function noteReach(turn: Turn, { kind, input }: CallUpdate): void {
  if (kind === "execute") noteCommand(turn, textIn(input, "command") ?? "");
  if (kind === "fetch") turn.ports.rows.outside.mark(turn.execution, OUTSIDE_SOURCES.command);
}
