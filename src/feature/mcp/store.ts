/** Rows of tool servers and of their tools. The tools of a server's first list are approved; new and changed ones wait. */
import { and, asc, count, eq, inArray, isNull } from "drizzle-orm";
import { type Clock, timestamp } from "../../core/clock.ts";
import type { Store } from "../../store/store.ts";
import { mcpServers, mcpTools } from "../../store/tables/mcp.ts";
import type { ListedTool } from "./definitions.ts";

export type ServerRow = typeof mcpServers.$inferSelect;
export type ToolRow = typeof mcpTools.$inferSelect;

export type McpRows = ReturnType<typeof createMcpRows>;

export function createMcpRows(store: Store, clock: Clock) {
  const { db } = store;
  const now = () => timestamp(clock.now());
  const find = (id: string): ServerRow | undefined => db.select().from(mcpServers).where(eq(mcpServers.id, id)).get();
  const tools = (id: string): ToolRow[] =>
    db.select().from(mcpTools).where(eq(mcpTools.server_id, id)).orderBy(asc(mcpTools.name)).all();
  const one = (id: string, name: string) => and(eq(mcpTools.server_id, id), eq(mcpTools.name, name));

  return {
    find,
    tools,
    /** Of several servers, by server; those without tools are not in it. */
    toolsOf: (ids: readonly string[]): Map<string, ToolRow[]> =>
      Map.groupBy(
        db
          .select()
          .from(mcpTools)
          .where(inArray(mcpTools.server_id, [...ids]))
          .orderBy(asc(mcpTools.name))
          .all(),
        ({ server_id }) => server_id,
      ),
    count: (): number => db.select({ servers: count() }).from(mcpServers).get()?.servers ?? 0,
    all: (): ServerRow[] => db.select().from(mcpServers).orderBy(asc(mcpServers.id)).all(),
    insert: (row: ServerRow) => void store.write(() => db.insert(mcpServers).values(row).run()),
    update(id: string, fields: Partial<ServerRow>): void {
      store.write(() =>
        db
          .update(mcpServers)
          .set({ ...fields, updated_at: now() })
          .where(eq(mcpServers.id, id))
          .run(),
      );
    },
    /** Tokens from an authorization server; not a change made by a person. */
    keepTokens: (id: string, sealed_tokens: string | null) =>
      void store.write(() => db.update(mcpServers).set({ sealed_tokens }).where(eq(mcpServers.id, id)).run()),
    remove: (id: string) => void store.write(() => db.delete(mcpServers).where(eq(mcpServers.id, id)).run()),
    /** Records what a server lists. @returns its tools, those that are gone too. */
    record(id: string, listed: readonly ListedTool[]): ToolRow[] {
      return store.write(() => {
        const server = find(id);
        if (!server) return [];
        const at = now();
        const isFirst = server.pinned_at === null;
        db.update(mcpTools).set({ listed: false }).where(eq(mcpTools.server_id, id)).run();
        for (const { name, definition, hash, problem } of listed) {
          const offer = { offered: definition, offered_hash: hash, problem, listed: true, seen_at: at };
          const approval = isFirst && problem === null ? { approved: definition, approved_hash: hash } : {};
          db.insert(mcpTools)
            .values({ server_id: id, name, approved: null, approved_hash: null, ...offer, ...approval })
            .onConflictDoUpdate({ target: [mcpTools.server_id, mcpTools.name], set: { ...offer, ...approval } })
            .run();
        }
        if (isFirst && listed.length > 0)
          db.update(mcpServers).set({ pinned_at: at }).where(eq(mcpServers.id, id)).run();
        // A tool that was never approved and is no longer offered is forgotten.
        db.delete(mcpTools)
          .where(and(eq(mcpTools.server_id, id), eq(mcpTools.listed, false), isNull(mcpTools.approved_hash)))
          .run();
        return tools(id);
      });
    },
    approve(id: string, name: string, { offered, offered_hash }: ToolRow): void {
      store.write(() =>
        db.update(mcpTools).set({ approved: offered, approved_hash: offered_hash }).where(one(id, name)).run(),
      );
    },
  };
}

export const isReady = ({ listed, problem, approved_hash, offered_hash }: ToolRow): boolean =>
  listed && problem === null && approved_hash === offered_hash;

export const isWaiting = (row: ToolRow): boolean => row.listed && row.problem === null && !isReady(row);
