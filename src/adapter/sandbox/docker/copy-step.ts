/**
 * `COPY` of a build: unpacks files of the accepted commit into a container that has never run, so that nothing can move
 * paths while the engine unpacks. The engine resolves the image's links inside the image's root. The content of each
 * file is compared with what was accepted while it is copied.
 */
import { createHash, type Hash } from "node:crypto";
import { posix } from "node:path";
import { pipeline, Readable } from "node:stream";
import { extract, type Header, type Pack, pack } from "tar-stream";
import { CONTEXT_LIMITS, type Copied, type Selection } from "../../../core/dockerfile/context.ts";
import type { CopyStep } from "../../../core/dockerfile/plan.ts";
import { conflict, isProblem, Problem } from "../../../core/errors.ts";
import type { DockerClient } from "../../docker.ts";
import type { Owner } from "../workspace-path.ts";

interface CopyWork {
  step: CopyStep;
  selection: Selection;
  owner: Owner;
  /** A tar of the project's files. Those of the build context are below `prefix`. */
  source(): Readable;
  prefix: string;
}

type Entry = ReturnType<Pack["entry"]>;
type Unpacks = Pick<DockerClient["containers"], "unpack">;

const MAX_LEVELS = 64;
const MAX_FOLDERS = 5_000;
/** A fixed time stamp, so that a file copied at another time is the same file. */
const COPIED_AT = new Date(Date.UTC(2000, 0, 1));

/** @throws Problem 409 `build_files_changed`, 413 `build_files_too_large`, and the engine's. */
export async function copyInto(containers: Unpacks, id: string, work: CopyWork): Promise<void> {
  const { step, selection } = work;
  const isThere = (path: string) => isFolder(containers, id, path);
  const to = step.to === "/" ? "" : step.to.replace(/\/$/, "");
  const isTarget = selection.isOne && !step.to.endsWith("/") && !(await isThere(to || "/"));
  const places = new Map<string, string[]>();
  for (const { path, below } of selection.files) {
    const at = isTarget ? to : `${to}/${below}`;
    places.set(path, [...(places.get(path) ?? []), at]);
  }
  const folders = await missingFolders([...places.values()].flat(), isThere);
  await unpackWritten(containers, id, (writer) => writeCopies(work, places, folders, writer));
}

/**
 * Unpacks an archive into the container while it is written. @param write must end every entry that it begins, even
 * when it throws.
 */
export async function unpackWritten(
  containers: Unpacks,
  id: string,
  write: (writer: Pack) => Promise<void>,
): Promise<void> {
  const writer = pack();
  let fault: unknown;
  // The engine blocks the container until the archive has ended. So the archive is also ended when its content is not
  // what was accepted.
  const written = write(writer)
    .catch((error) => {
      fault = error;
    })
    .finally(() => writer.finalize());
  try {
    await containers.unpack(
      id,
      "/",
      Readable.from(writer).on("error", () => {}),
    );
  } catch (error) {
    writer.destroy();
    throw fault ?? error;
  }
  await written;
  if (fault !== undefined) throw fault;
}

/**
 * Whether a path in the container is a folder. The engine unpacks only into folders, and follows links to them as
 * programs in the container would.
 */
export async function isFolder(containers: Unpacks, id: string, path: string): Promise<boolean> {
  try {
    const nothing = pack();
    nothing.finalize();
    await containers.unpack(id, path, Readable.from(nothing));
    return true;
  } catch (error) {
    if (isProblem(error) && (error.code === "docker_not_found" || error.code === "docker_error")) return false;
    throw error;
  }
}

/** The parent folders of these paths that the image lacks, outermost first. Existing folders stay as they are. */
export async function missingFolders(
  paths: readonly string[],
  isThere: (path: string) => Promise<boolean>,
  most = MAX_FOLDERS,
): Promise<string[]> {
  const known = new Map([["/", true]]);
  const missing: string[] = [];
  for (const path of paths) {
    const above: string[] = [];
    for (let at = posix.dirname(path); !known.has(at); at = posix.dirname(at)) above.unshift(at);
    if (above.length > MAX_LEVELS) throw tooLarge(`lead more than ${MAX_LEVELS} folders deep`);
    for (const folder of above) {
      const has = known.get(posix.dirname(folder)) === true && (await isThere(folder));
      known.set(folder, has);
      if (!has) missing.push(folder);
    }
    if (known.size > most) throw tooLarge(`are in more than ${most} folders`);
  }
  return missing;
}

const tooLarge = (why: string) =>
  new Problem(413, "build_files_too_large", `The files that the Dockerfile copies ${why}. Leave some out.`);

/** Writes the archive. @throws Problem when its content is not what was accepted; the archive can still be ended. */
async function writeCopies(
  { step, selection, owner, source, prefix }: CopyWork,
  places: ReadonlyMap<string, readonly string[]>,
  folders: readonly string[],
  writer: Pack,
): Promise<void> {
  const files = new Map(selection.files.map((file) => [file.path, file]));
  const reader = extract();
  const common = { uid: owner.uid, gid: owner.gid, mtime: COPIED_AT };
  for (const folder of folders) writer.entry({ name: folder.slice(1), type: "directory", mode: 0o755, ...common });
  let bytes = 0;
  // An error there ends the loop below.
  pipeline(source(), reader, () => {});
  for await (const content of reader) {
    const { header } = content;
    const file = header.name.startsWith(prefix) ? files.get(header.name.slice(prefix.length)) : undefined;
    if (!file || header.type === "directory") {
      content.resume();
      continue;
    }
    files.delete(file.path);
    bytes += header.size;
    if (bytes > CONTEXT_LIMITS.bytes) throw tooLarge(`are more than ${CONTEXT_LIMITS.bytes / 1024 ** 3} GB`);
    const mode = step.mode ?? (file.kind === "program" ? 0o755 : 0o644);
    const to = (places.get(file.path) ?? []).map((place) => ({ name: place.slice(1), mode, ...common }));
    await copyEntry(file, header, content, to, writer);
  }
  const [left] = files.keys();
  if (left !== undefined) throw createChangedProblem(left);
}

const createChangedProblem = (path: string) =>
  conflict(
    `${path.slice(0, 200)} is not as it was when the environment was accepted. Look at what the repository proposes, and accept it.`,
    "build_files_changed",
  );

/**
 * Writes a file to its first place, and hard links to it at further places. A symbolic link is written to each place.
 */
async function copyEntry(
  file: Copied,
  { size, linkname, type }: Pick<Header, "size" | "linkname" | "type">,
  content: AsyncIterable<unknown>,
  [first, ...others]: { name: string; mode: number; uid: number; gid: number; mtime: Date }[],
  writer: Pack,
): Promise<void> {
  if (!first) return;
  const link = type === "symlink" ? { type, linkname } : undefined;
  if ((link !== undefined) !== (file.kind === "link")) throw createChangedProblem(file.path);
  const hash = blobHash(file.oid, link ? Buffer.byteLength(link.linkname) : size);
  if (link) {
    hash.update(link.linkname);
    for await (const _ of content);
    writer.entry({ ...first, ...link });
  } else await writeContent(content, writer.entry({ ...first, size }), size, hash);
  if (hash.digest("hex") !== file.oid) throw createChangedProblem(file.path);
  for (const other of others) writer.entry({ ...other, ...(link ?? { type: "link", linkname: first.name }) });
}

/**
 * Writes the content of an entry. If reading fails, the entry is filled up to its size, so that the archive can be
 * ended.
 */
export async function writeContent(content: AsyncIterable<unknown>, entry: Entry, size: number, hash?: Hash) {
  let left = size;
  const write = async (chunk: Uint8Array) => {
    left -= chunk.byteLength;
    if (!entry.write(chunk)) await drainEntry(entry);
  };
  // The entry is closed together with the archive.
  entry.on("error", () => {});
  try {
    for await (const chunk of content) {
      if (!(chunk instanceof Uint8Array)) continue;
      hash?.update(chunk);
      await write(chunk);
    }
  } finally {
    while (left > 0 && !entry.destroyed) await write(Buffer.alloc(Math.min(left, 64 * 1024)));
    entry.end(undefined);
  }
}

function drainEntry(entry: Entry): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (isOver: boolean) => () => {
      entry.off("drain", resume).off("close", over);
      if (isOver) reject(new Error("The engine does not take the files any more."));
      else resolve();
    };
    const [resume, over] = [settle(false), settle(true)];
    entry.on("drain", resume).on("close", over);
  });
}

/** Starts a hash that gives git's object id of a content. */
function blobHash(oid: string, size: number): Hash {
  return createHash(oid.length === 64 ? "sha256" : "sha1").update(`blob ${size}\0`);
}
