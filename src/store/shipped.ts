/**
 * Shipped agents, skills and pipelines, put into the data folder at the first start. Later versions add what is new and
 * renew what nobody touched; a file that was edited or deleted stays so.
 */

import { createHash } from "node:crypto";
import { ownJson } from "../core/own-json.ts";
import type { Store } from "./store.ts";
import { facts } from "./tables/foundation.ts";
import type { TextFile, TextFolder } from "./text-folder.ts";

/** Path below the folder of agents → content. */
export type ShippedFiles = Readonly<Record<string, string>>;

const FACT = "shipped_files";
const digest = (text: string): string => createHash("sha256").update(text).digest("hex");

/** What we wrote reads as JSON: where it does not, a page of the database was overwritten. */
function parsed(value: string): Record<string, string> {
  try {
    return ownJson<Record<string, string>>(value);
  } catch (cause) {
    throw Object.assign(new Error("a stored fact is not JSON", { cause }), { code: "SQLITE_CORRUPT" });
  }
}

/** Writes what is missing or to be renewed. A first start does not wait for the disk with each file: `note` does, later. */
export function installShipped(store: Store, folder: TextFolder, files: ShippedFiles) {
  const rows = store.rows(facts);
  const row = rows.find({ name: FACT });
  /** Path → digest of what was shipped there last. */
  const known = new Map(Object.entries(row ? parsed(row.value) : {}));
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
     * Notes what was shipped, once that is on the disk. When the first start does not get that far, the next one writes
     * files that the loss of power cut off once more; later versions write each file whole before they go on.
     */
    async note(): Promise<void> {
      if (value === row?.value) return;
      for (const path of written) await folder.sync(path);
      store.write(() => rows.put({ name: FACT, value }, ["name"]));
    },
  };
}

/** Whether it is a beginning of that text, which the loss of power during the first start leaves of a file. */
const isCutOff = (present: TextFile | undefined, text: string): boolean =>
  present !== undefined && !present.problem && present.text.length < text.length && text.startsWith(present.text);

function shouldWrite(path: string, text: string, known: ReadonlyMap<string, string>, folder: TextFolder): boolean {
  const shipped = known.get(path);
  const present = folder.read(path);
  if (shipped === undefined) return present === undefined && !isOfDeletedAgent(path, known, folder);
  return present !== undefined && present.text !== text && digest(present.text) === shipped;
}

/** A new file for an agent that the user has deleted would bring back half of it. */
function isOfDeletedAgent(path: string, known: ReadonlyMap<string, string>, folder: TextFolder): boolean {
  const own = `${path.split("/")[0]}/AGENT.md`;
  return path !== own && known.has(own) && folder.read(own) === undefined;
}
