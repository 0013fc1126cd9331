/** A tool server as administrators see it. */
import type { Connections } from "./connections.ts";
import { agentToolName } from "./definitions.ts";
import type { McpServer, McpTool, MergedConfig } from "./model.ts";
import { isReady, type ServerRow, type ToolRow } from "./store.ts";
import type { McpValues } from "./values.ts";

export function presentServer(
  row: ServerRow,
  tools: readonly ToolRow[],
  values: Pick<McpValues, "open" | "present" | "shownClient">,
  state: ReturnType<Connections["stateOf"]>,
): McpServer {
  const { sealed_env, sealed_headers, sealed_tokens, sealed_oauth, held, held_reason, pinned_at: _, ...plain } = row;
  return {
    ...plain,
    env: values.present(values.open(sealed_env)),
    headers: values.present(values.open(sealed_headers)),
    oauth: values.shownClient(sealed_oauth),
    status: row.enabled ? (held ?? state?.status ?? "configuring") : "stopped",
    error: row.enabled && held === "error" ? held_reason : (state?.error ?? null),
    needs_authorization: state?.needsAuthorization ?? false,
    authorized: sealed_tokens !== null,
    protocol: state?.protocol ?? null,
    tools: tools.map((tool) => presentTool(row.id, tool)),
  };
}

const presentTool = (id: string, row: ToolRow): McpTool => ({
  name: row.name,
  description: row.offered.description,
  input_schema: row.offered.input_schema,
  output_schema: row.offered.output_schema ?? null,
  agent_tool: agentToolName(id, row.name),
  hash: row.offered_hash,
  state: stateOf(row),
  problem: row.problem,
  approved: row.approved_hash === row.offered_hash ? null : row.approved,
});

function stateOf(row: ToolRow): McpTool["state"] {
  if (!row.listed) return "gone";
  if (row.problem !== null) return "unusable";
  if (isReady(row)) return "ready";
  return row.approved_hash === null ? "new" : "changed";
}

/** The server's entry in `mcpServers`. @param openValues opens the server's sealed values. */
export const configOf = (
  row: ServerRow,
  openValues: (server: string, sealed: string) => Record<string, string>,
): MergedConfig["mcpServers"][string] =>
  row.transport === "stdio"
    ? {
        ...(row.command === null ? {} : { command: row.command }),
        args: row.args,
        env: openValues(row.id, row.sealed_env),
        ...(row.image === null ? {} : { image: row.image }),
      }
    : { type: row.transport, url: row.url ?? "", headers: openValues(row.id, row.sealed_headers) };
