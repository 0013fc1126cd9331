/**
 * `COPY --from` of a build: copies files between two containers that have never run, through the engine's archives. The
 * content of an image is untrusted, so names are checked before they are used, and sizes and counts are known before
 * the first byte is written.
 */
import { posix } from "node:path";
import { addAbortSignal, pipeline, Readable } from "node:stream";
import { extract, type Header, type Pack } from "tar-stream";
import { matcherOf } from "../../../core/dockerfile/context.ts";
import type { CopyStep } from "../../../core/dockerfile/plan.ts";
import { isProblem } from "../../../core/errors.ts";
import type { DockerClient } from "../../docker.ts";
import type { Owner } from "../workspace-path.ts";
import { isFolder, missingFolders, unpackWritten, writeContent } from "./copy-step.ts";

/** Tells the author of the Dockerfile why files cannot be copied. */
export class StageCopyFault extends Error {
  override readonly name = "StageCopyFault";
}

interface StageCopyWork {
  step: CopyStep;
  owner: Owner;
  /** The container whose files are copied. */
  source: string;
  maxBytes: number;
  signal: AbortSignal;
}

type Containers = Pick<DockerClient["containers"], "unpack" | "pack">;

const MAX_ENTRIES = 200_000;
const MAX_FOLDERS = 50_000;
const MAX_LINKS = 10;

interface Found {
  /** Path in the archive. */
  name: string;
  /** Path below a target folder; "" is the target folder itself. */
  below: string;
  header: Header;
}

/** The files that one source of the step names. */
interface Source {
  /** Path that the engine is asked for. */
  path: string;
  found: Found[];
  /** Whether the source is a single file. */
  isOne: boolean;
}

/**
 * Copies the files. @returns false when they are larger than `maxBytes`. @throws StageCopyFault, Problem 413, and the
 * engine's.
 */
export async function copyFromImage(containers: Containers, id: string, work: StageCopyWork): Promise<boolean> {
  const { step, maxBytes } = work;
  const sources: Source[] = [];
  for (const source of step.sources) sources.push(await lookAt(containers, work, source));
  const all = sources.flatMap(({ found }) => found);
  if (all.reduce((bytes, { header }) => bytes + (header.size ?? 0), 0) > maxBytes) return false;
  const isThere = (path: string) => isFolder(containers, id, path);
  const to = step.to === "/" ? "" : step.to.replace(/\/$/, "");
  const isOne = sources.length === 1 && sources[0]?.isOne === true;
  const isTarget = isOne && !step.to.endsWith("/") && !(await isThere(to || "/"));
  const placeOf = ({ below }: Found) => (isTarget ? to : posix.join(to || "/", below));
  const modes = new Map<string, number>();
  const paths = all.map((one) => {
    if (one.header.type !== "directory") return placeOf(one);
    modes.set(placeOf(one), one.header.mode ?? 0o755);
    return `${placeOf(one)}/in-it`;
  });
  const folders = await missingFolders(paths, isThere, MAX_FOLDERS);
  await unpackWritten(containers, id, async (writer) => {
    for (const name of folders)
      writer.entry({ name: name.slice(1), type: "directory", mode: modes.get(name) ?? 0o755, ...work.owner });
    for (const source of sources) await writeSource(containers, work, source, placeOf, writer);
  });
  return true;
}

/**
 * Finds the files of a source by reading only names. @param source path from the top, which may contain `*`, `?` and
 * `[…]`; if it names a link, the link is followed.
 */
async function lookAt(containers: Containers, work: StageCopyWork, source: string): Promise<Source> {
  const parts = source.split("/");
  const first = parts.findIndex((part) => /[*?[\\]/.test(part));
  const pattern = first < 0 ? "" : parts.slice(first).join("/");
  let path = `/${(first < 0 ? parts : parts.slice(0, first)).join("/")}`;
  if (path === "/")
    throw new StageCopyFault(`All of an image cannot be copied: name a folder in it instead of ${source}`);
  for (let links = 0; ; links++) {
    const entries = await entriesOf(containers, work, path);
    const [top] = entries;
    if (top?.type === "symlink" && links < MAX_LINKS) {
      path = posix.resolve(posix.dirname(path), top.linkname ?? "");
      continue;
    }
    const found = pattern === "" ? namedIn(entries) : matchingIn(entries, pattern);
    if (found.length === 0) throw new StageCopyFault(`The image that it copies from has no ${source}.`);
    for (const { header, name } of found) assertKind(header, name);
    const [only] = found;
    const depth = pattern === "" ? 1 : pattern.split("/").length + 1;
    const isOne = found.length === 1 && only?.header.type !== "directory" && only?.name.split("/").length === depth;
    return { path, found, isOne };
  }
}

async function entriesOf(containers: Containers, { source, signal }: StageCopyWork, path: string): Promise<Header[]> {
  const entries: Header[] = [];
  for await (const { header, content } of readArchive(containers, source, path, signal)) {
    content.resume();
    entries.push(header);
    if (entries.length > MAX_ENTRIES) throw new StageCopyFault(`More than ${MAX_ENTRIES} files are in ${path}.`);
  }
  return entries;
}

/** Reads an archive of the container. @throws StageCopyFault when there is no such path. */
async function* readArchive(containers: Containers, id: string, path: string, signal: AbortSignal) {
  const reader = extract();
  try {
    // An error there ends the loop below.
    pipeline(addAbortSignal(signal, Readable.from(await containers.pack(id, path))), reader, () => {});
  } catch (error) {
    if (isProblem(error) && error.code === "docker_not_found")
      throw new StageCopyFault(`The image that it copies from has no ${path}.`);
    throw error;
  }
  for await (const content of reader) {
    const { header } = content;
    header.name = header.name.replace(/\/$/, "");
    if (header.name.startsWith("/") || header.name.split("/").includes(".."))
      throw new StageCopyFault(`The engine named a file outside of ${path}.`);
    yield { header, content };
  }
}

function namedIn(entries: readonly Header[]): Found[] {
  return entries.map((header) => {
    const end = header.name.indexOf("/");
    const isTop = end < 0;
    const below = isTop ? (header.type === "directory" ? "" : header.name) : header.name.slice(end + 1);
    return { name: header.name, below, header };
  });
}

/** Finds the entries that match a pattern. A matching folder stands for its files, as one that is named directly. */
function matchingIn(entries: readonly Header[], pattern: string): Found[] {
  const [matches, depth] = [matcherOf(pattern), pattern.split("/").length];
  const known = new Map<string, boolean>();
  return entries.flatMap((header) => {
    const parts = header.name.split("/").slice(1);
    if (parts.length < depth) return [];
    const top = parts.slice(0, depth).join("/");
    const isMeant = known.get(top) ?? matches(top);
    known.set(top, isMeant);
    if (!isMeant) return [];
    const isTop = parts.length === depth;
    const below = isTop ? (header.type === "directory" ? "" : (parts.at(-1) ?? "")) : parts.slice(depth).join("/");
    return [{ name: header.name, below, header }];
  });
}

function assertKind({ type }: Header, name: string): void {
  if (type !== "file" && type !== "directory" && type !== "symlink" && type !== "link")
    throw new StageCopyFault(`${name.slice(0, 200)} is neither a file, a folder nor a link.`);
}

async function writeSource(
  containers: Containers,
  { step, owner, source, maxBytes, signal }: StageCopyWork,
  { path, found }: Source,
  placeOf: (found: Found) => string,
  writer: Pack,
): Promise<void> {
  const wanted = new Map(found.map((one) => [one.name, one]));
  const alone: Found[] = [];
  for await (const { header, content } of readArchive(containers, source, path, signal)) {
    const one = wanted.get(header.name);
    if (!one || header.type === "directory") {
      content.resume();
      continue;
    }
    const { size = 0, mode = 0o644, mtime, linkname = "" } = header;
    const common = { name: placeOf(one).slice(1), mode: step.mode ?? mode, ...(mtime ? { mtime } : {}), ...owner };
    if (header.type === "file") {
      await writeContent(content, writer.entry({ ...common, size }), size);
      continue;
    }
    content.resume();
    // The engine names the target of a hard link by its path in the archive.
    const other = header.type === "link" ? wanted.get(linkname) : undefined;
    if (header.type === "symlink") writer.entry({ ...common, type: "symlink", linkname });
    else if (other) writer.entry({ ...common, type: "link", linkname: placeOf(other).slice(1) });
    else alone.push(one);
  }
  // These are hard links to files that are not copied, so their content is read one by one, as the engine packs only
  // one path at a time. Their sizes only become known now, and many may be links to the same large file.
  let bytes = 0;
  for (const one of alone)
    for await (const { header, content } of readArchive(containers, source, posix.join(path, "..", one.name), signal)) {
      const { size = 0, mode = 0o644 } = header;
      const entry = { name: placeOf(one).slice(1), mode: step.mode ?? mode, size, ...owner };
      bytes += size;
      if (bytes > maxBytes) throw new StageCopyFault("The hard links that it copies are more than a build may write.");
      if (header.type === "file") await writeContent(content, writer.entry(entry), size);
      else content.resume();
    }
}
