/**
 * A project's graph on disk. Each index is written to a new generation folder. `manifest.json` names the current
 * generation and is replaced by one rename, so readers see either the old graph or the new one. All of it can be built
 * again.
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

/** What is known of the current graph without opening it. */
export interface Manifest {
  /** Versions of manifest, snapshot and facts, joined. If it differs, the graph is built again. */
  format: string;
  generation: number;
  /** Milliseconds since 1970. */
  indexedAt: number;
  durationMs: number;
  /** Commit of the working tree; "" outside git. */
  commit: string;
  /**
   * A hash of all that the index depends on: paths, sizes and times of files, configuration files, exact references.
   */
  fingerprint: string;
  files: number;
  nodes: number;
  relationships: number;
  communities: number;
  processes: number;
  byLabel: Record<string, number>;
  byType: Record<string, number>;
  languages: Record<string, number>;
  /** The first skipped files. `skippedCount` counts all. */
  skipped: SkippedFile[];
  skippedCount: number;
  failed: { path: string; error: string }[];
  unread: Unread;
  /** How many files have their calls from a SCIP index, and how many of the graph's calls that index gave. */
  exact: { files: number; calls: number };
  /** Hash of the snapshot. */
  checksum: string;
}

/** The lines that parsers could not read, in all files. */
export interface Unread {
  /** How many files have such lines, and how many lines there are. */
  files: number;
  lines: number;
  /** Share of these lines among all lines, 0–1. */
  share: number;
  /** Files with such lines, those with the most first. */
  worst: { path: string; lines: number; of: number }[];
}

const MANIFEST_FORMAT = 4;
const FORMAT = `${MANIFEST_FORMAT}.${SNAPSHOT_FORMAT}.${FACTS_VERSION}`;

/** Prefix of folders that an index job needs temporarily, and the age from which one counts as left behind, ms. */
const SCRATCH = "new-";
const SCRATCH_MS = 24 * 60 * 60_000;

export const checksumOf = (bytes: Uint8Array): string => Bun.hash(bytes).toString(36);

export interface Generation {
  folder: string;
  snapshot: string;
  kuzu: string;
}

/** Temporary files of an index job, removed when this is disposed of. The folder is created with the first file. */
export interface Scratch extends Disposable {
  /** The path of a new file, which does not exist yet. */
  newPath(): string;
}

export interface GraphStore {
  /** The folder that holds all generations. */
  folder: string;
  /** The current manifest; undefined if there is none that this version can use. */
  readManifest(): Manifest | undefined;
  current(): Generation | undefined;
  /** The current generation's snapshot, as it was written; undefined if it is missing or damaged. */
  snapshot(): Uint8Array | undefined;
  /** Creates an empty generation folder beside the current one. */
  begin(): Generation & { number: number };
  /** A place for temporary files from which a generation is made. */
  createScratch(): Scratch;
  /** Makes a generation the current one and removes older ones. */
  commit(generation: Generation & { number: number }, manifest: Omit<Manifest, "format" | "generation">): Manifest;
  /**
   * Adopts the current generation of another store, if this one has none. The files never change, so they are hard
   * links, not copies. If linking fails, the folder must be indexed anew.
   */
  seedFrom(other: string): void;
  /** Removes a generation that is not used. */
  discard(generation: Generation): void;
}

function generationAt(root: string, number: number): Generation & { number: number } {
  const folder = join(root, `g${number}`);
  const joinFolder = (name: string) => join(folder, name);
  return {
    number,
    folder,
    snapshot: joinFolder("graph.bin"),
    kuzu: joinFolder("graph.kuzu"),
  };
}

/**
 * Opens the store in a folder. Only an index job creates the folder, so that a question does not bring back a removed
 * store.
 */
export function createGraphStore(root: string): GraphStore {
  const manifestPath = join(root, "manifest.json");

  let lastRead: { stamp: string; manifest: Manifest } | undefined;

  /** Called before every answer, so the file is parsed again only if it changed. */
  function readManifest(): Manifest | undefined {
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

  const createScratch: GraphStore["createScratch"] = () => {
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

  /** Removes folders that killed index jobs left behind. */
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
    readManifest,
    current() {
      const known = readManifest();
      return known && generationAt(root, known.generation);
    },
    snapshot() {
      const known = readManifest();
      if (!known) return undefined;
      try {
        const bytes = readFileSync(generationAt(root, known.generation).snapshot);
        return checksumOf(bytes) === known.checksum ? bytes : undefined;
      } catch {
        return undefined;
      }
    },
    begin,
    createScratch,
    commit,
    discard,
    seedFrom(other) {
      if (readManifest()) return;
      const source = createGraphStore(other);
      const [known, files] = [source.readManifest(), source.current()];
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
