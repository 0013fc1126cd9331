/** A tool server's descriptions of its tools: checked, bounded, hashed, and named for agents. */
import { createHash } from "node:crypto";
import { isObject, membersOf, textIn } from "../../core/is-object.ts";
import { hashJson } from "../../core/json-hash.ts";
import { schemaProblems } from "../../core/json-schema.ts";
import { LIMITS } from "../../core/limits.ts";
import type { ToolDefinition } from "../../store/tables/mcp.ts";

export type ListedTool = ReturnType<typeof readTool>;

const NAME = /^[^\s\p{C}]{1,128}$/u;
const DEPTH = 64;

/**
 * Reads a server's list of tools. An invalid tool does not affect the others.
 * @param onNameless called with the reason for each tool that is left out: without a usable name, listed twice, or too
 * many.
 */
export function readTools(listed: readonly unknown[], onNameless: (why: string) => void): ListedTool[] {
  const found = new Map<string, ListedTool>();
  for (const one of listed) {
    const name = textIn(one, "name");
    if (name === undefined || !NAME.test(name)) onNameless("A tool without a usable name was left out.");
    else if (found.has(name)) onNameless(`The tool ${name} is listed twice; the second was left out.`);
    else if (found.size === LIMITS.mcpToolsPerServer) {
      onNameless(`There are more than ${LIMITS.mcpToolsPerServer} tools; the rest was left out.`);
      break;
    } else found.set(name, readTool(name, membersOf(one)));
  }
  return [...found.values()];
}

function readTool(name: string, one: Record<string, unknown>) {
  /** Why no agent can use the tool; null when agents can. */
  const problem = faultOf(one);
  const description = typeof one["description"] === "string" ? one["description"] : "";
  const definition: ToolDefinition = {
    ...(typeof one["title"] === "string" ? { title: one["title"].slice(0, LIMITS.nameCharacters) } : {}),
    description: description.slice(0, LIMITS.mcpToolDescriptionCharacters),
    input_schema: problem === null ? membersOf(one["inputSchema"]) : { type: "object" },
    ...(problem === null && isObject(one["outputSchema"]) ? { output_schema: one["outputSchema"] } : {}),
    ...(problem === null && isObject(one["annotations"]) ? { annotations: one["annotations"] } : {}),
  };
  return { name, definition, hash: hashOf(definition), problem };
}

function faultOf({ description, inputSchema, outputSchema, annotations }: Record<string, unknown>): string | null {
  if (description !== undefined && typeof description !== "string") return "Its description is not text.";
  if (typeof description === "string" && description.length > LIMITS.mcpToolDescriptionCharacters)
    return `Its description has more than ${LIMITS.mcpToolDescriptionCharacters} characters.`;
  if (!isObject(inputSchema) || inputSchema["type"] !== "object")
    return 'Its input is not described by a schema of the type "object".';
  if (outputSchema !== undefined && !isObject(outputSchema)) return "The schema of its output is not an object.";
  if (depthOf([inputSchema, outputSchema, annotations]) > DEPTH)
    return `Its description is nested more than ${DEPTH} levels deep.`;
  if (Buffer.byteLength(JSON.stringify([inputSchema, outputSchema, annotations])) > LIMITS.mcpToolSchemaBytes)
    return `The schemas of its input and output have more than ${LIMITS.mcpToolSchemaBytes} bytes.`;
  for (const [what, schema] of Object.entries({ input: inputSchema, output: outputSchema ?? {} })) {
    const [fault] = schemaProblems(schema);
    if (fault) return `The schema of its ${what} is wrong at /${fault.path.join("/")}: ${fault.message}`;
  }
  return null;
}

function depthOf(value: unknown, deep = 0): number {
  if (typeof value !== "object" || value === null || deep > DEPTH) return deep;
  let most = deep;
  for (const one of Object.values(value)) most = Math.max(most, depthOf(one, deep + 1));
  return most;
}

/**
 * SHA-256 of everything that a model or an administrator relies on. The order of an object's members does not matter.
 */
export const hashOf = (definition: ToolDefinition): string => hashJson(definition);

/** The longest name that every model provider accepts. */
const NAME_CHARACTERS = 64;
const SUFFIX_CHARACTERS = 6;

/** The name of a tool for agents: `server__tool`, in characters that models accept; unique for each pair. */
export function agentToolName(server: string, tool: string): string {
  const plain = `${server}__${tool}`;
  const safe = plain.replace(/[^a-zA-Z0-9_-]/g, "_");
  if (safe === plain && plain.length <= NAME_CHARACTERS) return plain;
  const suffix = createHash("sha256").update(plain).digest("hex").slice(0, SUFFIX_CHARACTERS);
  return `${safe.slice(0, NAME_CHARACTERS - SUFFIX_CHARACTERS - 1)}_${suffix}`;
}
