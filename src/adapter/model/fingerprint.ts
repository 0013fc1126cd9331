/**
 * Decides which model requests count as the same in a replay: those with the same model, system prompt, messages and
 * tool names. Everything that differs between two runs of the same work is ignored: identifiers, times, ids of tool
 * calls, provider data, the user.
 */
import { createHash } from "node:crypto";
import { ID_PREFIXES } from "../../core/ids.ts";
import type { ModelMessage, ModelRequest } from "../../engine/model.ts";

interface TextPrint {
  sha: string;
  /** The beginning of the text, for a person to recognize. */
  head: string;
}

export interface Fingerprint {
  hash: string;
  model: string;
  system: TextPrint;
  messages: (TextPrint & { role: ModelMessage["role"] })[];
  tools: string[];
}

const HEAD_CHARACTERS = 160;
const TYPE_ID = new RegExp(`\\b(${Object.values(ID_PREFIXES).join("|")})_[0-7][0-9a-hjkmnp-tv-z]{25}\\b`, "g");

const shaOf = (data: string | Uint8Array): string => createHash("sha256").update(data).digest("hex").slice(0, 32);

/** Replaces identifiers and times in a text by their kind. */
function normalize(text: string): string {
  return text
    .replace(TYPE_ID, (_, prefix: string) => `<${prefix}>`)
    .replace(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, "<uuid>")
    .replace(/\b\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?\b/g, "<time>")
    .replace(/\b[0-9a-f]{40}\b/g, "<commit>");
}

function print(text: string): TextPrint {
  const same = normalize(text);
  return { sha: shaOf(same), head: same.slice(0, HEAD_CHARACTERS) };
}

function contentOf(message: ModelMessage): string {
  if (message.role === "user")
    return message.parts
      .map((part) => (part.type === "text" ? part.text : `${part.name} ${shaOf(part.data)}`))
      .join("\n");
  if (message.role === "tool")
    return message.results.map(({ tool, ok, output }) => `${tool} ${ok ? "ok" : "failed"}: ${output}`).join("\n");
  return message.parts
    .map((part) => (part.type === "tool_call" ? `${part.tool} ${JSON.stringify(part.input)}` : part.text))
    .join("\n");
}

export function toFingerprint(request: Pick<ModelRequest, "model" | "system" | "messages" | "tools">): Fingerprint {
  const system = print(request.system);
  const messages = request.messages.map((message) => ({ role: message.role, ...print(contentOf(message)) }));
  const tools = request.tools.map((tool) => tool.name).sort();
  const shas = messages.map((message) => [message.role, message.sha]);
  const hash = shaOf(JSON.stringify([request.model, system.sha, shas, tools]));
  return { hash, model: request.model, system, messages, tools };
}

const quote = (print: TextPrint | undefined): string => (print ? JSON.stringify(print.head) : "nothing");

/** Describes the first difference between a request and a recorded one, for a person. */
export function describeDifference(recorded: Fingerprint, now: Fingerprint): string {
  if (recorded.model !== now.model) return `the model differs: recorded ${recorded.model}, now ${now.model}`;
  if (recorded.tools.join() !== now.tools.join())
    return `the tools differ: recorded ${recorded.tools.join(", ")}, now ${now.tools.join(", ")}`;
  if (recorded.system.sha !== now.system.sha)
    return `the system prompt differs: recorded ${quote(recorded.system)}, now ${quote(now.system)}`;
  for (let at = 0; at < Math.max(recorded.messages.length, now.messages.length); at++) {
    const [was, is] = [recorded.messages[at], now.messages[at]];
    if (was?.sha !== is?.sha || was?.role !== is?.role) {
      const role = is?.role ?? was?.role;
      return `message ${at + 1} (${role}) differs: recorded ${quote(was)}, now ${quote(is)}`;
    }
  }
  return "nothing differs";
}

/**
 * Similarity of two requests: mainly the number of leading messages that they share; the number of messages and the
 * model count, too.
 */
export function measureLikeness(recorded: Fingerprint, now: Fingerprint): number {
  let shared = 0;
  while (shared < now.messages.length && recorded.messages[shared]?.sha === now.messages[shared]?.sha) shared++;
  const sameLength = recorded.messages.length === now.messages.length ? 2 : 0;
  return shared * 4 + sameLength + (recorded.model === now.model ? 1 : 0);
}
