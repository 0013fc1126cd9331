/**
 * Caches of projects' environments: who gets which volume, and when a volume is removed. The labels of the engine's
 * volumes say whose they are, so the list always shows the volumes that exist.
 */
import type { CacheVolumes } from "../../adapter/sandbox/docker/caches.ts";
import { belowHome, SET_UP_CACHES } from "../../core/caches.ts";
import { DAY_MS, toTimestamp } from "../../core/clock.ts";
import { codeOf, messageOf, notFound } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Execution } from "../../engine/execution.ts";
import type { CacheFolders } from "../../engine/sandbox.ts";
import type { Caller } from "../../http/caller.ts";
import { LOCAL_USER } from "../../store/tables/providers.ts";
import type { Environment } from "../environments/model.ts";
import type { Core } from "../feature.ts";
import type { CachesCleared, ProjectCaches } from "./model.ts";

export interface EnvironmentCachesDeps extends Pick<Core, "store" | "clock" | "log"> {
  volumes: CacheVolumes | undefined;
  /** Why caches are not available; undefined when they are. */
  why: string | undefined;
  /** Whether the server has no accounts. */
  localUser: boolean;
  projects: { find(id: string): object | undefined };
  environmentOf(projectId: string): Environment | undefined;
}

export type EnvironmentCaches = ReturnType<typeof createEnvironmentCaches>;

export function createEnvironmentCaches(deps: EnvironmentCachesDeps) {
  const { store, clock, log, volumes, why, localUser, projects, environmentOf } = deps;
  const isForeign = store.statement("SELECT 1 FROM codehost_runs WHERE run_id = ? AND read_only = 1");
  const hasUser = store.statement("SELECT 1 FROM users WHERE id = ?");
  const usersName = store.statement<{ name: string }>("SELECT display_name AS name FROM users WHERE id = ?");
  const pathsOf = (projectId: string): readonly string[] => environmentOf(projectId)?.caches ?? [];
  async function seenBy(projectId: string, caller: Caller) {
    if (!projects.find(projectId)) throw notFound("project");
    const rows = (await volumes?.list()) ?? [];
    const own = caller.userId ?? (localUser ? LOCAL_USER : undefined);
    return rows.filter((row) => row.projectId === projectId && (caller.admin || row.owner === own));
  }
  /** @returns false while a sandbox uses the volume. */
  async function remove(name: string): Promise<boolean> {
    try {
      await volumes?.remove(name);
      return true;
    } catch (error) {
      if (codeOf(error) === "docker_conflict") return false;
      throw error;
    }
  }
  const isGone = (projectId: string, owner: string): boolean =>
    pathsOf(projectId).length === 0 ||
    !projects.find(projectId) ||
    (owner !== SET_UP_CACHES && (owner === LOCAL_USER ? !localUser : hasUser.get([owner]) === undefined));
  const isOld = (createdAt: string): boolean => Date.parse(createdAt) < clock.now() - LIMITS.cacheDays * DAY_MS;
  return {
    /** The folders that the sandbox of this work keeps; undefined when it keeps none. */
    foldersOf({
      projectId,
      userId,
      runId,
    }: Pick<Execution, "projectId" | "userId" | "runId">): CacheFolders | undefined {
      const owner = userId ?? (localUser ? LOCAL_USER : undefined);
      if (!volumes || projectId === undefined || owner === undefined) return undefined;
      const paths = belowHome(pathsOf(projectId));
      // Work on a stranger's pull request gets no caches: it could leave programs there that the person's next work
      // runs.
      if (paths.length === 0 || (runId !== undefined && isForeign.get([runId]) !== undefined)) return undefined;
      return { owner, projectId, paths };
    },
    /**
     * The folders that the project's set-up keeps. They are separate from everybody's work, so what a set-up leaves
     * there reaches only set-ups.
     */
    foldersOfSetUp(projectId: string): CacheFolders | undefined {
      const paths = belowHome(pathsOf(projectId));
      return volumes && paths.length > 0 ? { owner: SET_UP_CACHES, projectId, paths } : undefined;
    },
    /** @throws Problem 404, 503 when the engine does not answer. */
    async get(projectId: string, caller: Caller): Promise<ProjectCaches> {
      const seen = await seenBy(projectId, caller);
      const items = seen.map(({ owner, bytes, createdAt }) => ({
        of: owner === SET_UP_CACHES ? ("set-up" as const) : ("person" as const),
        user_id: owner === LOCAL_USER || owner === SET_UP_CACHES ? null : owner,
        user_name: usersName.get([owner])?.name ?? null,
        bytes,
        made_at: Number.isNaN(Date.parse(createdAt)) ? null : toTimestamp(Date.parse(createdAt)),
      }));
      return { project_id: projectId, paths: [...pathsOf(projectId)], unavailable: why ?? null, items };
    },
    /** Removes the caller's caches of the project; an administrator removes everybody's. @throws Problem 404, 503. */
    async clear(projectId: string, caller: Caller): Promise<CachesCleared> {
      const seen = await seenBy(projectId, caller);
      const ends = await Promise.all(seen.map(({ name }) => remove(name)));
      const removed = ends.filter(Boolean).length;
      return { removed, in_use: ends.length - removed };
    },
    /** All cache volumes. @throws Problem when the engine does not answer. */
    list: async () => (await volumes?.list()) ?? [],
    /**
     * Removes volumes whose user or project is gone, whose project keeps no caches any more, or that are too old or too
     * large. A volume in use is tried again at the next sweep.
     */
    async sweep(): Promise<void> {
      try {
        for (const { name, projectId, owner, bytes, createdAt } of (await volumes?.list()) ?? []) {
          const goes = isGone(projectId, owner) || isOld(createdAt) || bytes > LIMITS.cacheBytes;
          if (goes) await remove(name);
        }
      } catch (error) {
        log.debug({ err: error }, `caches were not swept: ${messageOf(error)}`);
      }
    },
  };
}
