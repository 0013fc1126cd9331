/**
 * A project's graph on disk. Each index is a generation folder, written aside; `manifest.json` names the current one
 * and is replaced in one rename, so readers see the old graph or the new, never half. All of it can be rebuilt.
 */

import { randomUUID } from "node:crypto";
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { ownJson } from "../../core/own-json.ts";
import type { SkippedFile } from "../index/walk.ts";
import { FACTS_VERSION } from "../language/fact-layout.ts";
import { shareExactReferences } from "../scip/exact-references.ts";
import { SNAPSHOT_FORMAT } from "./snapshot.ts";

/** What is known about the current graph without opening it. */
export interface Manifest {
  /** Versions of manifest, snapshot and facts, joined: another one means rebuild. */
  format: string;
  generation: number;
  /** Milliseconds since 1970. */
  indexedAt: number;
  durationMs: number;
  /** Commit the working tree was on; "" outside git. */
  commit: string;
  /** Hash over the listed files' paths, sizes and times, and over configuration files. */
  fingerprint: string;
  files: number;
  nodes: number;
  relationships: number;
  communities: number;
  processes: number;
  byLabel: Record<string, number>;
  byType: Record<string, number>;
  languages: Record<string, number>;
  /** The first of them; `skippedCount` counts all. */
  skipped: SkippedFile[];
  skippedCount: number;
  failed: { path: string; error: string }[];
  unread: Unread;
  /** Files whose calls a compiler knows, by a SCIP index, and how many edges come from it. */
  exact: { files: number; calls: number };
  /** Hash of the snapshot. */
  checksum: string;
}

/** Lines that a parser could not read, over all files. */
export interface Unread {
  /** Files with such lines, and how many lines in all. */
  files: number;
  lines: number;
  /** Their share of all lines, 0–1. */
  share: number;
  /** Files with most of them first. */
  worst: { path: string; lines: number; of: number }[];
}

const MANIFEST_FORMAT = 4;
const FORMAT = `${MANIFEST_FORMAT}.${SNAPSHOT_FORMAT}.${FACTS_VERSION}`;

/** What names of folders begin with that an index needs for a while, and how long one may be in use, ms. */
const SCRATCH = "new-";
const SCRATCH_MS = 24 * 60 * 60_000;

export const checksumOf = (bytes: Uint8Array): string => Bun.hash(bytes).toString(36);

export interface Generation {
  folder: string;
  snapshot: string;
  kuzu: string;
}

/** Its files are removed when it is disposed of; there is no folder before the first. */
export interface Scratch extends Disposable {
  /** The path of another file, which is not there yet. */
  newPath(): string;
}

export interface GraphStore {
  /** Where all generations are. */
  folder: string;
  /** The current manifest; undefined when there is none that this version can use. */
  manifest(): Manifest | undefined;
  current(): Generation | undefined;
  /** The current generation's snapshot as it was written; undefined when it is gone or damaged. */
  snapshot(): Uint8Array | undefined;
  /** A new, empty generation folder beside the current one. */
  begin(): Generation & { number: number };
  /** A place for files that a generation is made of. */
  scratch(): Scratch;
  /** Makes a generation the current one and removes the others. */
  commit(generation: Generation & { number: number }, manifest: Omit<Manifest, "format" | "generation">): Manifest;
  /**
   * Takes over the current generation of another store if this one has none. Its files never change, so they are
   * linked, not copied. If that fails, the folder is indexed again.
   */
  seedFrom(other: string): void;
  /** Removes a generation that will not be used. */
  discard(generation: Generation): void;
}

function generationAt(root: string, number: number): Generation & { number: number } {
  const folder = join(root, `g${number}`);
  const at = (name: string) => join(folder, name);
  return {
    number,
    folder,
    snapshot: at("graph.bin"),
    kuzu: at("graph.kuzu"),
  };
}

/** The store in a folder, which the first generation makes: a question after it was removed does not bring it back. */
export function createGraphStore(root: string): GraphStore {
  const manifestPath = join(root, "manifest.json");

  let lastRead: { stamp: string; manifest: Manifest } | undefined;

  /** Asked before every answer: the text is parsed again only when the file is another one. */
  function manifest(): Manifest | undefined {
    try {
      const { ino, mtimeMs, size } = statSync(manifestPath);
      const stamp = `${ino} ${mtimeMs} ${size}`;
      if (lastRead?.stamp !== stamp)
        lastRead = { stamp, manifest: ownJson<Manifest>(readFileSync(manifestPath, "utf8")) };
      const { manifest: read } = lastRead;
      if (read.format !== FORMAT || !existsSync(generationAt(root, read.generation).snapshot)) return undefined;
      return read;
    } catch {
      return undefined;
    }
  }

  const begin: GraphStore["begin"] = () => {
    mkdirSync(root, { recursive: true });
    const numbers = readdirSync(root).flatMap((name) => (/^g\d+$/.test(name) ? [Number(name.slice(1))] : []));
    const generation = generationAt(root, Math.max(0, ...numbers) + 1);
    mkdirSync(generation.folder);
    return generation;
  };

  const scratch: GraphStore["scratch"] = () => {
    const folder = join(root, `${SCRATCH}${randomUUID()}`);
    let files = 0;
    dropLeftScratch();
    return {
      newPath() {
        mkdirSync(folder, { recursive: true });
        return join(folder, `${files++}.bin`);
      },
      [Symbol.dispose]() {
        if (files > 0) rmSync(folder, { recursive: true, force: true });
      },
    };
  };

  /** Removes what indexes left that were killed. */
  function dropLeftScratch(): void {
    if (!existsSync(root)) return;
    for (const name of readdirSync(root)) {
      const made = name.startsWith(SCRATCH) ? statSync(join(root, name), { throwIfNoEntry: false }) : undefined;
      if (made && Date.now() - made.mtimeMs > SCRATCH_MS) rmSync(join(root, name), { recursive: true, force: true });
    }
  }

  const commit: GraphStore["commit"] = (generation, fields) => {
    const next: Manifest = { ...fields, format: FORMAT, generation: generation.number };
    const aside = `${manifestPath}.${generation.number}`;
    writeFileSync(aside, JSON.stringify(next));
    renameSync(aside, manifestPath);
    for (const name of readdirSync(root)) {
      if (/^g\d+$/.test(name) && Number(name.slice(1)) < generation.number)
        rmSync(join(root, name), { recursive: true, force: true });
    }
    return next;
  };

  const discard: GraphStore["discard"] = (generation) => rmSync(generation.folder, { recursive: true, force: true });

  return {
    folder: root,
    manifest,
    current() {
      const known = manifest();
      return known && generationAt(root, known.generation);
    },
    snapshot() {
      const known = manifest();
      if (!known) return undefined;
      try {
        const bytes = readFileSync(generationAt(root, known.generation).snapshot);
        return checksumOf(bytes) === known.checksum ? bytes : undefined;
      } catch {
        return undefined;
      }
    },
    begin,
    scratch,
    commit,
    discard,
    seedFrom(other) {
      if (manifest()) return;
      const source = createGraphStore(other);
      const [known, files] = [source.manifest(), source.current()];
      if (!known || !files) return;
      const { number, ...own } = begin();
      try {
        for (const entry of readdirSync(files.folder, { withFileTypes: true }))
          if (entry.isFile() && !entry.name.startsWith(basename(files.kuzu)))
            linkSync(join(files.folder, entry.name), join(own.folder, entry.name));
        shareExactReferences(other, root);
        commit({ number, ...own }, known);
      } catch {
        discard(own);
      }
    },
  };
}
