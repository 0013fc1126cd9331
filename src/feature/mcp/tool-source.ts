/** Tools of tool servers for agents: only tools that are approved, granted to the agent, and can be called now. */
import { type Masker, maskLong } from "../../core/masking.ts";
import { takeTurns } from "../../core/turns.ts";
import type { Tool, ToolSource } from "../../engine/tool.ts";
import type { TextWork } from "../../text/client.ts";
import type { Connections, ReadyTool } from "./connections.ts";
import type { CallResult } from "./supervised.ts";

export function mcpTools(
  connections: Pick<Connections, "tools" | "call">,
  text: Pick<TextWork, "schemaFaults">,
): ToolSource {
  return {
    name: "mcp",
    names: () => connections.tools().map(({ name }) => name),
    grantedTo: (agentId) => connections.tools(agentId).map(({ name }) => name),
    for: ({ agentId }) => connections.tools(agentId).map((ready) => toolOf(ready, connections.call, text)),
  };
}

/** Time that is added to the server's own time-out. */
const MARGIN_MS = 2_000;
/** A call that reports progress may take this many times its time-out (see the client). */
const PROGRESS_STRETCH = 30;

function toolOf(
  ready: ReadyTool,
  call: Connections["call"],
  text: Pick<TextWork, "schemaFaults">,
): Tool<Record<string, unknown>> {
  const { server, tool, name } = ready;
  const { description, input_schema } = tool.offered;
  return {
    name,
    group: "mcp",
    description: `${description.trim() || tool.name}\n(From the tool server ${server.id}.)`,
    parameters: input_schema,
    timeoutMs: server.timeout_ms * PROGRESS_STRETCH + MARGIN_MS,
    async run(args, { execution, signal, masker, onOutput }) {
      const result = await call(ready, args, { signal, timeoutMs: server.timeout_ms, onProgress: onOutput });
      const fault = await outputFault(tool.offered.output_schema, result, (schema, value) =>
        text.schemaFaults(execution.id, schema, value),
      );
      if (fault)
        return { ok: false, output: (await maskLong(masker, `${server.id} broke its own schema: ${fault}`)).trim() };
      return { ok: result.isError !== true, output: await textOf(server.id, result, masker) };
    },
  };
}

const SHOWN_FAULTS = 5;

/** Why a structured answer does not match the schema that was approved with the tool; undefined when it matches. */
async function outputFault(
  schema: Record<string, unknown> | undefined,
  { isError, structuredContent }: CallResult,
  faultsOf: (schema: object, value: unknown) => Promise<string[]>,
): Promise<string | undefined> {
  if (schema === undefined || isError === true) return undefined;
  if (structuredContent === undefined) return "the answer has no structured content.";
  const faults = await faultsOf(schema, structuredContent);
  if (faults.length === 0) return undefined;
  return `the structured content does not fit its schema. ${faults.slice(0, SHOWN_FAULTS).join(" ")}`;
}

/**
 * A result as the model reads it. Every line is quoted, so that all of it is recognizable as the server's text. Secrets
 * are masked first, while their text is whole.
 */
export async function textOf(server: string, result: CallResult, masker: Masker): Promise<string> {
  const parts = (result.content ?? []).map(partText);
  if (parts.length === 0 && result.structuredContent !== undefined)
    parts.push(JSON.stringify(result.structuredContent));
  const text = (await maskLong(masker, parts.join("\n\n"))).trim();
  if (text === "") return `${server} gave an empty answer.`;
  return `${server} answers:\n> ${await quotedLines(text)}`;
}

const SLICE_CHARACTERS = 64 * 1024;

/** Quotes the lines slice by slice and yields in between: a long text of only line breaks would block the thread. */
async function quotedLines(text: string): Promise<string> {
  const turn = takeTurns();
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += SLICE_CHARACTERS) {
    pieces.push(text.slice(at, at + SLICE_CHARACTERS).replaceAll("\n", "\n> "));
    await turn();
  }
  return pieces.join("");
}

type Part = CallResult["content"][number];

function partText(part: Part): string {
  switch (part.type) {
    case "text":
      return part.text;
    case "image":
    case "audio":
      return `[${part.type}, ${part.mimeType}, ${sizeOf(part.data)} bytes]`;
    case "resource":
      return "text" in part.resource
        ? `${part.resource.uri}\n${part.resource.text}`
        : `[${part.resource.uri}, ${part.resource.mimeType ?? "unknown type"}, ${sizeOf(part.resource.blob)} bytes]`;
    case "resource_link":
      return `[${part.name}: ${part.uri}]`;
    default:
      return "[a part of a kind that is not known here]";
  }
}

const sizeOf = (base64: string): number => Math.floor((base64.length * 3) / 4);
