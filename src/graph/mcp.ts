/**
 * The four graph tools as an MCP server on standard input and output, for any editor's assistant: JSON-RPC, one message a
 * line. No server is needed.
 */
import { createInterface } from "node:readline";
import { messageOf } from "../core/errors.ts";
import { toolSchemas } from "./tools.ts";

const PROTOCOL_VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

interface Message {
  jsonrpc?: string;
  id?: string | number | null;
  method?: string;
  params?: Record<string, unknown>;
}

export interface McpOptions {
  /** Answers a tool call as text. What it throws is the call's failure, which the model reads. */
  tool(name: string, args: Record<string, unknown>): Promise<string>;
  version: string;
  input: NodeJS.ReadableStream;
  /** Writes one line. */
  write(line: string): void;
}

/** Serves until the input ends and everything is answered. A slow call holds up no other. */
export async function serveMcp(options: McpOptions): Promise<void> {
  const underWay = new Set<Promise<void>>();
  for await (const line of createInterface({ input: options.input, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() === "") continue;
    const work = handle(line, options).then((answer) => {
      if (answer !== undefined) options.write(JSON.stringify(answer));
      underWay.delete(work);
    });
    underWay.add(work);
  }
  await Promise.all(underWay);
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
      error: { code: -32603, message: messageOf(error) },
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
      return callTool(options, params);
    default:
      throw new UnknownMethod(`no method ${String(message.method)}`);
  }
}

async function callTool({ tool }: McpOptions, params: Record<string, unknown>): Promise<unknown> {
  const text = (value: string, isError = false) => ({ content: [{ type: "text", text: value }], isError });
  const args = params["arguments"] ?? {};
  if (typeof args !== "object" || args === null || Array.isArray(args))
    return text("arguments must be an object", true);
  try {
    return text(await tool(String(params["name"] ?? ""), args as Record<string, unknown>));
  } catch (error) {
    return text(messageOf(error), true);
  }
}
