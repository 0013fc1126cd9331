/**
 * Entries of agents' memory as files, and the versions with which changes are undone. A private entry belongs to its
 * owner alone, whichever agent keeps it.
 */
import { toTimestamp } from "../../core/clock.ts";
import { conflict, expectFound, forbidden, invalidField, notFound } from "../../core/errors.ts";
import { isSlug } from "../../core/ids.ts";
import { isOwner } from "../../core/ownership.ts";
import type { Caller } from "../../http/caller.ts";
import type { TextFolder } from "../../store/text-folder.ts";
import type { Core } from "../feature.ts";
import { digestOf, type FrontMatterFormat, isEntryPath, readEntry, slugOf } from "./entry-file.ts";
import { type EntryIndex, type EntryRow, type Reader, rowOf, type StoredEntry, visibleTo } from "./entry-index.ts";
import { memoryWritten } from "./events.ts";
import { type EntryCreate, type EntryUpdate, type Origin, SHARED } from "./model.ts";

/** Who writes an entry. The row of the version records it, so that all that an execution wrote can be taken back. */
export interface Writer {
  executionId?: string | undefined;
  sessionId?: string | undefined;
  userId?: string | undefined;
}

interface NewEntry extends Omit<EntryCreate, "private"> {
  owner: string | null;
  origin: Origin;
  trusted: boolean;
}

interface EntriesDeps extends Pick<Core, "store" | "clock"> {
  folder: TextFolder;
  format: FrontMatterFormat;
  index: EntryIndex;
  agentExists(agentId: string): boolean;
  /** @throws Problem 413 `quota_exceeded` when these bytes exceed what the user may store. */
  assertRoom(bytes: number, userId: string | undefined): void;
}

export type Entries = ReturnType<typeof createEntries>;

const MAX_ENTRIES_PER_VAULT = 50_000;

/**
 * An execution that calls the API with its token sees only confirmed entries. The tool `recall` also shows it
 * unconfirmed ones, marked as such.
 */
export const readerOf = ({ admin, userId, execution }: Caller): Reader =>
  admin ? { all: true } : { all: false, userId, ...(execution ? { unconfirmed: "none" } : {}) };
export const writerOf = ({ execution, userId }: Caller): Writer => ({
  executionId: execution?.id,
  sessionId: execution?.sessionId,
  userId,
});

const pathOf = (vault: string, entry: string): string => `${vault}/${entry}.md`;

/** Whether the reader may change an entry of this owner. Owner null: the entry belongs to everybody. */
export const mayChange = (owner: string | null, reader: Reader): boolean =>
  reader.all || isOwner({ admin: false, userId: reader.userId }, owner);

/** Finds entries by their paths. */
function createLookup({
  store: { statement },
  index,
  agentExists,
}: Pick<EntriesDeps, "store" | "index" | "agentExists">) {
  function assertVault(vault: string): void {
    if (vault === SHARED || agentExists(vault)) return;
    const kept = isSlug(vault) && statement("SELECT 1 FROM memory_entries WHERE vault = ? LIMIT 1").get(vault);
    if (!kept) throw notFound("agent");
  }
  function find(vault: string, entry: string, reader: Reader): EntryRow {
    assertVault(vault);
    if (!isEntryPath(entry)) throw notFound("memory entry");
    // Takes in a file that was saved a moment ago.
    index.refresh(vault, entry);
    const { where, values } = visibleTo(reader);
    const found = statement<StoredEntry>(
      `SELECT * FROM memory_entries e WHERE vault = ? AND entry = ? AND ${where}`,
    ).get(vault, entry, ...values);
    return rowOf(expectFound(found, "memory entry"));
  }
  function findForChange(vault: string, entry: string, reader: Reader): EntryRow {
    const row = find(vault, entry, reader);
    if (!mayChange(row.owner_id, reader))
      throw forbidden("This entry belongs to everybody: only an administrator may change it.");
    return row;
  }
  return { assertVault, find, findForChange };
}

export function createEntries(deps: EntriesDeps) {
  const { store, clock, folder, format, index } = deps;
  const { statement } = store;
  const { assertVault, find, findForChange } = createLookup(deps);

  /** Writes the file, or removes it for null. Its former text is kept as a version. */
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
        toTimestamp(clock.now()),
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
      const all = { ...patch, updated: toTimestamp(clock.now()) };
      return format.update(text, all, body === undefined ? undefined : `\n${body.trim()}\n`);
    } catch {
      throw conflict("The front matter of the entry's file is broken. Fix it in the file.", "entry_broken");
    }
  }
  function add(vault: string, input: NewEntry, writer: Writer): EntryRow {
    const { type = "note", title, content, supersedes } = input;
    const { n } = statement<{ n: number }>("SELECT count(*) AS n FROM memory_entries WHERE vault = ?").get(vault)!;
    if (n >= MAX_ENTRIES_PER_VAULT) throw conflict(`The vault holds ${n} entries, which is the limit.`, "vault_full");
    const reader: Reader = { all: false, userId: input.owner ?? undefined };
    const old = supersedes === undefined ? undefined : findForSupersede(vault, supersedes, reader);
    const entry = freeName(folder, vault, `${type}/${slugOf(title)}`);
    const text = format.update("", fieldsOf({ ...input, type }, toTimestamp(clock.now())), `\n${content.trim()}\n`);
    if (input.owner !== null) deps.assertRoom(Buffer.byteLength(text), input.owner);
    // A deleted entry may have had this name. Its score was kept so that its deletion could be undone; the new entry
    // must not get it.
    store.write(() => statement("DELETE FROM memory_scores WHERE vault = ? AND entry = ?").run(vault, entry));
    save(vault, entry, text, writer);
    // An unconfirmed entry cannot supersede a confirmed one.
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
    find,
    findForChange,
    add,
    change,
    save,
    undo,
    /** Resolves when all entries written so far are on the disk. A request that writes an entry answers after that. */
    written: folder.written,
    /** Digest of the file as it is now; null when there is none. */
    fileDigest(vault: string, entry: string): string | null {
      const file = folder.read(pathOf(vault, entry));
      return file ? digestOf(file.text) : null;
    },
    /** Removes a deleted user's private entries with their versions and scores. Joins the deleting transaction. */
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
  };
}

function freeName(folder: Pick<TextFolder, "read">, vault: string, base: string): string {
  for (let n = 1; ; n++) {
    const name = n === 1 ? base : `${base}-${n}`;
    if (!folder.read(pathOf(vault, name))) return name;
  }
}

/** The front matter of a new entry. */
const fieldsOf = (input: NewEntry, now: string): Record<string, unknown> => ({
  title: input.title.trim(),
  type: input.type,
  tags: [...new Set(input.tags)],
  created: now,
  updated: now,
  origin: input.origin,
  ...(input.links?.length ? { links: input.links } : {}),
  ...(input.owner === null ? {} : { owner: input.owner }),
  ...(input.supersedes === undefined ? {} : { supersedes: input.supersedes }),
  ...(input.expires_at ? { expires: input.expires_at } : {}),
  ...(input.pinned ? { pinned: input.pinned } : {}),
  trusted: input.trusted,
});
