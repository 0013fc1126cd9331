/**
 * Installs the shipped agents, skills and pipelines into the data folder at the first start. Later versions add new
 * files and update those that nobody edited. A file that was edited or deleted stays that way.
 */

import { createHash } from "node:crypto";
import { ownJson } from "../core/own-json.ts";
import type { Store } from "./store.ts";
import { facts } from "./tables/foundation.ts";
import type { TextFile, TextFolder } from "./text-folder.ts";

/** Path below the agents folder → content. */
export type ShippedFiles = Readonly<Record<string, string>>;

const FACT = "shipped_files";
const digest = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Parses a fact that this program wrote. If it is not JSON, a page of the database was overwritten. */
function parseFacts(value: string): Record<string, string> {
  try {
    return ownJson<Record<string, string>>(value);
  } catch (cause) {
    throw Object.assign(new Error("a stored fact is not JSON", { cause }), { code: "SQLITE_CORRUPT" });
  }
}

/**
 * Writes files that are missing or must be updated. A first start does not sync each file to disk; `note` does that
 * later.
 */
export function installShipped(store: Store, folder: TextFolder, files: ShippedFiles) {
  const rows = store.rows(facts);
  const row = rows.find({ name: FACT });
  /** Path → digest of the version last shipped there. */
  const known = new Map(Object.entries(row ? parseFacts(row.value) : {}));
  const written: string[] = [];
  for (const [path, text] of Object.entries(files)) {
    const wasCutOff = row === undefined && isCutOff(folder.read(path), text);
    if (wasCutOff || shouldWrite(path, text, known, folder)) {
      folder.write(path, text, { synced: row !== undefined });
      written.push(path);
    }
    known.set(path, digest(text));
  }
  const value = JSON.stringify(Object.fromEntries(known));
  return {
    /** The paths written, in order. */
    written,
    /**
     * Records what was shipped, once the files are on disk. If the first start does not get that far, the next one
     * rewrites files that a power failure truncated. Later versions sync each file before they continue.
     */
    async note(): Promise<void> {
      if (value === row?.value) return;
      for (const path of written) await folder.sync(path);
      store.write(() => rows.put({ name: FACT, value }, ["name"]));
    },
  };
}

/**
 * Whether the file is truncated: it holds only a beginning of the text, as after a power failure during the first
 * start.
 */
const isCutOff = (present: TextFile | undefined, text: string): boolean =>
  present !== undefined && !present.problem && present.text.length < text.length && text.startsWith(present.text);

function shouldWrite(path: string, text: string, known: ReadonlyMap<string, string>, folder: TextFolder): boolean {
  const shipped = known.get(path);
  const present = folder.read(path);
  if (shipped === undefined) return present === undefined && !isOfDeletedAgent(path, known, folder);
  return present !== undefined && present.text !== text && digest(present.text) === shipped;
}

/** A new file of an agent that the user deleted would restore a part of that agent. */
function isOfDeletedAgent(path: string, known: ReadonlyMap<string, string>, folder: TextFolder): boolean {
  const own = `${path.split("/")[0]}/AGENT.md`;
  return path !== own && known.has(own) && folder.read(own) === undefined;
}
