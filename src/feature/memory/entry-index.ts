/** Indexes the vaults' files: one row per entry, and its paragraphs for full-text search. The files are the truth. */

import { ownJson } from "../../core/own-json.ts";
import { NO_PROJECTS } from "../../core/ownership.ts";
import type { Store } from "../../store/store.ts";
import type { TextFolder } from "../../store/text-folder.ts";
import { buildReadCondition, WHOSE } from "../../store/whose.ts";
import { digestOf, type EntryFields, type FrontMatterFormat, isEntryPath, readEntry, unitsOf } from "./entry-file.ts";
import type { MemoryEntry } from "./model.ts";

/** The fields of an entry that its row holds. */
export interface EntryRow extends EntryFields {
  vault: string;
  entry: string;
  digest: string;
  size_bytes: number;
}

/** Whose entries a reader sees. Administrators see `all`; others see everybody's entries and their user's own. */
export type Reader =
  | { all: true }
  | {
      all: false;
      userId: string | undefined;
      /**
       * Which unconfirmed entries the reader sees: only its user's own (if the server has users), none, or all if
       * absent.
       */
      unconfirmed?: "own" | "none";
    };

export type EntryIndex = ReturnType<typeof createEntryIndex>;

interface EntryKey {
  vault: string;
  entry: string;
}

export interface StoredEntry extends Omit<EntryRow, "trusted" | "pinned" | "tags" | "links" | "origin"> {
  trusted: number;
  pinned: number;
  tags: string;
  links: string;
  origin: string;
}

export const rowOf = (stored: StoredEntry): EntryRow => ({
  ...stored,
  trusted: stored.trusted === 1,
  pinned: stored.pinned === 1,
  tags: ownJson<string[]>(stored.tags),
  links: ownJson<string[]>(stored.links),
  origin: ownJson<MemoryEntry["origin"]>(stored.origin),
});

/**
 * What a reader may see, as an SQL condition with its parameters. The owner of a broken file may be unknown, so only
 * administrators see such a file.
 */
export function visibleTo(reader: Reader): { where: string; values: string[] } {
  if (reader.all) return { where: "1", values: [] };
  const { unconfirmed, userId } = reader;
  const [readableRows, ...values] = buildReadCondition(
    { admin: false, userId, projects: NO_PROJECTS },
    WHOSE.memory_entries,
    "e",
  )!;
  const where = `${readableRows} AND (e.problem IS NULL OR e.owner_id IS NOT NULL)`;
  if (unconfirmed === "none") return { where: `(e.trusted = 1 AND ${where})`, values };
  if (unconfirmed === undefined || userId === undefined) return { where: `(${where})`, values };
  return { where: `((e.trusted = 1 OR e.owner_id IS NOT NULL) AND ${where})`, values };
}

/** How long entries are indexed before other work gets its turn, ms. */
const STRETCH_MS = 4;
const MAX_DEPTH = 3;
const monthOf = (time: string): string =>
  new Date(time).toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });

export function createEntryIndex(store: Store, folder: TextFolder, format: FrontMatterFormat) {
  const { statement } = store;
  const findStored = (vault: string, entry: string) =>
    statement<StoredEntry>("SELECT * FROM memory_entries WHERE vault = ? AND entry = ?").get(vault, entry);

  function removeUnits(vault: string, entry: string): void {
    statement("DELETE FROM memory_text WHERE rowid IN (SELECT id FROM memory_units WHERE vault = ? AND entry = ?)").run(
      vault,
      entry,
    );
    statement("DELETE FROM memory_units WHERE vault = ? AND entry = ?").run(vault, entry);
  }
  function addUnits({ vault, entry, title, tags, type, content, problem, updated_at }: EntryRow): void {
    if (problem !== null) return;
    const about = [type, ...tags, updated_at.slice(0, 10), monthOf(updated_at)].join(" ");
    for (const [position, text] of unitsOf(content).entries()) {
      const { lastInsertRowid } = statement("INSERT INTO memory_units (vault, entry, position) VALUES (?, ?, ?)").run(
        vault,
        entry,
        position,
      );
      statement("INSERT INTO memory_text (rowid, text, title, about) VALUES (?, ?, ?, ?)").run(
        lastInsertRowid,
        text,
        title,
        about,
      );
    }
  }
  function removeContradictions(vault: string, entry: string): void {
    statement("DELETE FROM memory_contradictions WHERE vault = ? AND (a = ? OR b = ?)").run(vault, entry, entry);
  }
  function put(row: EntryRow): void {
    const before = findStored(row.vault, row.entry);
    store.write(() => {
      removeUnits(row.vault, row.entry);
      if (before && (before.content !== row.content || before.title !== row.title))
        removeContradictions(row.vault, row.entry);
      statement(
        `INSERT OR REPLACE INTO memory_entries (vault, entry, title, type, owner_id, trusted, pinned, expires_at,
           superseded_by, tags, links, origin, problem, content, size_bytes, created_at, updated_at, digest)
         VALUES (@vault, @entry, @title, @type, @owner_id, @trusted, @pinned, @expires_at,
           @superseded_by, @tags, @links, @origin, @problem, @content, @size_bytes, @created_at, @updated_at, @digest)`,
      ).run({
        ...row,
        trusted: Number(row.trusted),
        pinned: Number(row.pinned),
        origin: JSON.stringify(row.origin),
        tags: JSON.stringify(row.tags),
        links: JSON.stringify(row.links),
      });
      addUnits(row);
    });
  }
  function drop(vault: string, entry: string): void {
    store.write(() => {
      removeUnits(vault, entry);
      removeContradictions(vault, entry);
      statement("DELETE FROM memory_entries WHERE vault = ? AND entry = ?").run(vault, entry);
    });
  }
  /** Updates the rows of one entry from its file, or removes them if the file is gone. */
  function refresh(vault: string, entry: string): void {
    const file = isEntryPath(entry) ? folder.read(`${vault}/${entry}.md`) : undefined;
    const known = findStored(vault, entry);
    if (!file) {
      if (known) drop(vault, entry);
      return;
    }
    const digest = digestOf(file.problem ?? file.text);
    if (known?.digest === digest) return;
    const fields = readEntry(entry, file.text, file.modifiedAt, format);
    const problem = file.problem ?? fields.problem;
    const size_bytes = Buffer.byteLength(file.text);
    put({ ...fields, problem, trusted: fields.trusted && problem === null, vault, entry, digest, size_bytes });
  }
  function* filesBelow(path: string, depth: number): Generator<string> {
    for (const { name, kind } of folder.list(path)) {
      if (name.startsWith(".")) continue;
      if (kind === "folder" && depth < MAX_DEPTH) yield* filesBelow(`${path}/${name}`, depth + 1);
      else if (kind === "file" && name.endsWith(".md")) yield `${path}/${name}`;
    }
  }
  function* inVaults(): Generator<EntryKey> {
    for (const vault of listVaults())
      for (const path of filesBelow(vault, 1)) yield { vault, entry: path.slice(vault.length + 1, -3) };
  }
  /**
   * Yields the key of each entry whose file is gone, and undefined for each other one, so that the caller can pause in
   * between.
   */
  function* goneOf(known: readonly EntryKey[]): Generator<EntryKey | undefined> {
    for (const key of known) yield folder.read(`${key.vault}/${key.entry}.md`) ? undefined : key;
  }
  /**
   * Refreshes many entries and yields to other work between stretches. Each stretch is one transaction, so it waits for
   * the disk once.
   */
  async function refreshAll(entries: Iterable<EntryKey | undefined>, signal?: AbortSignal): Promise<void> {
    const all = entries[Symbol.iterator]();
    for (let isDone = false; !isDone; await new Promise((next) => setImmediate(next)))
      store.write(() => {
        for (const until = performance.now() + STRETCH_MS; !isDone && performance.now() < until; ) {
          const { value, done } = all.next();
          isDone = done === true || signal?.aborted === true;
          if (!isDone && value) refresh(value.vault, value.entry);
        }
      });
  }
  const listVaults = (): string[] =>
    folder.list("").flatMap(({ name, kind }) => (kind === "folder" && !name.startsWith(".") ? [name] : []));

  return {
    find(vault: string, entry: string): EntryRow | undefined {
      const found = findStored(vault, entry);
      return found && rowOf(found);
    },
    refresh,
    refreshAll,
    /** Refreshes every entry of every vault, including those whose files are gone. */
    async scan(signal?: AbortSignal): Promise<void> {
      await refreshAll(inVaults(), signal);
      const known = statement<EntryKey>("SELECT vault, entry FROM memory_entries").all();
      await refreshAll(goneOf(known), signal);
    },
    /** Folders that hold entries, relative to the vaults. */
    folders(): string[] {
      const found: string[] = [""];
      const walk = (path: string, depth: number): void => {
        for (const { name, kind } of folder.list(path)) {
          if (kind !== "folder" || name.startsWith(".")) continue;
          const below = path === "" ? name : `${path}/${name}`;
          found.push(below);
          if (depth < MAX_DEPTH) walk(below, depth + 1);
        }
      };
      walk("", 1);
      return found;
    },
  };
}
