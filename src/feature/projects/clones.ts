/**
 * Clones repositories in background jobs. The project's row shows the state: `cloning` until it is `ready` or `failed`.
 * A clone that a stopped or killed server left unfinished begins again at the next start.
 */
import { join } from "node:path";
import { Type as t } from "@sinclair/typebox";
import type { Git } from "../../adapter/git.ts";
import { actOnEach } from "../../core/act-on-each.ts";
import { codeOf, isProblem, unavailable } from "../../core/errors.ts";
import { defineJob, type EndedJob, type RunningJob } from "../../core/jobs.ts";
import { removeFolder } from "../../working-copy/folder.ts";
import type { Core } from "../feature.ts";
import type { Jobs } from "../jobs/service.ts";
import { workspaceChanged } from "./events.ts";
import { type RemoteDeps, withRemote } from "./remote.ts";
import type { ProjectRow, ProjectStore } from "./store.ts";
import type { Turns } from "./turns.ts";

interface ClonesDeps extends RemoteDeps, Pick<Turns, "alone">, Pick<Core, "store" | "log"> {
  rows: ProjectStore;
  jobs: Pick<Jobs, "enqueue" | "end">;
  git: Git;
  /** Folder that holds one folder per project. */
  folder: string;
}

export type Clones = ReturnType<typeof createClones>;

interface ProjectPlace {
  /** Git's own folder, which agents cannot reach. */
  repository: string;
  workspace: string;
}

export const placeOf = (folder: string, id: string): ProjectPlace => ({
  repository: join(folder, id, "git"),
  workspace: join(folder, id, "workspace"),
});

/** The result of a clone. */
type Cloned = { commit: string | null; branch: string };

const Payload = t.Object({ project_id: t.String() });
const PARALLEL = 2;

export function createClones(deps: ClonesDeps) {
  const { store, rows, jobs } = deps;

  /** Records in the project's row how its clone ended, in the same transaction. */
  function recordEnd({
    payload: { project_id },
    state,
    result,
    error,
  }: EndedJob<{ project_id: string }, Cloned>): void {
    const row = rows.find(project_id);
    if (row?.workspace_state !== "cloning") return;
    if (state !== "succeeded" || !result) {
      const workspace_error = error?.message ?? "The clone was cancelled.";
      rows.update(project_id, { workspace_state: "failed", workspace_error, workspace_head: null }, "workspace");
      return;
    }
    const { commit, branch } = result;
    const ready = { workspace_state: "ready", workspace_error: null, workspace_head: commit } as const;
    rows.update(project_id, { ...ready, default_branch: row.default_branch ?? branch }, "workspace");
    store.write(({ emit }) => emit(workspaceChanged, { project_id, data: { cause: "clone", commit, branch } }));
  }
  const clone = defineJob("clone", Payload, ({ project_id }, job) => cloneProject(deps, project_id, job), {
    parallel: PARALLEL,
    outward: true,
    onEnd: recordEnd,
  });
  /** Begins a clone of a project whose row says `cloning`, after the transaction around it has committed. */
  const start = ({ id, name }: ProjectRow): void =>
    void jobs.enqueue(clone, { project_id: id }, { key: id, subject: name, projectId: id });
  return {
    definition: clone,
    start,
    /** Ends a running clone, and removes everything that the project has on disk except working copies. */
    async discard(id: string): Promise<void> {
      await jobs.end(clone, id);
      await removeClone(deps, id);
    },
    /** Begins clones for projects whose row says `cloning`. Projects with a live job join it. */
    resume(): void {
      actOnEach(rows.inState("cloning"), start);
    },
  };
}

/**
 * Before the first work in a clone, removes what a killed git left there. While the project is being cloned, all files
 * belong to that clone's git and stay.
 */
export const cloneOpener =
  ({ rows, git, folder }: Pick<ClonesDeps, "rows" | "folder"> & { git: Pick<Git, "removeLeftovers"> }) =>
  async (id: string): Promise<void> => {
    if (rows.find(id)?.workspace_state !== "cloning") await git.removeLeftovers(placeOf(folder, id).repository);
  };

/** Removes the project's folder, once the work in its clone is done. */
const removeClone = ({ alone, folder }: ClonesDeps, id: string): Promise<void> =>
  alone(id, () => removeFolder(join(folder, id)));

async function cloneProject(deps: ClonesDeps, id: string, job: RunningJob) {
  const { rows, git, folder, log } = deps;
  const row = rows.find(id);
  if (row?.workspace_state !== "cloning" || row.repository === null) return undefined;
  try {
    await removeClone(deps, id);
    await fetchInto(deps, row, job);
    return { ...(await git.head(placeOf(folder, id).repository)) };
  } catch (error) {
    if (job.signal.aborted || isProblem(error)) throw error;
    log.error({ err: error, project: id }, "clone failed");
    throw unavailable("clone_failed", `The clone failed (${codeOf(error) ?? "internal"}).`);
  }
}

async function fetchInto(deps: ClonesDeps, row: ProjectRow, job: RunningJob): Promise<void> {
  await withRemote(deps, row.repository ?? "", (remote) =>
    deps.git.clone({
      ...remote,
      ...placeOf(deps.folder, row.id),
      branch: row.default_branch ?? undefined,
      signal: job.signal,
      onProgress: reportTo(job),
    }),
  );
}

/** Reports git's progress lines as the job's progress. Received amounts go into the detail. */
export const reportTo = (job: Pick<RunningJob, "report">) => (line: string) => {
  const [, what, percent, amount] =
    /^(?:remote: )?([A-Z][a-z ]+): +(\d+)%.*?(?:, ([\d.]+ [KMG]?i?B))?/.exec(line) ?? [];
  if (what !== undefined) job.report({ detail: amount ? `${what}, ${amount}` : what, percent: Number(percent) });
};
