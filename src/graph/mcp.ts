/**
 * The four graph tools as an MCP server on standard input and output, for any editor's assistant: JSON-RPC, one message a
 * line. No server is needed; the repository is indexed first when there is no index or it is stale.
 */
import { createInterface } from "node:readline";
import { GraphError, type GraphSession } from "./session.ts";
import { changesText, contextText, impactText, queryText, toolSchemas } from "./tools.ts";

const PROTOCOL_VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

interface Message {
  jsonrpc?: string;
  id?: string | number | null;
  method?: string;
  params?: Record<string, unknown>;
}

export interface McpOptions {
  session: GraphSession;
  version: string;
  input: NodeJS.ReadableStream;
  /** Writes one line. */
  write(line: string): void;
}

/** Serves until the input ends. */
export async function serveMcp(options: McpOptions): Promise<void> {
  for await (const line of createInterface({ input: options.input, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() === "") continue;
    const answer = await handle(line, options);
    if (answer !== undefined) options.write(JSON.stringify(answer));
  }
}

async function handle(line: string, options: McpOptions): Promise<unknown> {
  let message: Message;
  try {
    const parsed: unknown = JSON.parse(line);
    if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) throw new Error("not an object");
    message = parsed;
  } catch {
    return { jsonrpc: "2.0", id: null, error: { code: -32700, message: "not a JSON-RPC message" } };
  }
  // A notification wants no answer.
  if (message.id === undefined) return undefined;
  const { id } = message;
  try {
    return { jsonrpc: "2.0", id, result: await result(message, options) };
  } catch (error) {
    if (error instanceof UnknownMethod) return { jsonrpc: "2.0", id, error: { code: -32601, message: error.message } };
    return {
      jsonrpc: "2.0",
      id,
      error: { code: -32603, message: error instanceof Error ? error.message : String(error) },
    };
  }
}

class UnknownMethod extends Error {}

async function result(message: Message, options: McpOptions): Promise<unknown> {
  const params = message.params ?? {};
  switch (message.method) {
    case "initialize": {
      const asked = String(params["protocolVersion"] ?? "");
      return {
        protocolVersion: PROTOCOL_VERSIONS.includes(asked) ? asked : PROTOCOL_VERSIONS[0],
        capabilities: { tools: {} },
        serverInfo: { name: "skep", version: options.version },
      };
    }
    case "ping":
      return {};
    case "tools/list":
      return {
        tools: toolSchemas(false).map(({ name, description, input }) => ({
          name,
          description,
          inputSchema: input,
          annotations: { readOnlyHint: true },
        })),
      };
    case "tools/call":
      return callTool(
        options.session,
        String(params["name"] ?? ""),
        (params["arguments"] ?? {}) as Record<string, unknown>,
      );
    default:
      throw new UnknownMethod(`no method ${String(message.method)}`);
  }
}

async function callTool(session: GraphSession, name: string, args: Record<string, unknown>): Promise<unknown> {
  const text = (value: string, isError = false) => ({ content: [{ type: "text", text: value }], isError });
  try {
    return text(await toolText(session, name, args));
  } catch (error) {
    if (error instanceof GraphError && error.code === "not_indexed") {
      await session.index({ force: false });
      return text(await toolText(session, name, args));
    }
    return text(error instanceof Error ? error.message : String(error), true);
  }
}

/** Answers one tool call as text. Throws on wrong arguments and when there is no index. */
export async function toolText(session: GraphSession, name: string, args: Record<string, unknown>): Promise<string> {
  switch (name) {
    case "code_graph_query":
      return queryText(
        session.query({ query: textOf(args, "query"), limit: numberOf(args, "limit", 10, 1, 50), includeCode: false }),
      );
    case "code_graph_context":
      return contextText(session.context(textOf(args, "symbol_name"), optionalText(args, "file_path")));
    case "code_graph_impact":
      return impactText(
        session.impact({
          target: textOf(args, "target"),
          direction: args["direction"] === "downstream" ? "downstream" : "upstream",
          maxDepth: numberOf(args, "max_depth", 3, 1, 10),
          minConfidence: 0,
        }),
      );
    case "code_graph_changes":
      return changesText(await session.changes());
    default:
      throw new Error(`no tool ${name}`);
  }
}

function textOf(args: Record<string, unknown>, name: string): string {
  const value = args[name];
  if (typeof value !== "string" || value.trim() === "") throw new Error(`${name} must be a text`);
  return value;
}

function optionalText(args: Record<string, unknown>, name: string): string | undefined {
  const value = args[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

function numberOf(args: Record<string, unknown>, name: string, fallback: number, min: number, max: number): number {
  const value = args[name] ?? fallback;
  if (typeof value !== "number" || !Number.isInteger(value)) throw new Error(`${name} must be a whole number`);
  return Math.min(max, Math.max(min, value));
}
