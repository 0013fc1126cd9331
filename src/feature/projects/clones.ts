/**
 * Cloning in the background, as state that can be seen: `cloning` until it is `ready` or `failed`. A clone that a
 * stopped or killed server left unfinished begins again at the next start.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { AddressGuard } from "../../adapter/address-guard.ts";
import type { Git } from "../../adapter/git.ts";
import type { Clock } from "../../core/clock.ts";
import { isProblem } from "../../core/errors.ts";
import type { Logger } from "../../core/log.ts";
import type { Store } from "../../store/store.ts";
import { jobProgress } from "../jobs/events.ts";
import { workspaceChanged } from "./events.ts";
import { parseRepository, type RepositoryRules } from "./repository-address.ts";
import type { ProjectRow, ProjectStore } from "./store.ts";

export interface ClonesDeps {
  store: Store;
  rows: ProjectStore;
  clock: Clock;
  log: Logger;
  git: Git;
  guard: AddressGuard;
  rules: RepositoryRules;
  /** Folder that holds one folder a project. */
  folder: string;
}

export interface Clones {
  /** Begins a clone of a project whose row says `cloning`, after the transaction around it has committed. */
  start(id: string): void;
  /** Aborts it if it runs, and removes whatever the project has on disk. */
  discard(id: string): Promise<void>;
  /** Begins anew what an earlier process left unfinished. @returns how many. */
  resume(): number;
  /** Aborts what runs and waits for it; rows stay `cloning`, so the next start goes on. */
  stop(): Promise<void>;
}

export interface ProjectPlace {
  /** Git's own folder, out of every agent's reach. */
  repository: string;
  workspace: string;
}

export const placeOf = (folder: string, id: string): ProjectPlace => ({
  repository: join(folder, id, "git"),
  workspace: join(folder, id, "workspace"),
});

const PARALLEL = 2;
const PROGRESS_MS = 500;

export function createClones(deps: ClonesDeps): Clones {
  const { rows, log, folder } = deps;
  const waiting: string[] = [];
  const running = new Map<string, { abort: AbortController; done: Promise<void> }>();
  let stopped = false;

  const next = (): void => {
    while (!stopped && running.size < PARALLEL && waiting.length > 0) {
      const id = waiting.shift()!;
      const abort = new AbortController();
      const done = cloneProject(deps, id, abort.signal)
        .catch((err: unknown) => log.error({ err, project: id }, "clone could not be written"))
        .finally(() => {
          running.delete(id);
          next();
        });
      running.set(id, { abort, done });
    }
  };
  const start = (id: string): void => {
    if (waiting.includes(id) || running.has(id)) return;
    waiting.push(id);
    // A microtask later the transaction around the caller is over.
    queueMicrotask(next);
  };
  return {
    start,
    async discard(id) {
      const at = waiting.indexOf(id);
      if (at >= 0) waiting.splice(at, 1);
      const work = running.get(id);
      work?.abort.abort();
      await work?.done;
      await rm(join(folder, id), { recursive: true, force: true, maxRetries: 3 });
    },
    resume() {
      const unfinished = rows.inState("cloning");
      for (const { id } of unfinished) start(id);
      return unfinished.length;
    },
    async stop() {
      stopped = true;
      for (const { abort } of running.values()) abort.abort();
      await Promise.all([...running.values()].map((work) => work.done));
    },
  };
}

async function cloneProject(deps: ClonesDeps, id: string, signal: AbortSignal): Promise<void> {
  const { rows, store, git, folder, log } = deps;
  const row = rows.find(id);
  if (row?.workspace_state !== "cloning" || row.repository === null) return;
  const place = placeOf(folder, id);
  try {
    await rm(join(folder, id), { recursive: true, force: true, maxRetries: 3 });
    await fetchInto(deps, row, signal);
    const { commit, branch } = await git.head(place.repository);
    store.write(({ emit }) => {
      const ready = { workspace_state: "ready", workspace_error: null, workspace_head: commit } as const;
      rows.update(id, { ...ready, default_branch: row.default_branch ?? branch }, "workspace");
      emit(workspaceChanged, { project_id: id, data: { cause: "clone", commit, branch } });
    });
  } catch (error) {
    if (signal.aborted) return;
    if (!isProblem(error)) log.error({ err: error, project: id }, "clone failed");
    const said = isProblem(error)
      ? error.detail
      : `The clone failed (${(error as { code?: string }).code ?? "internal"}).`;
    rows.update(id, { workspace_state: "failed", workspace_error: said, workspace_head: null }, "workspace");
  }
}

async function fetchInto(
  { git, guard, rules, folder, store, clock }: ClonesDeps,
  row: ProjectRow,
  signal: AbortSignal,
): Promise<void> {
  const { transport, source, host } = parseRepository(row.repository ?? "", rules);
  const address = host && (await guard.resolve(host.name))[0]!.address;
  let told = Number.NEGATIVE_INFINITY;
  await git.clone({
    source,
    transport,
    ...(host && address ? { pin: { host: host.name, port: host.port, address } } : {}),
    ...placeOf(folder, row.id),
    branch: row.default_branch ?? undefined,
    signal,
    onProgress(line) {
      const [, phase, percent] = /^(?:remote: )?([A-Z][a-z ]+): +(\d+)%/.exec(line) ?? [];
      if (phase === undefined || clock.monotonic() - told < PROGRESS_MS) return;
      told = clock.monotonic();
      const job = { job_id: row.id, kind: "clone", state: "running" as const, error: null };
      const data = { ...job, subject: row.name, detail: phase, percent: Number(percent) };
      store.emitSoon(jobProgress, { project_id: row.id, data });
    },
  });
}
