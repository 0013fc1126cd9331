/**
 * Files in Git LFS for runs. They are fetched over http and https with the project's credentials and kept beside the
 * clone.
 */
import { existsSync, rmSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Git, LfsPointer } from "../../adapter/git.ts";
import type { OpenGuarded } from "../../adapter/guarded-fetch.ts";
import { isProblem } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import { asText } from "../../working-copy/folder.ts";
import type { Core } from "../feature.ts";
import { placeOf } from "./clones.ts";
import { type RemoteDeps, withRemote } from "./remote.ts";
import { parseRepository } from "./repository-address.ts";
import type { ProjectRow } from "./store.ts";

interface LfsDeps extends RemoteDeps, Pick<Core, "log"> {
  git: Pick<Git, "lfsPointers" | "fetchLfs" | "placeLfs">;
  open: OpenGuarded;
  /** Folder that holds one folder per project. */
  folder: string;
  /** Most bytes of content that is kept beside each clone for later runs while no fetch holds it. */
  keptBytes?: number | undefined;
}

/** The result of a fetch. Until it is disposed of, its content stays in place, whatever other runs fetch. */
export interface FetchedLfs extends Disposable {
  pointers: LfsPointer[];
  /** Path of the content of a pointer; undefined when it was not fetched. */
  pathOf(pointer: LfsPointer): string | undefined;
  missing: { path: string; why: string }[];
}

export type Lfs = ReturnType<typeof createLfs>;

const ALL_MS = 600_000;
export const NO_LFS: FetchedLfs = {
  pointers: [],
  pathOf: () => undefined,
  missing: [],
  [Symbol.dispose]() {},
};

export function createLfs(deps: LfsDeps) {
  const { git, log, folder, keptBytes = LIMITS.lfsBytes } = deps;
  /** The object ids that each fetch holds, by the folder in which they are stored. */
  const held = new Map<string, Set<ReadonlySet<string>>>();
  function hold(store: string, oids: ReadonlySet<string>): Disposable {
    const all = held.get(store) ?? new Set();
    held.set(store, all.add(oids));
    return {
      [Symbol.dispose]() {
        all.delete(oids);
        if (all.size === 0) held.delete(store);
      },
    };
  }
  const isHeld = (store: string, oid: string): boolean => [...(held.get(store) ?? [])].some((oids) => oids.has(oid));
  return {
    /**
     * Fetches the content of a commit's pointers into the store beside the clone. The answer names what failed; the
     * caller disposes of it.
     */
    async fetch(project: ProjectRow, commit: string, signal: AbortSignal | undefined): Promise<FetchedLfs> {
      const { repository } = placeOf(folder, project.id);
      const pointers = await git.lfsPointers(repository, commit);
      if (pointers.length === 0) return NO_LFS;
      const store = join(repository, "lfs");
      const fileOf = (oid: string): string => join(store, oid.slice(0, 2), oid);
      const why = new Map<string, string>();
      const wanted = new Map<string, LfsPointer>();
      let bytes = 0;
      for (const pointer of pointers) {
        const { oid, size } = pointer;
        if (wanted.has(oid)) continue;
        if (size > LIMITS.lfsFileBytes) why.set(oid, `It has ${size} bytes; ${LIMITS.lfsFileBytes} are fetched.`);
        else if (wanted.size >= LIMITS.lfsFiles || bytes + size > LIMITS.lfsBytes)
          why.set(oid, `${LIMITS.lfsFiles} files of ${LIMITS.lfsBytes} bytes together are fetched.`);
        else {
          wanted.set(oid, pointer);
          bytes += size;
        }
      }
      using holding = new DisposableStack();
      holding.use(hold(store, new Set(wanted.keys())));
      const objects = [...wanted.values()].filter(({ oid }) => !existsSync(fileOf(oid)));
      const all = AbortSignal.any([AbortSignal.timeout(ALL_MS), ...(signal ? [signal] : [])]);
      try {
        const endpoint = endpointOf(project.repository, deps);
        if (objects.length > 0 && endpoint === undefined)
          for (const { oid } of objects) why.set(oid, "Git LFS is reached over http and https alone.");
        else if (objects.length > 0 && endpoint !== undefined)
          await withRemote(deps, project.repository ?? "", async ({ authorization }) => {
            const request = { endpoint, authorization, open: deps.open, objects, pathOf: fileOf, signal: all };
            for (const [oid, reason] of await git.fetchLfs(request)) why.set(oid, reason);
          });
      } catch (error) {
        signal?.throwIfAborted();
        log.warn({ err: error, project: project.id }, "files in Git LFS not fetched");
        const reason = isProblem(error)
          ? error.detail
          : all.aborted
            ? "There was no time left for it."
            : "The server could not be reached.";
        for (const { oid } of objects) if (!existsSync(fileOf(oid))) why.set(oid, reason);
      }
      await dropOthers(store, (oid) => isHeld(store, oid), keptBytes);
      const moved = holding.move();
      return {
        [Symbol.dispose]: () => moved.dispose(),
        pointers,
        pathOf: ({ oid }) => (existsSync(fileOf(oid)) ? fileOf(oid) : undefined),
        missing: pointers.flatMap(({ path, oid }) => {
          const reason = why.get(oid);
          return reason === undefined ? [] : [{ path: asText(path), why: reason }];
        }),
      };
    },
  };
}

/** The address of the repository's LFS server; undefined when the repository is not reached over http or https. */
function endpointOf(repository: string | null, { rules }: Pick<LfsDeps, "rules">): string | undefined {
  if (repository === null) return undefined;
  const { transport, source } = parseRepository(repository, rules);
  if (transport !== "https" && transport !== "http") return undefined;
  const base = source.endsWith("/") ? source.slice(0, -1) : source;
  return `${base.endsWith(".git") ? base : `${base}.git`}/info/lfs`;
}

/** Removes content that no fetch holds, as far as all of it together exceeds the limit. */
async function dropOthers(store: string, isHeld: (oid: string) => boolean, keptBytes: number): Promise<void> {
  const names = await readdir(store, { recursive: true }).catch(() => []);
  const others = names.filter((name) => /^..\/[0-9a-f]{64}/.test(name));
  let bytes = 0;
  for (const name of others) {
    const path = join(store, name);
    const size = (await stat(path).catch(() => undefined))?.size ?? 0;
    // This is asked right before the removal: another run may have begun to hold the content meanwhile.
    if (isHeld(name.slice("00/".length))) continue;
    bytes += size;
    if (bytes > keptBytes) rmSync(path, { force: true });
  }
}
