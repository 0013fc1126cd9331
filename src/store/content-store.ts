/** Stores files by their content: each content once, named by its digest and never by a name from outside. */
import { createHash } from "node:crypto";
import { link, mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";

export type ContentStore = ReturnType<typeof createContentStore>;

const DIGEST = /^[0-9a-f]{64}$/;

const PIECE = 1024 * 1024;

/** Hashes in pieces, so that a large file does not block other work. */
async function digestOf(bytes: Uint8Array): Promise<string> {
  const hash = createHash("sha256");
  for (let at = 0; at < bytes.byteLength; at += PIECE) {
    hash.update(bytes.subarray(at, at + PIECE));
    await setImmediate();
  }
  return hash.digest("hex");
}

export function createContentStore(folder: string) {
  const pathOf = (sha256: string): string => {
    if (!DIGEST.test(sha256)) throw new Error("not a digest");
    return join(folder, sha256.slice(0, 2), sha256);
  };
  const exists = async (sha256: string) => (await stat(pathOf(sha256)).catch(() => undefined)) !== undefined;
  return {
    pathOf,
    exists,
    /** Stores the bytes. @returns their digest. */
    async put(bytes: Uint8Array): Promise<string> {
      const sha256 = await digestOf(bytes);
      const path = pathOf(sha256);
      if (await exists(sha256)) return sha256;
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const aside = `${path}.${crypto.randomUUID()}`;
      try {
        await writeFile(aside, bytes, { mode: 0o600, flush: true });
        await link(aside, path).catch((error: NodeJS.ErrnoException) => {
          if (error.code !== "EEXIST") throw error;
        });
      } finally {
        await rm(aside, { force: true });
      }
      return sha256;
    },
    /** Stores a file that is already on the same disk, complete and flushed, under its digest. Its old name stays. */
    async adopt(path: string, sha256: string): Promise<void> {
      const target = pathOf(sha256);
      await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      await link(path, target).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "EEXIST") throw error;
      });
    },
    remove: (sha256: string): Promise<void> => rm(pathOf(sha256), { force: true }),
    /** Digests of all files older than that time, ms since the epoch. Leftovers of interrupted writes are removed. */
    async olderThan(time: number): Promise<string[]> {
      const found: string[] = [];
      for (const part of await readdir(folder).catch(() => []))
        for (const name of await readdir(join(folder, part)).catch(() => [])) {
          const info = await stat(join(folder, part, name)).catch(() => undefined);
          if (!info || info.mtimeMs >= time) continue;
          if (DIGEST.test(name)) found.push(name);
          else await rm(join(folder, part, name), { force: true });
        }
      return found;
    },
  };
}
