/**
 * Reads tool calls that models write as text, and repairs arguments whose JSON is broken. Servers that know a model's
 * form pass calls on as such; others pass the text through. The supported forms are:
 *
 * - Hermes and Qwen 2.5: `<tool_call>{"name": "ls", "arguments": {…}}</tool_call>`
 * - Qwen 3 Coder: `<function=ls><parameter=path>src</parameter></function>`, with or without `<tool_call>` around it
 * - Llama 3: `<|python_tag|>{"name": "ls", "parameters": {…}}`, the object alone, or `<function=ls>{…}</function>`
 * - Llama 3.2 and 4: `[ls(path="src")]`, alone or between `<|python_start|>` and `<|python_end|>`
 * - Mistral: `[TOOL_CALLS][{"name": "ls", "arguments": {…}}]`, or `[TOOL_CALLS]ls[ARGS]{…}`
 *
 * A call only counts at the end of a reply, outside fenced code, and for a tool that was offered, because text that a
 * model quotes from a file is not a call.
 */
import { jsonrepair } from "jsonrepair";
import { isObject, membersOf, textIn } from "../../core/is-object.ts";
import { jsonFault, readJson } from "../../core/json-reader.ts";
import type { ModelTool } from "../../engine/model.ts";
import type { AssistantPart } from "../../engine/parts.ts";
import { pythonicCalls, type WrittenCall as TextCall } from "./pythonic-calls.ts";

/** Longer texts are not repaired. */
const REPAIRED_CHARACTERS = 65_536;
const CALLS_MOST = 32;

type Input = Record<string, unknown>;

/**
 * The object that a broken JSON text certainly means. Undefined when it may mean another: it was cut off, or a quote or
 * bracket is not closed.
 */
export function repairObject(text: string): Input | undefined {
  const bare = withoutFence(text.trim());
  try {
    const value = readJson(bare);
    if (isObject(value)) return value;
    // Some models encode the object as a JSON string.
    return typeof value === "string" ? repairObject(value) : undefined;
  } catch {
    if (!bare.startsWith("{") || !bare.endsWith("}") || bare.length > REPAIRED_CHARACTERS) return undefined;
    if (jsonFault(bare) !== undefined || isOpen(bare)) return undefined;
  }
  try {
    const value = readJson(jsonrepair(bare));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function withoutFence(text: string): string {
  if (!text.startsWith("```") || !text.endsWith("```")) return text;
  const from = text.indexOf("\n");
  return from === -1 ? text : text.slice(from + 1, -3).trim();
}

/** Whether a quote or bracket is not closed, so that the text may have been cut off. */
function isOpen(text: string): boolean {
  let [depth, isQuoted] = [0, false];
  for (let at = 0; at < text.length; at++) {
    const sign = text[at]!;
    if (sign === "\\") at++;
    else if (sign === '"') isQuoted = !isQuoted;
    else if (!isQuoted && (sign === "{" || sign === "[")) depth++;
    else if (!isQuoted && (sign === "}" || sign === "]")) depth--;
  }
  return isQuoted || depth !== 0;
}

/** Marks that begin the calls in a text; the first one that occurs counts. */
const MARKS = ["<tool_call>", "<function=", "<|python_tag|>", "<|python_start|>", "[TOOL_CALLS]"] as const;
/** Marks at the end of Llama's replies, which some servers pass through. */
const END_MARKS = /<\|(?:eot|eom|eot_id|eom_id|python_end)\|>/g;

/** The calls at the end of a text, and the text before them; undefined when there are none. */
export function callsIn(text: string, tools: readonly ModelTool[]): { said: string; calls: TextCall[] } | undefined {
  if (tools.length === 0) return undefined;
  const begins = MARKS.map((mark) => text.indexOf(mark)).filter((at) => at !== -1);
  const from = begins.length === 0 ? -1 : Math.min(...begins);
  const said = from === -1 ? "" : text.slice(0, from).trim();
  // A call inside fenced code is an example.
  if (said.split("```").length % 2 === 0) return undefined;
  const calls = from === -1 ? bareCalls(text) : markedCalls(text.slice(from), tools);
  const offered = new Set(tools.map(({ name }) => name));
  const isSure =
    calls && calls.length > 0 && calls.length <= CALLS_MOST && calls.every(({ tool }) => offered.has(tool));
  return isSure ? { said, calls } : undefined;
}

/** The calls of a reply that consists only of one object or of Llama's list, fenced or not. */
function bareCalls(text: string): TextCall[] | undefined {
  const bare = withoutFence(text.replace(END_MARKS, "").trim());
  if (bare.startsWith("[")) return pythonicCalls(bare);
  return bare.startsWith("{") && bare.endsWith("}") ? collectAll([callOf(repairObject(bare))]) : undefined;
}

function markedCalls(text: string, tools: readonly ModelTool[]): TextCall[] | undefined {
  if (text.startsWith("[TOOL_CALLS]")) return mistralCalls(text.slice("[TOOL_CALLS]".length).trim());
  if (text.startsWith("<|python_")) {
    const bare = text
      .slice(text.indexOf("|>") + 2)
      .replace(END_MARKS, "")
      .trim();
    if (bare.startsWith("[")) return pythonicCalls(bare);
    return collectAll(bare.split(/(?<=\})\s*;\s*(?=\{)/).map((one) => callOf(repairObject(one))));
  }
  const blocks = text.startsWith("<tool_call>") ? parseBlocks(text, "<tool_call>", "</tool_call>") : [text];
  return blocks && collectAll(blocks.flatMap((block) => taggedCalls(block.trim(), tools)));
}

/** The texts between pairs of tags that follow each other; undefined when there is anything else around them. */
function parseBlocks(text: string, open: string, close: string): string[] | undefined {
  const blocks: string[] = [];
  for (let rest = text.trim(); rest !== ""; ) {
    if (!rest.startsWith(open)) return undefined;
    const end = rest.indexOf(close);
    // Models often leave out the last closing tag.
    blocks.push(rest.slice(open.length, end === -1 ? undefined : end));
    rest = end === -1 ? "" : rest.slice(end + close.length).trim();
  }
  return blocks;
}

function taggedCalls(block: string, tools: readonly ModelTool[]): (TextCall | undefined)[] {
  if (!block.startsWith("<function=")) return [callOf(repairObject(block))];
  const functions = parseBlocks(block, "<function=", "</function>");
  if (!functions) return [undefined];
  return functions.map((one) => {
    const end = one.indexOf(">");
    if (end === -1) return undefined;
    const tool = one.slice(0, end).trim();
    const body = one.slice(end + 1).trim();
    const input = body.startsWith("{")
      ? repairObject(body)
      : parametersIn(
          body,
          tools.find(({ name }) => name === tool),
        );
    return input && { tool, input };
  });
}

function parametersIn(body: string, tool: ModelTool | undefined): Input | undefined {
  const properties = membersOf(tool?.parameters["properties"]);
  const found = body === "" ? [] : parseBlocks(body, "<parameter=", "</parameter>");
  if (!found) return undefined;
  const input: [string, unknown][] = [];
  for (const one of found) {
    const end = one.indexOf(">");
    if (end === -1) return undefined;
    const name = one.slice(0, end).trim();
    const value = one
      .slice(end + 1)
      .replace(/^\n/, "")
      .replace(/\n$/, "");
    input.push([name, textIn(properties[name], "type") === "string" ? value : readValue(value)]);
  }
  return Object.fromEntries(input);
}

function readValue(text: string): unknown {
  try {
    return readJson(text);
  } catch {
    return text;
  }
}

function mistralCalls(text: string): TextCall[] | undefined {
  if (text.startsWith("[")) {
    const list = repairObject(`{"calls":${text}}`)?.["calls"];
    return Array.isArray(list) ? collectAll(list.map(callOf)) : undefined;
  }
  return collectAll(
    text.split("[TOOL_CALLS]").map((one) => {
      const [tool = "", body] = one.split("[ARGS]");
      const input = body === undefined ? undefined : repairObject(body);
      return input && { tool: tool.trim(), input };
    }),
  );
}

function callOf(value: unknown): TextCall | undefined {
  const given = membersOf(value);
  const inner = isObject(given["function"]) ? given["function"] : given;
  const tool = textIn(inner, "name");
  const input = inner["arguments"] ?? inner["parameters"];
  const object = typeof input === "string" ? repairObject(input) : input;
  return tool !== undefined && isObject(object) ? { tool, input: object } : undefined;
}

/** All calls, or undefined if any is missing. */
const collectAll = (calls: readonly (TextCall | undefined)[]): TextCall[] | undefined => {
  const found = calls.filter((call) => call !== undefined);
  return found.length === calls.length ? found : undefined;
};

/**
 * The parts of a reply, with the calls in its text as tool calls; undefined when its text has none. @param id makes the
 * calls' ids.
 */
export function withTextCalls(
  parts: readonly AssistantPart[],
  tools: readonly ModelTool[],
  id: () => string,
): { parts: AssistantPart[]; said: string } | undefined {
  if (parts.some(({ type }) => type === "tool_call")) return undefined;
  const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  const found = callsIn(text, tools);
  if (!found) return undefined;
  const said: AssistantPart[] = found.said === "" ? [] : [{ type: "text", text: found.said }];
  const calls = found.calls.map(
    ({ tool, input }): AssistantPart => ({ type: "tool_call", call_id: id(), tool, input }),
  );
  return { parts: [...parts.filter(({ type }) => type === "thinking"), ...said, ...calls], said: found.said };
}
