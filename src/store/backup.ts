/**
 * Packs a data folder into one archive, also while its server runs: first a copy of the database at one moment, then
 * the files. Files are stored before the database refers to them, so copying the database first makes every file it
 * names available.
 */
import {
  accessSync,
  closeSync,
  constants,
  createReadStream,
  createWriteStream,
  existsSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { extract, pack } from "tar-stream";
import { codeOf, messageOf, Problem, unavailable } from "../core/errors.ts";
import { BUILD } from "../core/version.ts";
import { openFolder } from "../working-copy/folder.ts";
import { addPacked, bytesOfTree, isLinkOfBackup, type Packed, packFile, packTree } from "./pack-tree.ts";
import { shortDatabase } from "./short-database.ts";
import { verifyBackup } from "./verify-backup.ts";

const DATABASE = "skep.db";
/** The first entry of every archive; it says what the archive is. */
const LABEL = "backup.json";
const KEYS = "keys";
const PARTS = [KEYS, "agents", "vaults", "uploads", "mcp", "projects", "workspaces"];

export interface BackupReport extends Packed {
  /** Whether the archive holds the keys that are needed to read its secrets. */
  keys: boolean;
}

interface BackupOptions {
  /** Leaves the keys out, so that the archive alone does not disclose its secrets. */
  withoutKeys: boolean;
  progress?(report: BackupReport): void;
}

const createProblem = (code: string, detail: string) => new Problem(422, code, detail);

const FULL = /^(ENOSPC|EDQUOT|SQLITE_FULL)$/;
const DENIED = /^(EACCES|EPERM|EROFS|SQLITE_(READONLY|CANTOPEN|PERM)\w*)$/;
/** Codes for a lack of open files or memory. */
const SHORT = /^(EMFILE|ENFILE|ENOMEM|SQLITE_NOMEM)$/;
const DISK = /^(EIO|SQLITE_IOERR\w*)$/;

/**
 * Converts an error of the operating system to a problem with a remedy; other errors are returned unchanged.
 * @param what says what failed, e.g. "The backup cannot be written".
 */
function storageFailure(error: unknown, what: string): unknown {
  const code = codeOf(error);
  if (error instanceof Problem || code === undefined) return error;
  const why = `${what}: ${messageOf(error).replace(/\.$/, "")}`;
  if (FULL.test(code))
    return new Problem(507, "disk_full", `${why}. The disk is full: free about as much as the data folder takes.`);
  if (DENIED.test(code)) return createProblem("not_permitted", `${why}. Check who may read and write there.`);
  if (SHORT.test(code))
    return unavailable("system_busy", `${why}. The system is short of memory or open files: try again later.`);
  if (DISK.test(code))
    return new Problem(500, "disk_failed", `${why}. See the system's log for what is wrong with the disk.`);
  return error;
}

/** Like `storageFailure`, for creating a folder: then the missing one is its parent. */
function folderFailure(error: unknown, what: string): unknown {
  if (!/^(ENOENT|ENOTDIR|EEXIST|ELOOP|ENAMETOOLONG)$/.test(codeOf(error) ?? "")) return storageFailure(error, what);
  return createProblem("no_folder", `${what}: ${messageOf(error).replace(/\.$/, "")}. Name a folder that exists.`);
}

/** @throws Problem 422 when this user may not look into the folder. */
function assertReadable(data: string): void {
  try {
    accessSync(data, constants.R_OK | constants.X_OK);
  } catch (error) {
    if (codeOf(error) === "EACCES")
      throw createProblem("no_data", `${data} cannot be read by this user. Run the command as the user of the server.`);
  }
}

/**
 * Writes a gzipped tar that only its owner can read. It gets its final name only when it is complete and was read back.
 * @throws Problem 422 when the folder has no database, or the file exists or may not be written; 507 `disk_full`, 500
 *   `disk_failed`, `backup_damaged`.
 */
export async function writeBackup(data: string, file: string, options: BackupOptions): Promise<BackupReport> {
  assertReadable(data);
  if (!existsSync(join(data, DATABASE)))
    throw createProblem("no_data", `${data} is not a data folder: there is no ${DATABASE} in it. Name it with --data.`);
  if (existsSync(file)) throw createProblem("exists", `${file} already exists. Name another file, or remove it.`);
  const aside = scratchBeside(file);
  try {
    copyDatabase(join(data, DATABASE), join(aside, DATABASE));
    const draft = join(aside, "archive");
    const report = await packFiles(data, join(aside, DATABASE), draft, options);
    await verifyBackup(draft, LABEL, { database: join(aside, DATABASE), name: DATABASE, files: report.files });
    const descriptor = openSync(draft, "r");
    fsyncSync(descriptor);
    closeSync(descriptor);
    renameSync(draft, file);
    return report;
  } catch (error) {
    throw storageFailure(error, "The backup cannot be written");
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}

/** Size in bytes of the content that a backup will hold; later changes are not counted. */
export async function bytesToPack(data: string, { withoutKeys }: Pick<BackupOptions, "withoutKeys">): Promise<number> {
  let bytes = statSync(join(data, DATABASE), { throwIfNoEntry: false })?.size ?? 0;
  for (const part of PARTS) if (part !== KEYS || !withoutKeys) bytes += await bytesOfTree(data, part);
  return bytes;
}

/** @throws Problem as `writeBackup`. */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw folderFailure(error, `${path} cannot be made`);
  }
}

function scratchBeside(file: string): string {
  try {
    return mkdtempSync(join(dirname(resolve(file)), `.${basename(file)}-`));
  } catch (error) {
    throw folderFailure(error, `${dirname(resolve(file))} cannot be written`);
  }
}

function copyDatabase(from: string, to: string): void {
  try {
    using db = shortDatabase(from, { fileMustExist: true });
    db.prepare("VACUUM INTO ?").run(to);
  } catch (error) {
    if (!/^SQLITE_(CORRUPT|NOTADB)/.test(codeOf(error) ?? "")) throw error;
    throw createProblem(
      "database_unreadable",
      `The database could not be copied: ${messageOf(error)}. See: skep doctor`,
    );
  }
}

async function packFiles(data: string, database: string, draft: string, options: BackupOptions): Promise<BackupReport> {
  const archive = pack();
  const report: BackupReport = { files: 0, bytes: 0, left_out: [], keys: !options.withoutKeys };
  const count = (added: Packed) => {
    addPacked(report, added);
    options.progress?.(report);
  };
  const written = pipeline(
    archive as unknown as Readable,
    createGzip({ level: 6 }),
    createWriteStream(draft, { mode: 0o600 }),
  );
  const fill = async () => {
    const label = { format: 1, version: BUILD.version, made_at: new Date().toISOString(), keys: report.keys };
    archive.entry({ name: LABEL, mode: 0o600 }, `${JSON.stringify(label)}\n`);
    using aside = openFolder(dirname(database));
    count(await packFile(archive, aside, basename(database), DATABASE));
    for (const part of PARTS) if (part !== KEYS || !options.withoutKeys) await packTree(archive, data, part, count);
    archive.finalize();
  };
  try {
    await Promise.all([written, fill()]);
  } catch (error) {
    archive.destroy();
    await written.catch(() => {});
    throw error;
  }
  return report;
}

/**
 * Restores a backup into an empty or missing folder. Links are created last, and only those that a backup may hold, so
 * that nothing is written through a link.
 * @throws Problem 422 when the folder is not empty, or the file is not a complete backup; then the folder stays empty.
 */
export async function restoreBackup(file: string, data: string): Promise<BackupReport> {
  if (!existsSync(file)) throw createProblem("unreadable", `There is no file ${file}.`);
  if (existsSync(data) && readdirSync(data).length > 0)
    throw createProblem("not_empty", `${data} is not empty. Restore into a new folder, or move this one aside first.`);
  const report: BackupReport = { files: 0, bytes: 0, left_out: [], keys: false };
  const links: { path: string; to: string }[] = [];
  let isLabelled = false;
  const wasThere = existsSync(data);
  mkdirSync(data, { recursive: true, mode: 0o700 });
  try {
    const archive = extract();
    const read = pipeline(createReadStream(file), createGunzip(), archive);
    const unpack = async () => {
      for await (const entry of archive) {
        const { name, type, mode, linkname, size } = entry.header;
        if (name === LABEL) isLabelled = true;
        else if (!isLabelled) throw createProblem("no_backup", `${file} is not a backup of Skep.`);
        else {
          const path = placeOf(data, name);
          if (type === "directory") mkdirSync(path, { recursive: true, mode: 0o700 });
          else if (type === "symlink" && isLinkOfBackup(name, linkname ?? ""))
            links.push({ path: name, to: linkname ?? "" });
          else if (type !== "file") throw notOurs();
          else {
            mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
            await pipeline(entry, createWriteStream(path, { flags: "wx", mode: (mode ?? 0o600) & 0o700 }));
            report.files += 1;
            report.bytes += size ?? 0;
            report.keys ||= name.startsWith(`${KEYS}/`);
            continue;
          }
        }
        entry.resume();
      }
    };
    await Promise.all([read, unpack()]);
    assertDatabase(join(data, DATABASE), file);
    makeLinks(data, links);
    return report;
  } catch (error) {
    for (const name of readdirSync(data)) rmSync(join(data, name), { recursive: true, force: true });
    if (!wasThere) rmSync(data, { recursive: true, force: true });
    const failure = storageFailure(error, "The backup cannot be restored");
    if (failure instanceof Problem) throw failure;
    throw createProblem(
      "no_backup",
      `${file} is not a whole backup of Skep (${reasonOf(error)}). Nothing was restored.`,
    );
  }
}

/** @throws Problem for a name that leads outside the folder, or that no backup contains. */
function placeOf(data: string, name: string): string {
  const segments = name.replace(/\/$/, "").split("/");
  const isOurs = name === DATABASE || PARTS.includes(segments[0]!);
  if (!isOurs || segments.some((one) => one === "" || one === "." || one === ".." || one.includes("\0")))
    throw notOurs();
  return join(data, ...segments);
}

const notOurs = () =>
  createProblem("no_backup", "The archive holds a file or link that no backup of Skep holds. Nothing was restored.");

/** Creates the links by descriptors, so that no link is created through another. */
function makeLinks(data: string, links: readonly { path: string; to: string }[]): void {
  using top = openFolder(data);
  for (const { path, to } of links) top.makeLink(path, to);
}

function assertDatabase(path: string, file: string): void {
  if (!existsSync(path)) throw createProblem("no_backup", `${file} holds no database. Nothing was restored.`);
  using db = shortDatabase(path, { readonly: true });
  if (db.pragma("quick_check", { simple: true }) !== "ok")
    throw createProblem("damaged", `The database in ${file} is damaged. Nothing was restored.`);
}

const reasonOf = (error: unknown): string => codeOf(error) ?? messageOf(error);
