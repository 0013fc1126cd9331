/** The memory of agents as callers of the API see it: lists, searches, scores, the graph of a vault, and changes by hand. */
import { forbidden } from "../../core/errors.ts";
import type { Caller } from "../../http/caller.ts";
import { type ListAnswer, listAnswer, type Page } from "../../http/list.ts";
import type { Core } from "../feature.ts";
import { type Entries, readerOf, writerOf } from "./entries.ts";
import { type EntryRow, rowOf, type StoredEntry, visibleTo } from "./entry-index.ts";
import {
  type EntryCreate,
  type EntryType,
  type EntryUpdate,
  type MemoryEntry,
  type MemoryGraph,
  type MemoryHit,
  type MemoryScore,
  type ScoreUpdate,
  SHARED,
  type Vault,
} from "./model.ts";
import type { Scores } from "./scores.ts";
import type { Search } from "./search.ts";

interface EntryFilter {
  /** Limits the list to the entry with this path. */
  entry?: string | undefined;
  type?: EntryType | undefined;
  unconfirmed?: boolean | undefined;
}

interface MemoryDeps extends Pick<Core, "store"> {
  entries: Entries;
  search: Search;
  scores: Scores;
}

export type Memory = ReturnType<typeof createMemory>;

const GRAPH_NODES = 5_000;

function presentScored(row: EntryRow, { score }: MemoryScore): MemoryEntry {
  const { vault, entry, digest: _d, size_bytes: _s, ...fields } = row;
  return { agent_id: vault, id: entry, ...fields, score };
}

export function createMemory({ store, entries, search, scores }: MemoryDeps) {
  const { assertVault, find, findForChange } = entries;
  const { statement } = store;

  const present = (row: EntryRow): MemoryEntry => presentScored(row, scores.of(row));

  /** Lists a page of entries and reads their scores at once. */
  function listScored<T>(rows: EntryRow[], page: Page, show: (row: EntryRow, score: MemoryScore) => T): ListAnswer<T> {
    const scored = scores.createReader(rows);
    return listAnswer(
      rows,
      page,
      (row) => row.entry,
      (row) => show(row, scored.of(row)),
    );
  }

  return {
    vaults(page: Page, caller: Caller): ListAnswer<Vault> {
      const { where, values } = visibleTo(readerOf(caller));
      const own = caller.execution ? "e.vault IN (?, 'shared')" : "1";
      const rows = statement<Vault>(
        `SELECT vault AS agent_id, count(*) AS entries, sum(size_bytes) AS size_bytes, max(updated_at) AS updated_at,
           sum(NOT trusted) AS unconfirmed
         FROM memory_entries e WHERE ${where} AND ${own} AND vault > ? GROUP BY vault ORDER BY vault LIMIT ?`,
      ).all(...values, ...(caller.execution ? [caller.execution.agentId] : []), page.after ?? "", page.limit + 1);
      return listAnswer(rows, page, ({ agent_id }) => agent_id);
    },
    entries(vault: string, filter: EntryFilter, page: Page, caller: Caller): ListAnswer<MemoryEntry> {
      assertVault(vault);
      const reader = readerOf(caller);
      const { entry, type = null, unconfirmed = false } = filter;
      if (entry !== undefined) return { items: [present(find(vault, entry, reader))], next_cursor: null };
      const { where, values } = visibleTo(reader);
      const rows = statement<StoredEntry>(
        `SELECT * FROM memory_entries e WHERE vault = ? AND entry > ? AND (? IS NULL OR type = ?)
         AND (NOT ? OR NOT trusted) AND ${where} ORDER BY entry LIMIT ?`,
      ).all(vault, page.after ?? "", type, type, unconfirmed ? 1 : 0, ...values, page.limit + 1);
      return listScored(rows.map(rowOf), page, presentScored);
    },
    get: (vault: string, entry: string, caller: Caller): MemoryEntry => present(find(vault, entry, readerOf(caller))),
    create(vault: string, { private: own, ...input }: EntryCreate, caller: Caller): MemoryEntry {
      assertVault(vault);
      if (vault === SHARED && !caller.admin)
        throw forbidden("Only an administrator writes to the shared vault; agents share with share_knowledge.");
      const owner = vault !== SHARED && (own || !caller.admin) ? (caller.userId ?? null) : null;
      const author = caller.userId ?? caller.kind;
      return present(
        entries.add(vault, { ...input, owner, trusted: true, origin: { by: "person", author } }, writerOf(caller)),
      );
    },
    update(vault: string, entry: string, input: EntryUpdate, caller: Caller): MemoryEntry {
      return present(entries.change(findForChange(vault, entry, readerOf(caller)), input, writerOf(caller)));
    },
    remove(vault: string, entry: string, caller: Caller): void {
      findForChange(vault, entry, readerOf(caller));
      entries.save(vault, entry, null, writerOf(caller));
    },
    /** Undoes the entry's last change. @returns the entry as it was before; undefined where it did not exist. */
    undo(vault: string, entry: string, caller: Caller): MemoryEntry | undefined {
      const row = entries.undo(vault, entry, readerOf(caller));
      return row && present(row);
    },
    async search(
      request: { agentId?: string; query: string; limit?: number },
      caller: Caller,
    ): Promise<{ items: MemoryHit[] }> {
      if (request.agentId !== undefined) assertVault(request.agentId);
      const agentId = request.agentId ?? caller.execution?.agentId;
      const vaults = agentId === undefined ? {} : { vaults: [agentId] };
      return {
        items: await search.find({
          query: request.query,
          limit: request.limit ?? 10,
          ...vaults,
          reader: readerOf(caller),
        }),
      };
    },
    /** Searches all vaults by words alone. */
    searchWords: (query: string, limit: number, caller: Caller): MemoryHit[] =>
      search.byWords({ query, limit, reader: readerOf(caller) }),
    scores(vault: string, page: Page, caller: Caller): ListAnswer<MemoryScore> {
      assertVault(vault);
      const { where, values } = visibleTo(readerOf(caller));
      const rows = statement<StoredEntry>(
        `SELECT * FROM memory_entries e WHERE vault = ? AND entry > ? AND ${where} ORDER BY entry LIMIT ?`,
      ).all(vault, page.after ?? "", ...values, page.limit + 1);
      return listScored(rows.map(rowOf), page, (_row, score) => score);
    },
    rate(vault: string, entry: string, { useful, pinned, score }: ScoreUpdate, caller: Caller): MemoryScore {
      const reader = readerOf(caller);
      const row =
        pinned === undefined && score === undefined ? find(vault, entry, reader) : findForChange(vault, entry, reader);
      if (useful !== undefined) scores.rate(row, useful);
      if (score !== undefined) scores.setScore(row, score);
      const isChanged = pinned !== undefined && pinned !== row.pinned;
      return scores.of(isChanged ? entries.change(row, { pinned }, writerOf(caller)) : row);
    },
    graph(vault: string, caller: Caller): MemoryGraph {
      assertVault(vault);
      const { where, values } = visibleTo(readerOf(caller));
      const all = statement<StoredEntry>(
        `SELECT * FROM memory_entries e WHERE vault = ? AND ${where} ORDER BY entry LIMIT ?`,
      ).all(vault, ...values, GRAPH_NODES + 1);
      const rows = all.slice(0, GRAPH_NODES).map(rowOf);
      const known = new Set(rows.map(({ entry }) => entry));
      return {
        agent_id: vault,
        nodes: rows.map(({ entry, title, type, trusted, pinned }) => ({ entry, title, type, trusted, pinned })),
        links: rows.flatMap(({ entry, links, superseded_by }) => [
          ...links.map((to) => ({ from: entry, to, kind: "link" as const, broken: !known.has(to) })),
          ...(superseded_by === null
            ? []
            : [{ from: entry, to: superseded_by, kind: "superseded_by" as const, broken: !known.has(superseded_by) }]),
        ]),
        truncated: all.length > GRAPH_NODES,
      };
    },
    countOf: (vault: string): number =>
      statement<{ n: number }>("SELECT count(*) AS n FROM memory_entries WHERE vault = ?").get(vault)!.n,
  };
}
