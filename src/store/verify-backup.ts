/** Reads a backup back before it is accepted: every file in it, and its database. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import Database from "better-sqlite3";
import { extract } from "tar-stream";
import { messageOf, Problem } from "../core/errors.ts";

interface Expected {
  /** Path of the database that was packed. */
  database: string;
  /** Its name in the archive. */
  name: string;
  /** Number of files besides the label. */
  files: number;
}

const createDamagedProblem = (why: string) =>
  new Problem(
    500,
    "backup_damaged",
    `The backup was written and could not be read again: ${why}. It was not kept. Check the disk, and make it again.`,
  );

/** @param label name of the entry that describes the archive. @throws Problem 500 `backup_damaged`. */
export async function verifyBackup(file: string, label: string, { database, name, files }: Expected): Promise<void> {
  const db = new Database(database, { readonly: true });
  try {
    const [found] = db.prepare<[], string>("PRAGMA integrity_check(1)").pluck().all();
    if (found !== "ok") throw createDamagedProblem(`the database has a fault (${found})`);
  } finally {
    db.close();
  }
  const read = await filesIn(file).catch((error: unknown) => {
    throw createDamagedProblem(messageOf(error));
  });
  if (!read.has(label)) throw createDamagedProblem("it does not say what it is");
  if (read.size - 1 !== files) throw createDamagedProblem(`it holds ${read.size - 1} files instead of ${files}`);
  if (read.get(name) !== (await digestOf(createReadStream(database))))
    throw createDamagedProblem("its database is another");
}

async function digestOf(bytes: AsyncIterable<unknown>): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of bytes) if (chunk instanceof Uint8Array) hash.update(chunk);
  return hash.digest("hex");
}

/** Digests of the files in the archive, by name. */
async function filesIn(file: string): Promise<Map<string, string>> {
  const archive = extract();
  const found = new Map<string, string>();
  const read = async () => {
    for await (const entry of archive)
      if (entry.header.type === "file") found.set(entry.header.name, await digestOf(entry));
      else entry.resume();
  };
  await Promise.all([pipeline(createReadStream(file), createGunzip(), archive), read()]);
  return found;
}
