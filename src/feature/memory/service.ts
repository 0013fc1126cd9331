/** Entries of agents' memory: read, written, undone. A private entry is its owner's alone, whatever agent keeps it. */
import { type Clock, timestamp } from "../../core/clock.ts";
import { conflict, forbidden, invalidField, notFound } from "../../core/errors.ts";
import { isSlug } from "../../core/ids.ts";
import { owns } from "../../core/ownership.ts";
import type { Caller } from "../../http/caller.ts";
import { type ListAnswer, listAnswer, type Page } from "../../http/list.ts";
import type { Store } from "../../store/store.ts";
import type { TextFolder } from "../../store/text-folder.ts";
import { digestOf, type FrontMatterFormat, isEntryPath, readEntry, slugOf } from "./entry-file.ts";
import { type EntryIndex, type EntryRow, type Reader, rowOf, type StoredEntry, visibleTo } from "./entry-index.ts";
import { memoryWritten } from "./events.ts";
import {
  type EntryCreate,
  type EntryType,
  type EntryUpdate,
  type MemoryEntry,
  type MemoryGraph,
  type MemoryHit,
  type MemoryScore,
  type Origin,
  type ScoreUpdate,
  SHARED,
  type Vault,
} from "./model.ts";
import type { Scores } from "./scores.ts";
import type { Search } from "./search.ts";

/** Who writes: the row of a version says so, and what the execution wrote can be taken back. */
export interface Writer {
  executionId?: string | undefined;
  sessionId?: string | undefined;
  userId?: string | undefined;
}

export interface NewEntry extends Omit<EntryCreate, "private"> {
  owner: string | null;
  origin: Origin;
  trusted: boolean;
}

export interface EntryFilter {
  /** Its path: only this one. */
  entry?: string | undefined;
  type?: EntryType | undefined;
  unconfirmed?: boolean | undefined;
}

export interface MemoryDeps {
  store: Store;
  clock: Clock;
  folder: TextFolder;
  format: FrontMatterFormat;
  index: EntryIndex;
  search: Search;
  scores: Scores;
  agentExists(agentId: string): boolean;
  /** @throws Problem 413 `quota_exceeded` where these bytes are more than the user may store. */
  assertRoom(bytes: number, userId: string | undefined): void;
}

export type Memory = ReturnType<typeof createMemory>;

const GRAPH_NODES = 5_000;
const MAX_ENTRIES_PER_VAULT = 50_000;

/** By its token an execution sees confirmed entries alone: `recall` shows it the others, marked. */
export const readerOf = ({ admin, userId, execution }: Caller): Reader =>
  admin ? { all: true } : { all: false, userId, ...(execution ? { unconfirmed: "none" } : {}) };
export const writerOf = ({ execution, userId }: Caller): Writer => ({
  executionId: execution?.id,
  sessionId: execution?.sessionId,
  userId,
});

export function createMemory(deps: MemoryDeps) {
  const { store, clock, folder, format, index, search, scores, agentExists } = deps;
  const { statement } = store;
  const pathOf = (vault: string, entry: string) => `${vault}/${entry}.md`;

  function assertVault(vault: string): void {
    if (vault === SHARED || agentExists(vault)) return;
    const kept = isSlug(vault) && statement("SELECT 1 FROM memory_entries WHERE vault = ? LIMIT 1").get(vault);
    if (!kept) throw notFound("agent");
  }
  function find(vault: string, entry: string, reader: Reader): EntryRow {
    assertVault(vault);
    if (!isEntryPath(entry)) throw notFound("memory entry");
    // A file that was saved a moment ago counts.
    index.refresh(vault, entry);
    const { where, values } = visibleTo(reader);
    const found = statement<StoredEntry>(
      `SELECT * FROM memory_entries e WHERE vault = ? AND entry = ? AND ${where}`,
    ).get(vault, entry, ...values);
    if (!found) throw notFound("memory entry");
    return rowOf(found);
  }
  const mayChange = (owner: string | null, reader: Reader): boolean =>
    reader.all || owns({ admin: false, userId: reader.userId }, owner);
  function findForChange(vault: string, entry: string, reader: Reader): EntryRow {
    const row = find(vault, entry, reader);
    if (!mayChange(row.owner_id, reader))
      throw forbidden("This entry belongs to everybody: only an administrator may change it.");
    return row;
  }
  const presentScored = (row: EntryRow, { score }: MemoryScore): MemoryEntry => {
    const { vault, entry, digest: _d, size_bytes: _s, ...fields } = row;
    return { agent_id: vault, id: entry, ...fields, score };
  };
  const present = (row: EntryRow): MemoryEntry => presentScored(row, scores.of(row));

  /** A page of entries, whose scores are read at once. */
  function listScored<T>(rows: EntryRow[], page: Page, show: (row: EntryRow, score: MemoryScore) => T): ListAnswer<T> {
    const scored = scores.reader(rows);
    return listAnswer(
      rows,
      page,
      (row) => row.entry,
      (row) => show(row, scored.of(row)),
    );
  }

  /** Puts the file in its place, or removes it; what it held is kept as a version. */
  function save(vault: string, entry: string, text: string | null, writer: Writer): void {
    const before = folder.read(pathOf(vault, entry));
    if (before?.problem !== undefined) throw conflict(`${before.problem} Fix it on the disk.`, "entry_broken");
    store.write(() =>
      statement(
        `INSERT INTO memory_versions (vault, entry, before, after_digest, execution_id, user_id, at)
         VALUES (?, ?, ?, ?, ?, ?, ?)`,
      ).run(
        vault,
        entry,
        before?.text ?? null,
        text === null ? null : digestOf(text),
        writer.executionId ?? null,
        writer.userId ?? null,
        timestamp(clock.now()),
      ),
    );
    putFile(vault, entry, text);
    const row = index.find(vault, entry);
    if (row)
      store.write(({ emit }) =>
        emit(memoryWritten, {
          agent_id: vault === SHARED ? undefined : vault,
          session_id: writer.sessionId,
          ...(row.owner_id === null ? {} : { user_id: row.owner_id }),
          data: { entry, title: row.title },
        }),
      );
  }
  function putFile(vault: string, entry: string, text: string | null): void {
    if (text === null) folder.remove(pathOf(vault, entry));
    else folder.writeSoon(pathOf(vault, entry), text);
    index.refresh(vault, entry);
  }
  function changeText({ vault, entry }: EntryRow, patch: Record<string, unknown>, body?: string): string {
    const { text = "" } = folder.read(pathOf(vault, entry)) ?? {};
    try {
      const all = { ...patch, updated: timestamp(clock.now()) };
      return format.update(text, all, body === undefined ? undefined : `\n${body.trim()}\n`);
    } catch {
      throw conflict("The front matter of the entry's file is broken. Fix it in the file.", "entry_broken");
    }
  }
  function freeName(vault: string, type: string, title: string): string {
    const base = `${type}/${slugOf(title)}`;
    for (let n = 1; ; n++) {
      const name = n === 1 ? base : `${base}-${n}`;
      if (!folder.read(pathOf(vault, name))) return name;
    }
  }

  function add(vault: string, input: NewEntry, writer: Writer): EntryRow {
    const { type = "note", title, content, tags = [], links = [], pinned, expires_at, supersedes } = input;
    const { n } = statement<{ n: number }>("SELECT count(*) AS n FROM memory_entries WHERE vault = ?").get(vault)!;
    if (n >= MAX_ENTRIES_PER_VAULT) throw conflict(`The vault holds ${n} entries, which is the limit.`, "vault_full");
    const reader: Reader = { all: false, userId: input.owner ?? undefined };
    const old = supersedes === undefined ? undefined : findForSupersede(vault, supersedes, reader);
    const entry = freeName(vault, type, title);
    const now = timestamp(clock.now());
    const fields = {
      title: title.trim(),
      type,
      tags: [...new Set(tags)],
      created: now,
      updated: now,
      origin: input.origin,
      ...(links.length > 0 ? { links } : {}),
      ...(input.owner === null ? {} : { owner: input.owner }),
      ...(supersedes === undefined ? {} : { supersedes }),
      ...(expires_at ? { expires: expires_at } : {}),
      ...(pinned ? { pinned } : {}),
      trusted: input.trusted,
    };
    const text = format.update("", fields, `\n${content.trim()}\n`);
    if (input.owner !== null) deps.assertRoom(Buffer.byteLength(text), input.owner);
    // A deleted one may have had the name. Its score stays for undo until then.
    store.write(() => statement("DELETE FROM memory_scores WHERE vault = ? AND entry = ?").run(vault, entry));
    save(vault, entry, text, writer);
    // An unconfirmed entry supersedes nothing.
    if (old && (input.trusted || !old.trusted))
      save(vault, old.entry, changeText(old, { superseded_by: entry }), writer);
    return index.find(vault, entry)!;
  }
  function findForSupersede(vault: string, entry: string, reader: Reader): EntryRow {
    try {
      return findForChange(vault, entry, reader);
    } catch {
      throw invalidField("/supersedes", `There is no entry ${entry} that may be superseded.`);
    }
  }

  function change(row: EntryRow, input: EntryUpdate & { origin?: Origin }, writer: Writer): EntryRow {
    const { content, expires_at, ...rest } = input;
    if (rest.superseded_by === row.entry) throw invalidField("/superseded_by", "An entry cannot supersede itself.");
    const patch = {
      ...rest,
      ...("superseded_by" in rest ? { superseded_by: rest.superseded_by ?? undefined } : {}),
      ...(expires_at === undefined ? {} : { expires: expires_at ?? undefined }),
    };
    const text = changeText(row, patch, content);
    const more = Buffer.byteLength(text) - row.size_bytes;
    if (row.owner_id !== null && more > 0) deps.assertRoom(more, row.owner_id);
    save(row.vault, row.entry, text, writer);
    return index.find(row.vault, row.entry)!;
  }

  function undo(vault: string, entry: string, reader: Reader): EntryRow | undefined {
    assertVault(vault);
    const last = statement<{ id: number; before: string | null }>(
      "SELECT id, before FROM memory_versions WHERE vault = ? AND entry = ? ORDER BY id DESC LIMIT 1",
    ).get(vault, entry);
    const now = index.find(vault, entry);
    if (now) findForChange(vault, entry, reader);
    else {
      const owner = last?.before ? readEntry(entry, last.before, 0, format).owner_id : null;
      if (!last || !mayChange(owner, reader)) throw notFound("memory entry");
    }
    if (!last) throw conflict("The entry was never changed here: there is nothing to undo.", "nothing_to_undo");
    putFile(vault, entry, last.before);
    store.write(() => statement("DELETE FROM memory_versions WHERE id = ?").run(last.id));
    return index.find(vault, entry);
  }

  return {
    assertVault,
    mayChange,
    find,
    findForChange,
    add,
    change,
    save,
    /** Resolves when all entries written so far are on the disk. A request that writes an entry answers after that. */
    written: folder.written,
    /** Of the file as it is; null: there is none. */
    fileDigest(vault: string, entry: string): string | null {
      const file = folder.read(pathOf(vault, entry));
      return file ? digestOf(file.text) : null;
    },
    /** Removes a deleted user's own entries with their versions and scores. Inside the deleting transaction. */
    removeOf(userId: string): void {
      const rows = statement<{
        vault: string;
        entry: string;
      }>("SELECT vault, entry FROM memory_entries WHERE owner_id = ?").all(userId);
      store.write(({ after }) => {
        for (const { vault, entry } of rows) {
          statement("DELETE FROM memory_versions WHERE vault = ? AND entry = ?").run(vault, entry);
          statement("DELETE FROM memory_scores WHERE vault = ? AND entry = ?").run(vault, entry);
          after(() => putFile(vault, entry, null));
        }
        statement(
          "DELETE FROM memory_session_recalls WHERE session_id IN (SELECT id FROM sessions WHERE user_id = ?)",
        ).run(userId);
      });
    },
    vaults(page: Page, caller: Caller): ListAnswer<Vault> {
      const { where, values } = visibleTo(readerOf(caller));
      const own = caller.execution ? "e.vault IN (?, 'shared')" : "1";
      const rows = statement<Vault>(
        `SELECT vault AS agent_id, count(*) AS entries, sum(size_bytes) AS size_bytes, max(updated_at) AS updated_at,
           sum(NOT trusted) AS unconfirmed
         FROM memory_entries e WHERE ${where} AND ${own} AND vault > ? GROUP BY vault ORDER BY vault LIMIT ?`,
      ).all(...values, ...(caller.execution ? [caller.execution.agentId] : []), page.after ?? "", page.limit + 1);
      return listAnswer(
        rows,
        page,
        ({ agent_id }) => agent_id,
        (row) => row,
      );
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
        add(vault, { ...input, owner, trusted: true, origin: { by: "person", author } }, writerOf(caller)),
      );
    },
    update(vault: string, entry: string, input: EntryUpdate, caller: Caller): MemoryEntry {
      return present(change(findForChange(vault, entry, readerOf(caller)), input, writerOf(caller)));
    },
    remove(vault: string, entry: string, caller: Caller): void {
      findForChange(vault, entry, readerOf(caller));
      save(vault, entry, null, writerOf(caller));
    },
    /** The entry as it was before its last change. @returns undefined where it did not exist. */
    undo(vault: string, entry: string, caller: Caller): MemoryEntry | undefined {
      const row = undo(vault, entry, readerOf(caller));
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
    /** By words alone, over all vaults. */
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
      if (pinned !== undefined && pinned !== row.pinned) change(row, { pinned }, writerOf(caller));
      return scores.of(index.find(vault, entry)!);
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
