/**
 * Submodules of a project: which may be fetched, and with what credentials. An address in `.gitmodules` is a stranger's
 * text, so it is checked like a project's own address. The server's credentials (the code host's token, its user's ssh
 * keys) and paths of this machine are only used for submodules on the host of the project's own repository.
 */
import { createHash } from "node:crypto";
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Git, Submodule } from "../../adapter/git.ts";
import { codeOf, invalidField, isProblem } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Core } from "../feature.ts";
import { placeOf } from "./clones.ts";
import { type RemoteDeps, withRemote } from "./remote.ts";
import { parseRepository, type RepositoryAddress } from "./repository-address.ts";
import type { ProjectRow } from "./store.ts";

interface SubmodulesDeps extends RemoteDeps, Pick<Core, "log"> {
  git: Pick<Git, "submodules" | "fetchCommit" | "placeCommit">;
  /** Folder that holds one folder per project. */
  folder: string;
}

export interface MissingSubmodule {
  path: string;
  why: string;
}

interface FetchedSubmodules {
  /** Fetched submodules; parents come before the submodules in them. */
  fetched: { path: string; commit: string; repository: string }[];
  missing: MissingSubmodule[];
}

export type Submodules = ReturnType<typeof createSubmodules>;

interface Waiting extends Submodule {
  /** The address of the repository that names the submodule. Relative addresses start from it. */
  parent: string;
  /** Nesting: 1 for a submodule of the project itself. */
  level: number;
}

const ONE_MS = 120_000;
const ALL_MS = 300_000;
/** Most repositories of submodules that a project keeps. */
const KEPT = 3 * LIMITS.submodules;
const BOUNDS = { files: LIMITS.submoduleFiles, bytes: LIMITS.submoduleBytes };

export function createSubmodules(deps: SubmodulesDeps) {
  const { git, log, folder } = deps;
  const storeOf = (projectId: string): string => join(placeOf(folder, projectId).repository, "modules");
  /** @throws Problem 422 for an address that may not be reached from here. */
  const checkAddress = (module: Waiting, own: RepositoryAddress): { address: RepositoryAddress; isOwn: boolean } => {
    const address = parseRepository(resolveAddress(module.url, module.parent), deps.rules);
    const { transport, host } = address;
    const isOwn = transport === own.transport && host?.name === own.host?.name && host?.port === own.host?.port;
    const isFirst = module.level === 1;
    if ((transport === "file" && !isOwn) || (transport === "ssh" && !(isOwn && isFirst)))
      throw invalidField("/url", "Its address is for the host of the project's own repository alone.");
    return { address, isOwn: isOwn && isFirst };
  };
  async function fetchOne(
    module: Waiting,
    repository: string,
    own: RepositoryAddress,
    signal: AbortSignal,
  ): Promise<string> {
    const { address, isOwn } = checkAddress(module, own);
    const authorizationFor = isOwn ? deps.authorizationFor : async () => undefined;
    await withRemote({ ...deps, authorizationFor }, address.source, (remote) =>
      git.fetchCommit({ ...remote, repository, commit: module.commit, signal, timeoutMs: ONE_MS }),
    );
    return address.source;
  }
  return {
    /**
     * Fetches the submodules of a commit, and the submodules in them, into folders beside the clone. The answer names
     * those that fail.
     */
    async fetch(project: ProjectRow, commit: string, signal: AbortSignal | undefined): Promise<FetchedSubmodules> {
      const found: FetchedSubmodules = { fetched: [], missing: [] };
      if (project.repository === null) return found;
      const own = parseRepository(project.repository, deps.rules);
      const { repository: clone } = placeOf(folder, project.id);
      const store = storeOf(project.id);
      const all = AbortSignal.any([AbortSignal.timeout(ALL_MS), ...(signal ? [signal] : [])]);
      const listBelow = async (repository: string, at: string, parent: string, level: number, prefix = "") =>
        (await git.submodules(repository, at, LIMITS.submodules + 1)).map((one) => ({
          ...one,
          path: prefix + one.path,
          parent,
          level,
        }));
      const waiting: Waiting[] = await listBelow(clone, commit, own.source, 1);
      for (let module = waiting.shift(); module; module = waiting.shift()) {
        const { path, level } = module;
        try {
          if (found.fetched.length >= LIMITS.submodules || level > LIMITS.submoduleLevels)
            throw invalidField(
              "/path",
              `${LIMITS.submodules} submodules, ${LIMITS.submoduleLevels} in one another, are fetched.`,
            );
          const key = `${resolveAddress(module.url, module.parent)}\n${module.commit}`;
          const name = createHash("sha256").update(key).digest("hex");
          const repository = join(store, name);
          const source = await fetchOne(module, repository, own, all);
          found.fetched.push({ path, commit: module.commit, repository });
          waiting.push(...(await listBelow(repository, module.commit, source, level + 1, `${path}/`)));
        } catch (error) {
          signal?.throwIfAborted();
          found.missing.push({ path, why: reasonOf(error) });
          log.warn({ err: error, project: project.id, path }, "submodule not fetched");
        }
      }
      await dropOldest(store, new Set(found.fetched.map(({ repository }) => repository)));
      return found;
    },
    /** Puts the submodules' files into a working copy. @returns the submodules that could not be put there. */
    async place(
      copy: string,
      { fetched }: FetchedSubmodules,
      signal: AbortSignal | undefined,
    ): Promise<MissingSubmodule[]> {
      const missing: MissingSubmodule[] = [];
      for (const { path, commit, repository } of fetched)
        try {
          await git.placeCommit({ repository, commit, copy, path, bounds: BOUNDS, signal });
        } catch (error) {
          signal?.throwIfAborted();
          missing.push({ path, why: reasonOf(error) });
          log.warn({ err: error, path }, "submodule not put into a working copy");
        }
      return missing;
    },
  };
}

const reasonOf = (error: unknown): string => {
  if (isProblem(error)) return error.detail;
  if (error instanceof DOMException && error.name === "TimeoutError") return "There was no time left for it.";
  return `It could not be written (${codeOf(error) ?? "internal"}).`;
};

/**
 * Resolves an address. One that begins with `./` or `../` is relative to the address of the repository that names it.
 */
export function resolveAddress(url: string, parent: string): string {
  if (!/^\.\.?\//.test(url)) return url;
  let base = parent;
  while (base.endsWith("/")) base = base.slice(0, -1);
  let join = "/";
  let rest = url;
  for (;;) {
    if (rest.startsWith("./")) rest = rest.slice(2);
    else if (rest.startsWith("../")) {
      const end = Math.max(base.lastIndexOf("/"), base.lastIndexOf(":"));
      if (end < 0) return url;
      join = base[end] ?? "/";
      base = base.slice(0, end);
      rest = rest.slice(3);
    } else return `${base}${join}${rest}`;
  }
}

/** Removes the oldest repositories that are not needed now. They are fetched again when a run needs them. */
async function dropOldest(store: string, needed: ReadonlySet<string>): Promise<void> {
  const paths = (await readdir(store).catch(() => [])).map((name) => join(store, name));
  const others = paths.filter((path) => !needed.has(path));
  const room = KEPT - needed.size;
  if (others.length <= room) return;
  const aged = await Promise.all(others.map(async (path) => ({ path, ms: (await stat(path)).mtimeMs })));
  for (const { path } of aged.sort((a, b) => b.ms - a.ms).slice(room)) await rm(path, { recursive: true, force: true });
}
