/**
 * Checks the archives that people upload while they are passed on to the container engine: names, kinds, links and
 * sizes of their entries. The first bad entry breaks the stream, so that the engine discards the upload.
 */
import { posix } from "node:path";
import { Transform, type TransformCallback } from "node:stream";
import { extract, type Header } from "tar-stream";
import { Problem } from "../../../core/errors.ts";
import { countUnpacked } from "./packed-layer.ts";

/** `saved`: written by `docker save`. `rootfs`: a root file system, which the engine unpacks inside its own chroot. */
export type ArchiveKind = "saved" | "rootfs";

export interface ArchiveLimits {
  /** Most bytes of the archive and of the content of its packed layers, uncompressed. */
  maxBytes: number;
  maxEntries: number;
  /**
   * Bytes that packed layers may always contain, whatever their size. More is only allowed up to PACKED_RATIO times
   * their size.
   */
  unpackedBytes?: number;
}

export const ARCHIVE_LIMITS: ArchiveLimits = { maxBytes: 32 * 1024 ** 3, maxEntries: 1_000_000 };
const UNPACKED_BYTES = 1024 ** 3;
/** Layers of programs and text shrink to about a tenth, zeros to a thousandth. */
const PACKED_RATIO = 100;

const createProblem = (detail: string) => new Problem(422, "archive_refused", detail);
const isAbsolute = (path: string) => path.startsWith("/") || /^[A-Za-z]:[\\/]/.test(path);
const isClimbing = (path: string) => path.split("/").includes("..");

/**
 * What is wrong with an entry; undefined if nothing is. `seen` holds the names of earlier files (saved archives only).
 */
function entryFault(kind: ArchiveKind, header: Header, seen: Set<string>): string | undefined {
  const { name, type, linkname } = header;
  if (name.includes("\0") || isAbsolute(name) || isClimbing(name)) return "leads out of the archive";
  switch (type) {
    case "directory":
      return undefined;
    case "file":
    case "contiguous-file":
      return kind === "saved" ? checkDuplicate(name, seen) : undefined;
    case "symlink":
      // The engine resolves links of a root file system in its chroot, so they are not checked.
      return kind === "rootfs" ? undefined : (linkFault(posix.dirname(name), linkname) ?? checkDuplicate(name, seen));
    case "link":
      return linkFault(".", linkname) ?? (kind === "saved" ? checkDuplicate(name, seen) : undefined);
    case "character-device":
    case "block-device":
    case "fifo":
      // Every container gets its own /dev over these.
      return kind === "rootfs" && /^(\.\/)?dev\//.test(name) ? undefined : "is a device";
    default:
      return `is of an unknown kind (${type})`;
  }
}

function checkDuplicate(name: string, seen: Set<string>): string | undefined {
  const plain = posix.normalize(name);
  if (seen.has(plain)) return "occurs twice";
  seen.add(plain);
  return undefined;
}

function linkFault(folder: string, target: string | null | undefined): string | undefined {
  const led = posix.normalize(posix.join(folder, target ?? ""));
  return !target || isAbsolute(target) || led === ".." || led.startsWith("../")
    ? "is a link out of the archive"
    : undefined;
}

/**
 * A pass-through stream that fails with Problem 422 `archive_refused` at the first bad entry or when a limit is
 * exceeded.
 */
export function guardArchive(kind: ArchiveKind, limits: ArchiveLimits = ARCHIVE_LIMITS): Transform {
  const reader = extract();
  const seen = new Set<string>();
  let bytes = 0;
  let entries = 0;
  let unpacked = 0;
  let fault: Error | undefined;
  const computeRoom = () => Math.max(limits.unpackedBytes ?? UNPACKED_BYTES, PACKED_RATIO * bytes);
  const holds = (more: number): boolean => {
    unpacked += more;
    if (bytes + unpacked > limits.maxBytes || unpacked > computeRoom())
      fault ??= createProblem("The archive's layers hold far more than their size: it is a bomb, or damaged.");
    return fault === undefined;
  };
  reader.on("entry", (header, stream, next) => {
    entries += 1;
    const wrong = entries > limits.maxEntries ? "is one too many" : entryFault(kind, header, seen);
    if (wrong) fault ??= createProblem(`The archive's entry ${JSON.stringify(header.name)} ${wrong}.`);
    // The reader reports an archive that ends within an entry.
    stream.on("error", () => {});
    const counted = kind === "saved" && !fault ? holds : () => false;
    countUnpacked(stream as AsyncIterable<Uint8Array>, counted).then(() => next(), next);
  });
  reader.on("error", (error) => {
    fault ??= createProblem(`This is not a tar archive: ${error.message}.`);
  });
  const pass = (chunk: Uint8Array, callback: TransformCallback) => {
    bytes += chunk.length;
    if (bytes > limits.maxBytes) fault ??= createProblem(`The archive is larger than ${limits.maxBytes} bytes.`);
    if (fault) return callback(fault);
    // The reader may still be busy with this chunk. A fault that it then finds stops the next chunk, or the end.
    if (reader.write(chunk)) return fault ? callback(fault) : callback(null, chunk);
    reader.once("drain", () => (fault ? callback(fault) : callback(null, chunk)));
  };
  return new Transform({
    transform: (chunk: Uint8Array, _encoding, callback) => pass(chunk, callback),
    flush: (callback) => {
      const settle = () => callback(fault ?? (entries === 0 ? createProblem("The archive is empty.") : null));
      if (fault) return settle();
      reader.once("close", settle);
      reader.end(undefined);
    },
    destroy: (error, callback) => {
      reader.destroy();
      callback(error);
    },
  });
}
