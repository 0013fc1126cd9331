/**
 * Keeps a folder of the server and its copy in a sandbox the same by carrying the differences. The server's changes go
 * to the copy before a command runs; the sandbox's changes come back when they are asked for.
 * Both sides are examined each time. Only entries that are known to be the same stay where they are.
 */
import { LIMITS } from "../../../core/limits.ts";
import { FileError, type Folder, openFolder, removeEntry } from "../../../working-copy/folder.ts";
import { asPathProblem } from "../workspace-path.ts";
import type { Carrier, FarEntry, FarStat } from "./carrier.ts";
import { makeNearFolder, makeNearLink, type NearEntry, nearEntry, nearSink, scanNear } from "./near-files.ts";

/** The state of both sides of an entry. While neither mark has changed, both are the same. */
interface Known {
  near: NearEntry;
  far: FarStat;
}

export type CarriedFolder = ReturnType<typeof createCarriedFolder>;

/**
 * A file that changed this shortly before it was listed may change again with the same time stamp, so it is compared
 * again.
 */
const TICK_S = 0.03;
/** Most files that are carried at the same time. */
const UNDER_WAY = 64;
/** Error codes for a file of the server that changed while it was read; the next comparison sees the change. */
const CHANGED = ["ENOENT", "ENOTDIR", "ELOOP", "EISDIR", "ENXIO", "EACCES"];

export function createCarriedFolder(home: string) {
  const known = new Map<string, Known>();
  const inTurn = oneAfterAnother();

  const withNear = async (act: (top: Folder) => Promise<void>): Promise<void> => {
    using top = openFolder(home, "latin1");
    try {
      await act(top);
    } catch (error) {
      throw asPathProblem(error, "/workspace");
    }
  };
  const keep = (path: string, near: NearEntry, far: FarStat) => void known.set(path, { near, far });
  const isKnown = ({ path, kind, mark }: FarEntry): boolean => {
    const far = known.get(path)?.far;
    return far !== undefined && far.kind === kind && (kind === "folder" || far.mark === mark);
  };

  async function push(carrier: Carrier, top: Folder): Promise<void> {
    const near = await scanNear(top);
    const gone = [...known].filter(([path, { near: before }]) => near.get(path)?.kind !== before.kind);
    for (const path of pickTopmost(gone.map(([one]) => one))) await carrier.remove(path);
    for (const [path] of gone) known.delete(path);
    const underWay = createWindow(UNDER_WAY);
    for (const [path, entry] of near) {
      if (known.get(path)?.near.mark === entry.mark) continue;
      await underWay.add(take(carrier, top, path, entry));
    }
    await underWay.all();
  }
  async function take(carrier: Carrier, top: Folder, path: string, entry: NearEntry): Promise<void> {
    if (entry.kind === "folder") return keep(path, entry, await carrier.makeFolder(path, entry.mode | 0o700));
    if (entry.kind === "link") return keep(path, entry, await carrier.makeLink(path, top.readLink(path)));
    try {
      using file = top.openFile(path);
      const { size, mode } = file.stat;
      const far = await carrier.put(path, mode, size, (into, at) => file.read(into, at));
      keep(path, nearEntry(file.stat), far);
    } catch (error) {
      if (!(error instanceof FileError) || !CHANGED.includes(error.code)) throw error;
      known.delete(path);
    }
  }

  async function pull(carrier: Carrier, top: Folder): Promise<void> {
    const { entries, unreadable, time } = await carrier.list();
    const found = new Map(entries.filter(({ kind }) => kind !== "other").map((entry) => [entry.path, entry]));
    const hidden = unreadable.map((path) => (path === "" ? "" : `${path}/`));
    const gone = [...known].filter(([path, { far }]) => {
      if (found.get(path)?.kind === far.kind) return false;
      return found.has(path) || !hidden.some((folder) => path.startsWith(folder));
    });
    for (const path of pickTopmost(gone.map(([one]) => one))) await removeEntry(top, path);
    for (const [path] of gone) known.delete(path);
    const underWay = createWindow(UNDER_WAY);
    const room = { bytes: LIMITS.carriedBytes - entries.reduce((sum, { size }) => sum + size, 0) };
    for (const entry of found.values()) {
      if (isKnown(entry)) continue;
      await clear(top, entry);
      if (entry.kind === "folder") keep(entry.path, makeNearFolder(top, entry.path, entry.mode), entry);
      else if (entry.kind === "link") keep(entry.path, makeNearLink(top, entry.path, entry.target), entry);
      else await underWay.add(bring(carrier, top, entry, { time, room }));
    }
    await underWay.all();
  }
  /** Removes an entry of another kind that is in the way of one that comes. */
  async function clear(top: Folder, { path, kind }: FarEntry): Promise<void> {
    const there = top.find(path)?.kind;
    if (there !== undefined && (there === "folder") !== (kind === "folder")) await removeEntry(top, path);
  }
  /** @param look when the files were listed, and by how many bytes all files may have grown since. */
  async function bring(
    carrier: Carrier,
    top: Folder,
    { path, size }: FarEntry,
    { time, room }: { time: number; room: { bytes: number } },
  ): Promise<void> {
    using sink = nearSink(top, path, (far, near) => {
      const mark = far.changed > time - TICK_S ? "" : far.mark;
      room.bytes -= Math.max(0, far.size - size);
      keep(path, near, { ...far, mark });
    });
    const most = size + Math.max(0, Math.floor(room.bytes / UNDER_WAY));
    if (!(await carrier.bring(path, most, sink))) known.delete(path);
  }

  /**
   * Prepares for a full comparison: forgets entries whose copy differs from what is known, so that they are replaced,
   * and removes entries that the server does not have.
   */
  async function settle(carrier: Carrier, top: Folder): Promise<void> {
    const { entries, unreadable } = await carrier.list();
    const found = new Map(entries.map((entry) => [entry.path, entry]));
    for (const path of unreadable) known.delete(path);
    for (const path of [...known.keys()]) if (!found.has(path)) known.delete(path);
    const strange = entries.filter((entry) => !isKnown(entry));
    const unwanted = strange.filter(({ path, kind }) => {
      known.delete(path);
      return top.find(path)?.kind !== kind;
    });
    for (const path of pickTopmost([...unwanted.map((entry) => entry.path), ...unreadable])) await carrier.remove(path);
  }

  return {
    /** Makes the copy the same as the server's folder, whatever it held. */
    reset: (carrier: Carrier): Promise<void> =>
      inTurn(() =>
        withNear(async (top) => {
          await settle(carrier, top);
          await push(carrier, top);
        }),
      ),
    /** Carries the server's changes to the sandbox. */
    bringIn: (carrier: Carrier): Promise<void> => inTurn(() => withNear((top) => push(carrier, top))),
    /**
     * Carries the sandbox's changes back. @throws Problem 413 `workspace_too_large`, 503 `sandbox_lost`, 507
     * `disk_full`.
     */
    bringBack: (carrier: Carrier): Promise<void> => inTurn(() => withNear((top) => pull(carrier, top))),
  };
}

/** The paths that are not below another one of them. */
function pickTopmost(paths: readonly string[]): string[] {
  const all = new Set(paths);
  return paths.filter((path) => {
    for (let slash = path.indexOf("/"); slash >= 0; slash = path.indexOf("/", slash + 1))
      if (all.has(path.slice(0, slash))) return false;
    return true;
  });
}

function oneAfterAnother() {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(act: () => Promise<T>): Promise<T> => {
    const next = last.then(act);
    last = next.catch(() => {});
    return next;
  };
}

/** Runs at most `size` pieces of work at the same time; the first failure fails all. */
function createWindow(size: number) {
  const open: Promise<void>[] = [];
  return {
    async add(work: Promise<void>): Promise<void> {
      // The work may fail before it is awaited; that must not count as unhandled.
      work.catch(() => {});
      open.push(work);
      if (open.length >= size) await open.shift();
    },
    async all(): Promise<void> {
      await Promise.all(open);
    },
  };
}
