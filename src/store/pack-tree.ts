/**
 * Packs parts of a data folder into an archive. Agents and tool servers may be writing in their folders meanwhile. So
 * everything is reached by descriptors, no link is followed, and what vanishes or becomes a link is left out.
 */
import { createReadStream } from "node:fs";
import { join, posix } from "node:path";
import type { Pack } from "tar-stream";
import { codeOf } from "../core/errors.ts";
import { FileError, type Folder, modifiedMs, type OpenFile, openFolder } from "../working-copy/folder.ts";
import { joinPath, walkBeneath } from "../working-copy/walk.ts";

export interface Packed {
  files: number;
  /** Bytes of the content before compression. */
  bytes: number;
  /**
   * Paths in the data folder of links and files that a backup does not hold or that could not be read; the first 100.
   */
  left_out: string[];
}

const MAX_NAMED = 100;
/** Errors for a file that is just being removed or replaced, and for what is neither a file nor a folder. */
const NOT_THERE = /^(ENOENT|ENOTDIR|EISDIR|ELOOP|ENXIO|EINVAL)$/;
/**
 * Errors that an agent can cause, by denying access to its files or by too long names. They must not prevent a backup.
 */
const CLOSED_BY_AGENT = /^(EACCES|EPERM|ENAMETOOLONG)$/;
/** Only agents and tool servers work below these folders, where the server follows no links. */
const WORKING_COPY = /^(workspaces\/[^/]+|projects\/[^/]+\/workspace|mcp\/[^/]+)\/./;
/** People may organize their own files by links, which the server follows as long as they stay inside. */
const PEOPLE = /^(agents|vaults)\/./;

/**
 * Whether a backup may hold this link: anywhere in agents' folders, and among people's files if it leads to the same
 * part of the data folder. The server uses all other folders by their paths, so links in them must not lead elsewhere.
 */
export function isLinkOfBackup(name: string, target: string): boolean {
  if (target === "" || target.includes("\0")) return false;
  if (WORKING_COPY.test(name)) return true;
  if (!PEOPLE.test(name) || target.startsWith("/")) return false;
  // When `..` occurs only at the beginning, the link leads where its text says, regardless of links on the way.
  const steps = target.split("/");
  const down = steps.findIndex((step) => step !== "..");
  if (down >= 0 && steps.slice(down).includes("..")) return false;
  const part = name.slice(0, name.indexOf("/") + 1);
  return posix.join(posix.dirname(name), target, "/").startsWith(part);
}

/** @param what called for each file with what was packed. @throws FileError, with the path, when reading fails. */
export async function packTree(archive: Pack, data: string, part: string, what: (added: Packed) => void) {
  using top = openPart(data, part);
  if (!top) return;
  const toArchiveName = (path: string) => (path === "" ? part : joinPath(part, path));
  const addFolder = (path: string, folder: Folder) => {
    const mode = folder.stat("").mode & 0o777;
    archive.entry({ name: `${toArchiveName(path)}/`, type: "directory", mode });
    return true;
  };
  const passOver = (path: string, error: unknown) => {
    const name = toArchiveName(path);
    const code = codeOf(error) ?? "";
    if (NOT_THERE.test(code)) return;
    if (!CLOSED_BY_AGENT.test(code) || !WORKING_COPY.test(`${name}/.`)) throw withPath(error, name);
    what({ files: 0, bytes: 0, left_out: [name] });
  };
  addFolder("", top);
  const walked = walkBeneath(top, { leaveOut: "nothing", enter: addFolder, onUnreadable: passOver });
  for await (const { folder, path, entries } of walked)
    for (const { name, kind } of entries) {
      const at = joinPath(path, name);
      try {
        if (kind === "file") what(await packFile(archive, folder, name, toArchiveName(at)));
        else if (kind === "link") what(packLink(archive, folder, name, toArchiveName(at)));
      } catch (error) {
        passOver(at, error);
      }
    }
}

/** Bytes of the files in a part; later changes are not counted. */
export async function bytesOfTree(data: string, part: string): Promise<number> {
  using top = openPart(data, part);
  let bytes = 0;
  if (top)
    for await (const { folder, entries } of walkBeneath(top, { leaveOut: "nothing" }))
      for (const { name, kind } of entries) if (kind === "file") bytes += folder.findListed(name)?.size ?? 0;
  return bytes;
}

/** Opens a part of the data folder. Only the operator can have moved the part elsewhere by a link. */
function openPart(data: string, part: string): Folder | undefined {
  try {
    return openFolder(join(data, part));
  } catch (error) {
    if (/^(ENOENT|ENOTDIR)$/.test(codeOf(error) ?? "")) return undefined;
    throw error;
  }
}

const withPath = (error: unknown, path: string): unknown =>
  error instanceof FileError ? new FileError(error.code, path) : error;

function packLink(archive: Pack, folder: Folder, name: string, path: string): Packed {
  const linkname = folder.readLink(name);
  if (!isLinkOfBackup(path, linkname)) return { files: 0, bytes: 0, left_out: [path] };
  archive.entry({ name: path, type: "symlink", linkname });
  return { files: 0, bytes: 0, left_out: [] };
}

/**
 * Packs a file. If it changes meanwhile, the entry keeps the length found at the start. @throws FileError as
 * `Folder.openFile`.
 */
export async function packFile(archive: Pack, folder: Folder, name: string, path: string): Promise<Packed> {
  using file = folder.openFile(name);
  const { size, mode } = file.stat;
  await new Promise<void>((done, fail) => {
    const header = { name: path, size, mode: mode & 0o777, mtime: new Date(modifiedMs(file.stat)) };
    const entry = archive.entry(header, (error) => (error ? fail(error) : done())) as unknown as NodeJS.WritableStream;
    void fillEntry(entry, file, size).then(() => entry.end(), fail);
  });
  return { files: 1, bytes: size, left_out: [] };
}

const ZEROS = new Uint8Array(64 * 1024);

async function fillEntry(entry: NodeJS.WritableStream, { descriptor }: OpenFile, size: number): Promise<void> {
  const write = async (bytes: Uint8Array) => {
    if (!entry.write(bytes)) await new Promise((drained) => entry.once("drain", drained));
  };
  let left = size;
  if (size > 0)
    for await (const chunk of createReadStream("", { fd: descriptor, autoClose: false, start: 0, end: size - 1 })) {
      left -= chunk.length;
      await write(chunk);
    }
  for (; left > 0; left -= Math.min(left, ZEROS.length)) await write(ZEROS.subarray(0, left));
}

/** Adds up the counts; keeps the first names. */
export function addPacked(to: Packed, { files, bytes, left_out }: Packed): void {
  to.files += files;
  to.bytes += bytes;
  to.left_out.push(...left_out.slice(0, Math.max(0, MAX_NAMED - to.left_out.length)));
}
