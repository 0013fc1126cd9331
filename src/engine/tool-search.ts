/**
 * Chooses which tools an agent is shown in a call. Everyday tools are always shown. The others are found with the tool
 * `tools` and shown from then on, after the everyday ones, so that the beginning of the prompt stays the same. Every
 * tool can be called, shown or not.
 */
import { Type as t } from "@sinclair/typebox";
import { TOOL_SEARCH } from "../core/outside-table.ts";
import { estimateTokens } from "./context.ts";
import type { StoredMessage } from "./execution.ts";
import type { ModelTool } from "./model.ts";
import type { Tool } from "./tool.ts";
import { slimSchema } from "./tool-schema.ts";

/** Tools that are always shown. */
const EVERYDAY: ReadonlySet<string> = new Set([
  "read",
  "write",
  "edit",
  "ls",
  "find",
  "grep",
  "bash",
  "complete",
  "fail",
  "load_skill",
  "recall",
  "remember",
  "code_graph_query",
  "fetch_url",
  "list_my_tasks",
  "update_context",
  "finish_phase",
]);
/** Up to so many tokens, all tools are shown; likewise all tools of tool servers. */
const ALL_TOKENS = 1_500;
const SERVER_TOKENS = 1_500;
/** The most names listed in the description of `tools`. */
const NAMES_MOST = 60;
const FOUND_MOST = 6;

/** A tool as a model reads it. */
export const modelTool = ({ name, description, parameters, accepts }: Tool): ModelTool => ({
  name,
  description: description.trim(),
  // For a tool with `accepts`, the shown schema is the full contract, because its input is validated against less.
  parameters: accepts ? parameters : slimSchema(parameters),
});

const tokensOf = (tools: readonly Tool[]): number => estimateTokens(JSON.stringify(tools.map(modelTool)));

export interface ShownTools {
  /** In the order in which the model reads them. */
  shown: Tool[];
  hidden: Tool[];
}

/** @param stored what the model is to read; tools found in it stay shown. */
export function chooseShown(tools: readonly Tool[], stored: readonly StoredMessage[]): ShownTools {
  if (tokensOf(tools) <= ALL_TOKENS) return { shown: [...tools], hidden: [] };
  const fromServers = tools.filter(({ group }) => group === "mcp");
  const withServers = tokensOf(fromServers) <= SERVER_TOKENS;
  const isFirst = ({ name, group }: Tool) => EVERYDAY.has(name) || (group === "mcp" && withServers);
  const others = tools.filter((tool) => !isFirst(tool));
  if (others.length === 0) return { shown: [...tools], hidden: [] };
  const byName = new Map(others.map((tool) => [tool.name, tool]));
  const found = [...namesFound(stored)].flatMap((name) => byName.get(name) ?? []);
  const search = searchTool(others);
  return {
    shown: [...tools.filter(isFirst), search, ...found],
    hidden: others.filter((tool) => !found.includes(tool)),
  };
}

/** Names of the tools that `tools` has found and of those that were called, in that order. */
function namesFound(stored: readonly StoredMessage[]): Set<string> {
  const names = new Set<string>();
  for (const message of stored)
    if (message.role === "assistant")
      for (const { tool, ok, output } of message.calls) {
        if (tool !== TOOL_SEARCH) names.add(tool);
        else if (ok) for (const [, name = ""] of output.matchAll(/^## (\S+)$/gm)) names.add(name);
      }
  return names;
}

/** @param tools the tools that it can find. */
export function searchTool(tools: readonly Tool[]): Tool<{ query: string }> {
  const names = tools.map(({ name }) => name);
  const rest = names.length > NAMES_MOST ? `, and ${names.length - NAMES_MOST} more` : "";
  return {
    name: TOOL_SEARCH,
    group: "skills",
    description: `Finds more tools, by name or by what you want to do, and makes them callable. There are: ${names.slice(0, NAMES_MOST).join(", ")}${rest}.`,
    parameters: t.Object({ query: t.String({ minLength: 1, maxLength: 500 }) }),
    timeoutMs: 10_000,
    async run({ query }) {
      const found = findTools(tools, query).map(modelTool);
      const shown = found.map(
        ({ name, description, parameters }) => `## ${name}\n${description}\nInput: ${JSON.stringify(parameters)}`,
      );
      if (shown.length === 0) return { ok: false, output: `No tool fits. There are: ${names.join(", ")}.` };
      return { ok: true, output: `${shown.join("\n\n")}\n\nYou can call these now.` };
    },
  };
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[a-z0-9]+/g) ?? [];

/**
 * The tools that the query names. If there are none, those with the most words in common; a word of the name counts
 * three times.
 */
function findTools(tools: readonly Tool[], query: string): Tool[] {
  const given = new Set(query.split(/[\s,;`'"]+/));
  const named = tools.filter(({ name }) => given.has(name));
  if (named.length > 0) return named.slice(0, FOUND_MOST);
  const wanted = new Set(wordsOf(query));
  return tools
    .map((tool) => {
      const inName = wordsOf(tool.name).filter((word) => wanted.has(word)).length;
      const inText = new Set(wordsOf(tool.description).filter((word) => wanted.has(word))).size;
      return { tool, score: 3 * inName + inText };
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, FOUND_MOST)
    .map(({ tool }) => tool);
}
