/**
 * Caches speech in files that are named by a digest of everything that decides the sound. A file that cannot be read or
 * written costs a call, never an answer.
 */
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { LIMITS } from "../../core/limits.ts";

export type SpeechCache = ReturnType<typeof createSpeechCache>;

export function createSpeechCache(folder: string) {
  const pathOf = (parts: readonly unknown[]) =>
    join(folder, createHash("sha256").update(JSON.stringify(parts)).digest("hex"));
  return {
    /** @param parts everything that decides the sound: text, service, voice, model, format, speed. */
    async find(parts: readonly unknown[]): Promise<Uint8Array | undefined> {
      const path = pathOf(parts);
      try {
        const audio = await readFile(path);
        const now = new Date();
        await utimes(path, now, now);
        return audio;
      } catch {
        return undefined;
      }
    },
    async keep(parts: readonly unknown[], audio: Uint8Array): Promise<void> {
      const path = pathOf(parts);
      const aside = `${path}.${crypto.randomUUID()}`;
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await writeFile(aside, audio, { mode: 0o600 });
        await rename(aside, path);
      } catch {
        await rm(aside, { force: true }).catch(() => {});
      }
    },
    /** Removes the least recently used files until the rest fits the limit. */
    async trim(): Promise<void> {
      const names = await readdir(folder).catch(() => []);
      const looked = await Promise.all(
        names.map(async (name) => {
          const found = await stat(join(folder, name)).catch(() => undefined);
          return found ? [{ name, bytes: found.size, usedAt: found.mtimeMs }] : [];
        }),
      );
      const files = looked.flat().sort((a, b) => b.usedAt - a.usedAt);
      let kept = 0;
      for (const { name, bytes } of files) {
        kept += bytes;
        if (kept > LIMITS.speechCacheBytes) await rm(join(folder, name), { force: true }).catch(() => {});
      }
    },
  };
}
