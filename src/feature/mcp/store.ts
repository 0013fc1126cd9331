/**
 * Rows of tool servers and of their tools. The tools of a server's first list are approved; tools that are new or
 * changed later wait for approval.
 */
import { type Clock, toTimestamp } from "../../core/clock.ts";
import { matchInJson } from "../../store/reader.ts";
import type { Store } from "../../store/store.ts";
import { mcpServers, mcpTools } from "../../store/tables/mcp.ts";
import type { ListedTool } from "./definitions.ts";

export type ServerRow = typeof mcpServers.$inferSelect;
export type ToolRow = typeof mcpTools.$inferSelect;

export type McpRows = ReturnType<typeof createMcpRows>;

export function createMcpRows(store: Store, clock: Clock) {
  const [servers, toolRows] = [store.rows(mcpServers), store.rows(mcpTools)];
  const readNow = () => toTimestamp(clock.now());
  const find = (id: string): ServerRow | undefined => servers.find({ id });
  const listTools = (id: string): ToolRow[] => toolRows.list([{ server_id: id }], { order: "name" });

  return {
    find,
    listTools,
    /** Tools of several servers, by server. Servers without tools are missing from the map. */
    toolsOf: (ids: readonly string[]): Map<string, ToolRow[]> =>
      Map.groupBy(toolRows.list([matchInJson("server_id", ids)], { order: "name" }), ({ server_id }) => server_id),
    count: (): number => servers.count(),
    all: (): ServerRow[] => servers.list([], { order: "id" }),
    insert: (row: ServerRow) => store.write(() => servers.insert(row)),
    update(id: string, fields: Partial<ServerRow>): void {
      store.write(() => servers.update({ ...fields, updated_at: readNow() }, { id }));
    },
    /** Stores tokens from an authorization server. It leaves `updated_at` alone, because no person made the change. */
    keepTokens: (id: string, sealed_tokens: string | null) =>
      void store.write(() => servers.update({ sealed_tokens }, { id })),
    remove: (id: string) => void store.write(() => servers.remove({ id })),
    /** Records a server's list of tools. @returns the server's tools, including those that it no longer lists. */
    record(id: string, listed: readonly ListedTool[]): ToolRow[] {
      return store.write(() => {
        const server = find(id);
        if (!server) return [];
        const at = readNow();
        const isFirst = server.pinned_at === null;
        toolRows.update({ listed: false }, { server_id: id });
        for (const { name, definition, hash, problem } of listed) {
          const offer = { offered: definition, offered_hash: hash, problem, listed: true, seen_at: at };
          const approval = isFirst && problem === null ? { approved: definition, approved_hash: hash } : {};
          // An earlier approval stays: `put` does not change columns that are left out.
          toolRows.put({ server_id: id, name, ...offer, ...approval }, ["server_id", "name"]);
        }
        if (isFirst && listed.length > 0) servers.update({ pinned_at: at }, { id });
        // A tool that was never approved and is no longer offered is forgotten.
        toolRows.remove({ server_id: id, listed: false, approved_hash: null });
        return listTools(id);
      });
    },
    approve(id: string, name: string, { offered, offered_hash }: ToolRow): void {
      const approval = { approved: offered, approved_hash: offered_hash };
      store.write(() => toolRows.update(approval, { server_id: id, name }));
    },
  };
}

export const isReady = ({ listed, problem, approved_hash, offered_hash }: ToolRow): boolean =>
  listed && problem === null && approved_hash === offered_hash;

export const isWaiting = (row: ToolRow): boolean => row.listed && row.problem === null && !isReady(row);
