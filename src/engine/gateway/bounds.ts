/**
 * What a request to the gateway may hold. A member that Skep does not know is left out, so that a provider's next feature
 * is not a way around the budget. What is known to go around it, or around the agent's model, is refused by name: files
 * and addresses that the provider would fetch, tools that it runs itself, conversations that it keeps, several replies at
 * once, dearer tiers.
 */
import { badRequest } from "../../core/errors.ts";
import { isObject, membersOf, textIn } from "../../core/is-object.ts";

export interface Bounds {
  /** Passed on as they are. */
  members: readonly string[];
  /** Members that are refused, unless their value does nothing. Those are left out. */
  refused: Readonly<Record<string, (value: unknown) => boolean>>;
  /** Members with what people, tools and models said. */
  said: readonly string[];
  /** Whether the client runs the tool. */
  isClients(tool: Record<string, unknown>): boolean;
}

/** @returns the body without what the provider is not to read. @throws Problem 400 `gateway_refused` that names what it may not hold. */
export function boundBody(body: Readonly<Record<string, unknown>>, bounds: Bounds): Record<string, unknown> {
  for (const [name, isNothing] of Object.entries(bounds.refused)) {
    const value = body[name];
    if (value !== undefined && value !== null && !isNothing(value)) throw refusal(`\`${name}\``);
  }
  for (const name of bounds.said) assertHere(body[name], name);
  const { tools } = body;
  if (tools !== undefined && tools !== null && !Array.isArray(tools)) throw refusal("`tools` that are no list");
  for (const tool of Array.isArray(tools) ? tools : [])
    if (!isObject(tool) || !bounds.isClients(tool))
      throw refusal(`the tool ${toolName(tool)}, which the provider runs`);
  return Object.fromEntries(bounds.members.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]])));
}

const NAME_CHARACTERS = 60;
const refusal = (what: string) =>
  badRequest(
    `The gateway does not pass on ${what}: it would go around the agent's budget or model.`,
    "gateway_refused",
  );

function toolName(tool: unknown): string {
  const { type } = membersOf(tool);
  const name = typeof type === "string" ? type : (Object.keys(membersOf(tool))[0] ?? "without a type");
  return name.slice(0, NAME_CHARACTERS);
}

export const isNothing = (value: unknown): boolean => value === false || value === "";
export const isAtMostOne = (value: unknown): boolean => typeof value === "number" && value <= 1;
export const isOneOf =
  (...harmless: readonly string[]) =>
  (value: unknown): boolean =>
    typeof value === "string" && harmless.includes(value.toLowerCase());
export const never = (): boolean => false;

/** Names of files that the provider keeps, and of addresses that it would fetch. */
const KEPT = new Set(["file_id", "file_url", "fileUri", "file_uri", "cachedContent", "container_id"]);
/** An address, or an object with one in `url`. */
const ADDRESSED = new Set(["image_url", "video_url", "audio_url", "input_image", "imageUrl"]);
/** What a tool is called with, and what it said in JSON, is the program's own data. */
const DATA = new Set(["input", "args", "arguments", "response", "parameters"]);
const ADDRESS = /^[a-z][a-z0-9+.-]{1,15}:\/\//i;
const SOURCES = new Set(["url", "file"]);
const ITEMS = new Set(["item_reference", "container_upload"]);

/** Walks through what was said. Its depth is that of the JSON reader. @throws Problem 400 for what is not in the request itself. */
function assertHere(value: unknown, at: string): void {
  if (Array.isArray(value)) {
    for (const one of value) assertHere(one, at);
    return;
  }
  if (!isObject(value)) return;
  const { type } = value;
  if (typeof type === "string" && ITEMS.has(type)) throw refusal(`\`${type}\``);
  for (const [name, member] of Object.entries(value)) {
    if (KEPT.has(name) && typeof member === "string" && member !== "") throw refusal(`\`${name}\` in \`${at}\``);
    if (ADDRESSED.has(name) && !isData(member)) throw refusal(`an address in \`${name}\``);
    if (name === "file_data" && ADDRESS.test(String(member).slice(0, 20))) throw refusal("an address in `file_data`");
    if (name === "source" && SOURCES.has(textIn(member, "type") ?? "")) throw refusal("a `source` by address");
    if (!(DATA.has(name) && isCall(value))) assertHere(member, at);
  }
}

const CALLS = new Set(["tool_use", "function_call", "custom_tool_call", "function", "local_shell_call"]);

/** Whether the object is a call of a tool, or its result, in one of the protocols. */
const isCall = ({ type, name, call_id }: Record<string, unknown>): boolean =>
  CALLS.has(String(type)) || (type === undefined && typeof name === "string" && call_id === undefined);

function isData(value: unknown): boolean {
  const address = typeof value === "string" ? value : (textIn(value, "url") ?? "");
  return address === "" || /^data:/i.test(address.slice(0, 5));
}

/** Features of Anthropic's protocol that change neither price nor what the provider does by itself. */
const BETAS =
  /^(?:claude-code|interleaved-thinking|fine-grained-tool-streaming|context-management|prompt-caching\S{0,20}|effort|token-efficient-tools|structured-outputs|output-128k)-\d{4}-\d{2}-\d{2}$|^claude-code-\d{8}$/;

/** Headers of a client that a provider of its protocol understands. */
export function boundHeaders(headers: Headers): Record<string, string> {
  const version = headers.get("anthropic-version");
  const betas = (headers.get("anthropic-beta") ?? "")
    .split(",")
    .map((beta) => beta.trim())
    .filter((beta) => BETAS.test(beta));
  return {
    ...(version !== null && /^\d{4}-\d{2}-\d{2}$/.test(version) ? { "anthropic-version": version } : {}),
    ...(betas.length > 0 ? { "anthropic-beta": betas.join(",") } : {}),
  };
}
