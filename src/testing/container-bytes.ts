/**
 * Searches every byte of a container from outside, as root: the memory of its processes and the files that they see.
 */
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from "node:fs";

const PIECE_BYTES = 4 * 1024 * 1024;
const PAGE_BYTES = 4096;
const ENTRY_BYTES = 8;
/** Most bytes of one process. A larger process is an error of the test, because it would not be searched completely. */
const MOST_BYTES = 4 * 1024 ** 3;

interface Stretch {
  name: string;
  from: number;
  to: number;
}

/** Searches the memory of all processes in this process's namespace for each text. @returns the places by text. */
export function searchMemory(pid: number, texts: readonly string[]): Record<string, string[]> {
  const found: Record<string, string[]> = Object.fromEntries(texts.map((text) => [text, []]));
  // As UTF-8 bytes, and as UTF-16, which JavaScript uses for texts that contain other characters as well.
  const sought = texts.flatMap((text) => [
    { text, bytes: Buffer.from(text) },
    { text, bytes: Buffer.from(text, "utf16le") },
  ]);
  const overlap = Math.max(...sought.map(({ bytes }) => bytes.length));
  for (const one of processesBeside(pid))
    for (const { name, from, to } of stretchesOf(one))
      for (const bytes of piecesOf(`/proc/${one}/mem`, from, to, overlap))
        for (const { text, bytes: wanted } of sought)
          if (bytes.includes(wanted)) found[text]?.push(`process ${one}, ${name}`);
  return found;
}

/**
 * Files that contain one of the texts, as the process sees them: in its image, its mounts, and its folders in memory.
 */
export function searchFiles(pid: number, texts: readonly string[]): string[] {
  const patterns = texts.flatMap((text) => ["-e", text]);
  const kernel = ["proc", "sys", "dev"].map((name) => `--exclude-dir=${name}`);
  const found = Bun.spawnSync(["grep", "-rlaFs", "-D", "skip", ...kernel, ...patterns, `/proc/${pid}/root/`]);
  return found.stdout.toString().split("\n").filter(Boolean);
}

function processesBeside(pid: number): string[] {
  const space = readlinkSync(`/proc/${pid}/ns/pid`);
  return readdirSync("/proc").filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return readlinkSync(`/proc/${name}/ns/pid`) === space;
    } catch {
      return false;
    }
  });
}

/** The parts of a process's memory that exist. Memory that was reserved but never written does not count. */
function stretchesOf(pid: string): Stretch[] {
  const stretches: Stretch[] = [];
  for (const line of readOrNothing(`/proc/${pid}/maps`).split("\n")) {
    const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) r/.exec(line) ?? [];
    if (from === undefined || to === undefined) continue;
    stretches.push(...presentIn(pid, { name: line, from: Number.parseInt(from, 16), to: Number.parseInt(to, 16) }));
  }
  const bytes = stretches.reduce((sum, { from, to }) => sum + to - from, 0);
  if (bytes > MOST_BYTES) throw new Error(`process ${pid} has ${bytes} bytes in memory, too many to search`);
  return stretches;
}

function presentIn(pid: string, { name, from, to }: Stretch): Stretch[] {
  const stretches: Stretch[] = [];
  let at = from;
  for (const entries of piecesOf(
    `/proc/${pid}/pagemap`,
    (from / PAGE_BYTES) * ENTRY_BYTES,
    (to / PAGE_BYTES) * ENTRY_BYTES,
  ))
    for (let entry = 0; entry < entries.length; entry += ENTRY_BYTES, at += PAGE_BYTES) {
      // The two highest bits of a page's entry say that it is in memory, or that it was swapped out.
      if ((entries[entry + ENTRY_BYTES - 1] ?? 0) < 0x40) continue;
      const last = stretches.at(-1);
      if (last?.to === at) last.to += PAGE_BYTES;
      else stretches.push({ name, from: at, to: at + PAGE_BYTES });
    }
  return stretches;
}

/**
 * Reads a part of a kernel file piece by piece. Each piece begins with the end of the previous one. Unreadable parts
 * are left out.
 */
function* piecesOf(path: string, from: number, to: number, overlap = 0): Generator<Buffer> {
  const piece = Buffer.alloc(Math.min(PIECE_BYTES, to - from));
  let file: number;
  try {
    file = openSync(path, "r");
  } catch {
    return;
  }
  try {
    for (let at = from; at < to; ) {
      const read = readSync(file, piece, 0, Math.min(piece.length, to - at), at);
      if (read <= 0) return;
      yield piece.subarray(0, read);
      at += at + read >= to ? read : Math.max(read - overlap, 1);
    }
  } catch {
    // The process has ended meanwhile, or the kernel does not let this region be read.
  } finally {
    closeSync(file);
  }
}

function readOrNothing(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
