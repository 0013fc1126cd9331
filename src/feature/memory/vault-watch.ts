/**
 * Watches the vaults' folders, so that files saved by an editor are indexed at once. Periodic scans find what a watch
 * missed.
 */
import { type FSWatcher, watch } from "node:fs";
import { join } from "node:path";
import type { Logger } from "../../core/log.ts";
import type { EntryIndex } from "./entry-index.ts";

/** Wait before a change is read, ms: editors save in several steps. */
const SETTLE_MS = 100;
const MAX_FOLDERS = 2_000;

export function watchVaults(root: string, index: EntryIndex, log: Logger) {
  const watched = new Map<string, FSWatcher>();
  const changed = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;

  async function settle(): Promise<void> {
    const paths = [...changed];
    changed.clear();
    try {
      await index.refreshAll(entriesOf(paths));
      if (stopped || paths.every((path) => path.endsWith(".md"))) return;
      follow();
      await index.scan();
    } catch (err) {
      log.warn({ err }, "a changed memory could not be read; the next scan tries again");
    }
  }
  /** Handles collected changes one batch after another. */
  async function settleAll(): Promise<void> {
    while (changed.size > 0 && !stopped) await settle();
    timer = undefined;
  }
  function noticeChange(folder: string, name: string | null): void {
    if (stopped || name?.startsWith(".")) return;
    changed.add(name === null ? folder : folder === "" ? name : `${folder}/${name}`);
    timer ??= setTimeout(() => void settleAll(), SETTLE_MS);
  }
  /** Watches new folders and stops watching those that are gone. */
  function follow(): void {
    if (stopped) return;
    const folders = new Set(index.folders().slice(0, MAX_FOLDERS));
    for (const [folder, watcher] of watched)
      if (!folders.has(folder)) {
        watcher.close();
        watched.delete(folder);
      }
    for (const folder of folders) {
      if (watched.has(folder)) continue;
      try {
        const watcher = watch(join(root, folder), (_, name) => noticeChange(folder, name));
        watcher.on("error", () => {
          watcher.close();
          watched.delete(folder);
        });
        watched.set(folder, watcher);
      } catch (err) {
        log.debug({ err, folder }, "a folder of memory is not watched; scans read it");
      }
    }
  }
  return {
    follow,
    stop(): void {
      stopped = true;
      clearTimeout(timer);
      for (const watcher of watched.values()) watcher.close();
      watched.clear();
    },
  };
}

function* entriesOf(paths: readonly string[]): Generator<{ vault: string; entry: string }> {
  for (const path of paths) {
    const [vault, ...rest] = path.split("/");
    if (vault !== undefined && rest.length > 0 && path.endsWith(".md"))
      yield { vault, entry: rest.join("/").slice(0, -".md".length) };
  }
}
