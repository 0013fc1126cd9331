/** Watches the vaults' folders, so that what an editor saves is indexed at once. A scan finds what a watch missed. */
import { type FSWatcher, watch } from "node:fs";
import { join } from "node:path";
import type { Logger } from "../../core/log.ts";
import type { EntryIndex } from "./entry-index.ts";

/** Editors save in several steps. */
const SETTLE_MS = 100;
const MAX_FOLDERS = 2_000;

export interface VaultWatch {
  /** Begins to watch folders that are new, and releases those that are gone. */
  follow(): void;
  stop(): void;
}

export function watchVaults(root: string, index: EntryIndex, log: Logger): VaultWatch {
  const watched = new Map<string, FSWatcher>();
  const changed = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;

  function settle(): void {
    timer = undefined;
    const paths = [...changed];
    changed.clear();
    try {
      for (const path of paths) {
        const [vault, ...rest] = path.split("/");
        if (rest.length > 0 && path.endsWith(".md")) index.refresh(vault!, rest.join("/").slice(0, -3));
      }
      if (paths.some((path) => !path.endsWith(".md"))) {
        follow();
        void index.scan().catch((err) => log.warn({ err }, "the vaults could not be read"));
      }
    } catch (err) {
      log.warn({ err }, "a changed memory could not be read; the next scan tries again");
    }
  }
  function noticed(folder: string, name: string | null): void {
    if (stopped || name?.startsWith(".")) return;
    changed.add(name === null ? folder : folder === "" ? name : `${folder}/${name}`);
    timer ??= setTimeout(settle, SETTLE_MS);
  }
  function follow(): void {
    if (stopped) return;
    const folders = index.folders().slice(0, MAX_FOLDERS);
    for (const [folder, watcher] of watched)
      if (!folders.includes(folder)) {
        watcher.close();
        watched.delete(folder);
      }
    for (const folder of folders) {
      if (watched.has(folder)) continue;
      try {
        const watcher = watch(join(root, folder), (_, name) => noticed(folder, name));
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
    stop() {
      stopped = true;
      clearTimeout(timer);
      for (const watcher of watched.values()) watcher.close();
      watched.clear();
    },
  };
}
