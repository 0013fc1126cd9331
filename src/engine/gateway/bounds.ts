/**
 * Limits what a request to the gateway may hold. Members that Skep does not know are dropped, so a provider's new
 * feature cannot bypass the budget. Members known to bypass the budget or the agent's model are refused by name: files
 * and addresses that the provider would fetch, tools that it runs itself, conversations that it stores, several replies
 * at once, and dearer service tiers.
 */
import { badRequest } from "../../core/errors.ts";
import { isObject, membersOf, textIn } from "../../core/is-object.ts";

export interface Bounds {
  /** Members passed on unchanged. */
  members: readonly string[];
  /** Members that are refused unless their value has no effect; then they are dropped. */
  refused: Readonly<Record<string, (value: unknown) => boolean>>;
  /** Members that hold what people, tools and models said. */
  said: readonly string[];
  /** Whether the client runs the tool, and not the provider. */
  isClients(tool: Record<string, unknown>): boolean;
}

/**
 * @returns the body with only the members that the provider may read.
 * @throws Problem 400 `gateway_refused`, which names the member that is not allowed.
 */
export function boundBody(body: Readonly<Record<string, unknown>>, bounds: Bounds): Record<string, unknown> {
  for (const [name, isNothing] of Object.entries(bounds.refused)) {
    const value = body[name];
    if (value !== undefined && value !== null && !isNothing(value)) throw createProblem(`\`${name}\``);
  }
  for (const name of bounds.said) assertHere(body[name], name);
  const { tools } = body;
  if (tools !== undefined && tools !== null && !Array.isArray(tools)) throw createProblem("`tools` that are no list");
  for (const tool of Array.isArray(tools) ? tools : [])
    if (!isObject(tool) || !bounds.isClients(tool))
      throw createProblem(`the tool ${toolName(tool)}, which the provider runs`);
  return Object.fromEntries(bounds.members.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]])));
}

const NAME_CHARACTERS = 60;
const createProblem = (what: string) =>
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
export const isNever = (): boolean => false;

/** Names of members that refer to files the provider stores, or to addresses it would fetch. */
const KEPT = new Set(["file_id", "file_url", "fileUri", "file_uri", "cachedContent", "container_id"]);
/** Members whose value is an address, or an object with an address in `url`. */
const ADDRESSED = new Set(["image_url", "video_url", "audio_url", "input_image", "imageUrl"]);
/** Members that hold a tool's arguments or its result: they are the program's own data and are not searched. */
const DATA = new Set(["input", "args", "arguments", "response", "parameters"]);
const ADDRESS = /^[a-z][a-z0-9+.-]{1,15}:\/\//i;
const SOURCES = new Set(["url", "file"]);
const ITEMS = new Set(["item_reference", "container_upload"]);

/**
 * Walks through what was said. Its depth is bounded by the JSON reader. @throws Problem 400 for content that is not in
 * the request itself.
 */
function assertHere(value: unknown, at: string): void {
  if (Array.isArray(value)) {
    for (const one of value) assertHere(one, at);
    return;
  }
  if (!isObject(value)) return;
  const { type } = value;
  if (typeof type === "string" && ITEMS.has(type)) throw createProblem(`\`${type}\``);
  for (const [name, member] of Object.entries(value)) {
    if (KEPT.has(name) && typeof member === "string" && member !== "") throw createProblem(`\`${name}\` in \`${at}\``);
    if (ADDRESSED.has(name) && !isData(member)) throw createProblem(`an address in \`${name}\``);
    if (name === "file_data" && ADDRESS.test(String(member).slice(0, 20)))
      throw createProblem("an address in `file_data`");
    if (name === "source" && SOURCES.has(textIn(member, "type") ?? "")) throw createProblem("a `source` by address");
    if (!(DATA.has(name) && isCall(value))) assertHere(member, at);
  }
}

const CALLS = new Set(["tool_use", "function_call", "custom_tool_call", "function", "local_shell_call"]);

/** Whether the object is a tool call, or the result of one, in any of the protocols. */
const isCall = ({ type, name, call_id }: Record<string, unknown>): boolean =>
  CALLS.has(String(type)) || (type === undefined && typeof name === "string" && call_id === undefined);

function isData(value: unknown): boolean {
  const address = typeof value === "string" ? value : (textIn(value, "url") ?? "");
  return address === "" || /^data:/i.test(address.slice(0, 5));
}

/** Beta features of Anthropic's protocol that change neither the price nor what the provider does on its own. */
const BETAS =
  /^(?:claude-code|interleaved-thinking|fine-grained-tool-streaming|context-management|prompt-caching\S{0,20}|effort|token-efficient-tools|structured-outputs|output-128k)-\d{4}-\d{2}-\d{2}$|^claude-code-\d{8}$/;

/** The client's headers that are passed on to a provider of the same protocol. */
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
