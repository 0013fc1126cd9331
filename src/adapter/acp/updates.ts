/**
 * Reads the messages of a program that speaks the Agent Client Protocol, field by field. A field that is not valid is
 * left out.
 */
import { isObject, membersOf, numberIn, textIn } from "../../core/is-object.ts";
import { unifiedDiff } from "../../core/unified-diff.ts";
import type { CallKind, CallUpdate, PermissionOption, PermissionRequest } from "../../engine/harness/port.ts";
import type { ModelUsage } from "../../engine/model.ts";

type Update =
  | { type: "text" | "thinking"; text: string }
  | { type: "call"; call: CallUpdate }
  | { type: "filled"; tokens: number }
  | { type: "plan"; entries: { content: string; status: string }[] };

const TITLE_CHARACTERS = 500;
const PATH_CHARACTERS = 4_096;
const CONTENTS = 100;
const ENTRIES = 100;
const OPTIONS = 20;
const DIFFS = 20;
/**
 * `DIFF_TEXT_CHARACTERS` bounds one file's text before and after together; `DIFF_CHARACTERS` bounds all diffs of an
 * update.
 */
const DIFF_TEXT_CHARACTERS = 128 * 1024;
const DIFF_CHARACTERS = 64 * 1024;
const CALL_KINDS: readonly CallKind[] = [
  ...(["read", "edit", "delete", "move", "search"] as const),
  ...(["execute", "think", "fetch", "switch_mode", "other"] as const),
];
const STATUSES = ["pending", "in_progress", "completed", "failed"] as const;
const OPTION_KINDS = ["allow_once", "allow_always", "reject_once", "reject_always"] as const;

const oneOf = <T extends string>(all: readonly T[], value: unknown): T | undefined => all.find((one) => one === value);
const listIn = (value: unknown, most: number): Record<string, unknown>[] =>
  Array.isArray(value) ? value.slice(0, most).filter(isObject) : [];

/** Reads a `session/update`; undefined for updates that have no place in a transcript. */
export function updateIn(params: unknown): Update | undefined {
  const update = membersOf(membersOf(params)["update"]);
  switch (update["sessionUpdate"]) {
    case "agent_message_chunk":
      return { type: "text", text: textOf(update["content"]) };
    case "agent_thought_chunk":
      return { type: "thinking", text: textOf(update["content"]) };
    case "tool_call":
    case "tool_call_update": {
      const call = callIn(update);
      return call && { type: "call", call };
    }
    case "usage_update":
      return { type: "filled", tokens: countIn(update, "used") };
    case "plan":
      return {
        type: "plan",
        entries: listIn(update["entries"], ENTRIES).map((entry) => ({
          content: (textIn(entry, "content") ?? "").slice(0, TITLE_CHARACTERS),
          status: textIn(entry, "status") ?? "",
        })),
      };
    default:
      return undefined;
  }
}

export function permissionIn(params: unknown): PermissionRequest | undefined {
  const { toolCall, options } = membersOf(params);
  const call = callIn(membersOf(toolCall));
  if (!call) return undefined;
  return {
    call,
    options: listIn(options, OPTIONS).flatMap((option): PermissionOption[] => {
      const [id, kind] = [textIn(option, "optionId"), oneOf(OPTION_KINDS, option["kind"])];
      return id === undefined || kind === undefined ? [] : [{ id, kind }];
    }),
  };
}

const TOKENS_MOST = 1e12;

function countIn(value: unknown, name: string): number {
  const found = numberIn(value, name) ?? 0;
  return found > 0 && found < TOKENS_MOST ? Math.floor(found) : 0;
}

/** Reads the usage in the answer to a prompt. */
export function usageIn(answer: unknown): ModelUsage | undefined {
  const { usage } = membersOf(answer);
  const count = (name: string) => countIn(usage, name);
  if (!isObject(usage)) return undefined;
  const [read, written] = [count("cachedReadTokens"), count("cachedWriteTokens")];
  return {
    input_tokens: count("inputTokens") + read + written,
    output_tokens: count("outputTokens"),
    cache_read_tokens: read,
    cache_write_tokens: written,
    reasoning_tokens: count("thoughtTokens"),
  };
}

function callIn(call: Record<string, unknown>): CallUpdate | undefined {
  const id = textIn(call, "toolCallId");
  if (id === undefined || id === "" || id.length > TITLE_CHARACTERS) return undefined;
  const contents = listIn(call["content"], CONTENTS);
  const diffs = contents.filter(({ type }) => type === "diff");
  return {
    id,
    title: textIn(call, "title")?.slice(0, TITLE_CHARACTERS),
    name: textIn(call, "name")?.slice(0, TITLE_CHARACTERS),
    kind: oneOf(CALL_KINDS, call["kind"]),
    status: oneOf(STATUSES, call["status"]),
    input: call["rawInput"] ?? undefined,
    paths: pathsIn(call["locations"]),
    output: outputIn(contents, call["rawOutput"]),
    changed: pathsIn(diffs),
    diff: diffIn(diffs),
  };
}

/** Makes unified diffs. A diff that is too long is left out; `changed` still names its file. */
function diffIn(diffs: readonly Record<string, unknown>[]): string | undefined {
  const texts: string[] = [];
  let room = DIFF_CHARACTERS;
  for (const one of diffs.slice(0, DIFFS)) {
    const [path, before, after] = [textIn(one, "path"), textIn(one, "oldText"), textIn(one, "newText")];
    if (path === undefined || after === undefined) continue;
    if (after.length + (before?.length ?? 0) > DIFF_TEXT_CHARACTERS) continue;
    const text = unifiedDiff({ path, before, after });
    if (text === "" || text.length > room) continue;
    room -= text.length;
    texts.push(text);
  }
  return texts.length > 0 ? texts.join("\n") : undefined;
}

/** Undefined when there are none: an update without paths leaves the earlier ones as they were. */
function pathsIn(places: unknown): string[] | undefined {
  const paths = listIn(places, CONTENTS).flatMap((one) => textIn(one, "path")?.slice(0, PATH_CHARACTERS) ?? []);
  return paths.length > 0 ? paths : undefined;
}

/** The call's output as text; undefined when the update has none. */
function outputIn(contents: readonly Record<string, unknown>[], raw: unknown): string | undefined {
  const text = contents.map(({ content }) => textOf(content)).filter(Boolean);
  if (text.length > 0) return text.join("\n");
  if (raw === undefined || raw === null) return undefined;
  const said = textIn(raw, "formatted_output") ?? textIn(raw, "output") ?? textIn(raw, "error");
  return said ?? (typeof raw === "string" ? raw : JSON.stringify(raw));
}

function textOf(block: unknown): string {
  const { type, uri, name } = membersOf(block);
  const text = textIn(block, "text");
  if (text !== undefined) return text;
  if (type === "resource_link") return `[${String(name ?? uri)}]`;
  return typeof type === "string" ? `[${type.slice(0, 20)}]` : "";
}
