/**
 * The archive of a project: a gzipped tar with few files of fixed names. The first is a manifest with sizes and
 * digests. Archives come from strangers: only files with these names are read, each once, and nothing is written to the
 * disk, so no path or link in an archive can lead anywhere.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import type { Static, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { extract, pack } from "tar-stream";
import { isProblem, messageOf, Problem } from "../../core/errors.ts";
import { readJson } from "../../core/json-reader.ts";
import { LIMITS } from "../../core/limits.ts";
import { takeTurns } from "../../core/turns.ts";
import { FORMAT, FORMAT_VERSION, Manifest } from "./model.ts";

const MANIFEST = "manifest.json";
const README = `An archive of a project of Skep. Read it into another server: skep projects import FILE

project.json      name, repository, vision, board
policy.json       who does what kind of work
environment.json  what sandboxes are started with
tasks.ndjson      the board, a task a line
runs.ndjson       what was done, a run a line, to be read: an import leaves it out
secrets.json      sealed by a passphrase; only where somebody asked for it
`;
/** Names that an archive may hold, in their order. */
const FILES = [
  "README.txt",
  "project.json",
  "policy.json",
  "environment.json",
  "tasks.ndjson",
  "runs.ndjson",
  "secrets.json",
] as const;
export type FileName = (typeof FILES)[number];
const isFileName = (name: string): name is FileName => FILES.some((one) => one === name);

/** Bytes of the tar format itself: headers and padding. */
const TAR_BYTES = 64 * 1024;
const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

export const badArchive = (why: string): Problem =>
  new Problem(422, "bad_archive", `This is no archive of a project that can be read: ${why}.`);

/** @throws Problem 422 when the project exceeds what an archive may hold. */
export async function packArchive(
  files: ReadonlyMap<FileName, string>,
  about: { skep: string; created_at: string },
): Promise<Uint8Array> {
  const all = new Map<string, Buffer>([["README.txt", Buffer.from(README)]]);
  for (const name of FILES) {
    const text = files.get(name);
    if (text !== undefined) all.set(name, Buffer.from(text));
  }
  const size = [...all.values()].reduce((sum, { byteLength }) => sum + byteLength, 0);
  if (size > LIMITS.projectArchiveBytes)
    throw new Problem(
      422,
      "project_too_large",
      `The project has ${size} bytes of text; an archive holds ${LIMITS.projectArchiveBytes}.`,
    );
  const manifest: Manifest = {
    format: FORMAT,
    version: FORMAT_VERSION,
    ...about,
    files: [...all].map(([path, bytes]) => ({ path, bytes: bytes.byteLength, sha256: sha256(bytes) })),
  };
  const tar = pack();
  const mtime = new Date(0);
  tar.entry({ name: MANIFEST, mtime }, `${JSON.stringify(manifest, null, 2)}\n`);
  for (const [name, bytes] of all) tar.entry({ name, mtime }, bytes);
  tar.finalize();
  const gzip = createGzip();
  const [packed] = await Promise.all([buffer(gzip), pipeline(tar, gzip)]);
  return packed;
}

/** @param file path of the gzipped archive. @throws Problem 422 `bad_archive`. */
export async function readArchive(file: string): Promise<Map<FileName, string>> {
  try {
    return verifyEntries(await entriesOf(file));
  } catch (error) {
    if (isProblem(error)) throw error;
    throw badArchive(messageOf(error).slice(0, 200));
  }
}

async function entriesOf(file: string): Promise<Map<string, Buffer>> {
  const archive = extract();
  const entries = new Map<string, Buffer>();
  let left: number = LIMITS.projectArchiveBytes;
  const read = async () => {
    for await (const entry of archive) {
      const { name, type, size = 0 } = entry.header;
      if (type !== "file") throw badArchive(`${JSON.stringify(name.slice(0, 100))} is no plain file but a ${type}`);
      if (name !== MANIFEST && !isFileName(name))
        throw badArchive(`it holds a file that does not belong there, ${JSON.stringify(name.slice(0, 100))}`);
      if (entries.has(name)) throw badArchive(`it holds ${name} twice`);
      if (entries.size === 0 && name !== MANIFEST) throw badArchive("it does not begin with its manifest");
      left -= size;
      if (left < 0) throw badArchive(`it holds more than ${LIMITS.projectArchiveBytes} bytes`);
      entries.set(name, await buffer(entry));
    }
  };
  /** Limits the unpacked bytes, whatever sizes the entries' headers claim. */
  async function* boundBytes(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let size = 0;
    for await (const piece of bytes) {
      size += piece.byteLength;
      if (size > LIMITS.projectArchiveBytes + TAR_BYTES)
        throw badArchive(`it holds more than ${LIMITS.projectArchiveBytes} bytes`);
      yield piece;
    }
  }
  const reading = read().catch((error: unknown) => {
    // Stops the unpacking as well.
    archive.destroy();
    throw error;
  });
  const [unpacked, taken] = await Promise.allSettled([
    pipeline(createReadStream(file), createGunzip(), boundBytes, archive),
    reading,
  ]);
  if (taken.status === "rejected" && isProblem(taken.reason)) throw taken.reason;
  if (unpacked.status === "rejected") throw unpacked.reason;
  if (taken.status === "rejected") throw taken.reason;
  return entries;
}

function verifyEntries(entries: Map<string, Buffer>): Map<FileName, string> {
  const head = entries.get(MANIFEST);
  if (!head) throw badArchive("it has no manifest");
  const manifest = parse(Manifest, head.toString("utf8"), MANIFEST);
  if (manifest.version > FORMAT_VERSION)
    throw badArchive(`it is of form ${manifest.version}, this Skep reads up to ${FORMAT_VERSION}. Update Skep`);
  const files = new Map<FileName, string>();
  for (const { path, bytes, sha256: digest } of manifest.files) {
    const content = entries.get(path);
    if (!isFileName(path) || !content) throw badArchive(`${JSON.stringify(path)} is missing`);
    if (content.byteLength !== bytes || sha256(content) !== digest)
      throw badArchive(`${path} is not what the manifest says: it was changed or cut`);
    try {
      files.set(path, new TextDecoder("utf-8", { fatal: true }).decode(content));
    } catch {
      throw badArchive(`${path} is not UTF-8 text`);
    }
  }
  for (const name of entries.keys())
    if (name !== MANIFEST && !(isFileName(name) && files.has(name)))
      throw badArchive(`the manifest does not name ${name}`);
  return files;
}

/** @throws Problem 422 `bad_archive`. */
export function parse<S extends TSchema>(schema: S, text: string, name: string): Static<S> {
  let value: unknown;
  try {
    value = readJson(text);
  } catch (error) {
    throw badArchive(`${name}: ${messageOf(error).slice(0, 200)}`);
  }
  if (Value.Check(schema, value)) return value;
  const [first] = Value.Errors(schema, value);
  throw badArchive(`${name}: ${first?.path || "/"}: ${first?.message ?? "it has another form"}`);
}

/** Parses lines of JSON. @throws Problem 422 `bad_archive`. */
export async function parsedLines<S extends TSchema>(
  schema: S,
  text: string,
  name: string,
  most: number,
): Promise<Static<S>[]> {
  const rows: Static<S>[] = [];
  const turn = takeTurns();
  for (const [at, line] of text.split("\n").entries()) {
    if (line === "") continue;
    if (rows.length >= most) throw badArchive(`${name} holds more than ${most} lines`);
    rows.push(parse(schema, line, `${name}, line ${at + 1}`));
    await turn();
  }
  return rows;
}
