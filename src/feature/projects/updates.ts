/** Updates clones: before runs, on request, after the history was rewritten, and for another default branch. */
import { Type as t } from "@sinclair/typebox";
import type { Git, Head } from "../../adapter/git.ts";
import { toTimestamp } from "../../core/clock.ts";
import { conflict, expectFound, invalidField, messageOf } from "../../core/errors.ts";
import { defineJob } from "../../core/jobs.ts";
import type { Masking } from "../../core/masking.ts";
import type { Core } from "../feature.ts";
import type { Jobs } from "../jobs/service.ts";
import { placeOf, reportTo } from "./clones.ts";
import { workspaceChanged } from "./events.ts";
import { type RemoteDeps, withRemote } from "./remote.ts";
import type { ProjectRow, ProjectStore } from "./store.ts";
import type { Turns } from "./turns.ts";
import { createUpstream } from "./upstream.ts";

export interface UpdatesDeps
  extends RemoteDeps,
    Pick<Turns, "inTurn" | "fetching">,
    Pick<Core, "store" | "clock" | "log"> {
  rows: ProjectStore;
  git: Git;
  /** Git's messages may hold text from the remote. */
  masking: Pick<Masking, "text">;
  jobs: Pick<Jobs, "enqueue" | "end">;
  /** Folder that holds one folder per project. */
  folder: string;
}

export type Updates = ReturnType<typeof createUpdates>;

const JOB_TIMEOUT_MS = 30 * 60_000;
const BEFORE_RUN_TIMEOUT_MS = 120_000;
const PARALLEL = 2;

interface FetchOptions {
  signal?: AbortSignal | undefined;
  timeoutMs: number;
  onProgress?(line: string): void;
}

export function createUpdates(deps: UpdatesDeps) {
  const { store, rows, clock, git, folder, inTurn, fetching } = deps;
  const upstream = createUpstream(git);
  const find = (id: string): ProjectRow => expectFound(rows.find(id), "project");
  /** @throws Problem 409. */
  const assertFetchable = (row: ProjectRow): string => {
    if (row.repository === null) throw conflict("The project has no repository to fetch from.", "no_repository");
    if (row.workspace_state !== "ready")
      throw conflict(`The project's clone is ${row.workspace_state}. Wait for it, or clone again.`, "workspace_failed");
    return row.repository;
  };
  /**
   * After the default branch may have moved, updates the project's own folder and its row. Call inside `inTurn`.
   * @param head the repository's head, if it is known.
   */
  async function settle(project_id: string, cause: "fetch" | "merge", head?: Head): Promise<void> {
    const place = placeOf(folder, project_id);
    const { commit, branch } = head ?? (await git.head(place.repository));
    if (rows.find(project_id)?.workspace_head === commit) return;
    await git.checkOut(place);
    store.write(({ emit }) => {
      rows.update(project_id, { workspace_head: commit }, "workspace");
      emit(workspaceChanged, { project_id, data: { cause, commit, branch } });
    });
  }
  async function bringUpToDate(id: string, options: FetchOptions): Promise<{ commit: string | null }> {
    const place = placeOf(folder, id);
    assertFetchable(find(id));
    await inTurn(id, async () => {
      // Marks the cloned commit as joined before the first fetch replaces it.
      const known = await upstream.find(place.repository);
      if (known && known.joined === null && known.fetched !== null)
        await git.setMark(place.repository, known.mark, known.fetched);
    });
    await fetching(id, () =>
      withRemote(deps, assertFetchable(find(id)), (remote) => git.fetch({ ...remote, ...place, ...options })),
    );
    return inTurn(id, async () => {
      find(id);
      await upstream.join(place.repository);
      await settle(id, "fetch");
      rows.update(id, { fetched_at: toTimestamp(clock.now()) }, "workspace");
      return { commit: (await git.head(place.repository)).commit };
    });
  }
  const definition = defineJob(
    "fetch_project",
    t.Object({ project_id: t.String() }),
    ({ project_id }, job) =>
      bringUpToDate(project_id, { signal: job.signal, timeoutMs: JOB_TIMEOUT_MS, onProgress: reportTo(job) }),
    { parallel: PARALLEL, outward: true },
  );
  /**
   * After the repository's history was rewritten, moves our default branch to the fetched one. Merges that were not
   * pushed are left out of it; the branches of runs stay.
   * @throws Problem 404, 409.
   */
  async function reset(id: string): Promise<void> {
    assertFetchable(find(id));
    const { repository } = placeOf(folder, id);
    await inTurn(id, async () => {
      const known = await upstream.find(repository);
      if (!known || known.fetched === null)
        throw conflict("Nothing was fetched. Fetch the project first.", "not_fetched");
      const { ours, branch, fetched, joined, mark } = known;
      for (const old of new Set([ours, ...(joined === null ? [] : [joined])]))
        if ((await git.mergeBase(repository, old, fetched)) !== old)
          await git.setMark(repository, `removed/${branch}/${old}`, old);
      await git.setBranch(repository, branch, fetched, ours);
      await git.setMark(repository, mark, fetched);
      await settle(id, "fetch");
    });
  }
  /**
   * Makes another branch the default; it must exist here or have been fetched.
   * @throws Problem 404, 409, 422 without such a branch.
   */
  async function switchTo(id: string, branch: string): Promise<void> {
    const row = find(id);
    if (row.workspace_state === "cloning")
      throw conflict("The project is being cloned. Change the branch once it is.", "workspace_busy");
    if (row.workspace_state !== "ready" || row.default_branch === branch) return;
    const { repository } = placeOf(folder, id);
    await inTurn(id, async () => {
      if ((await git.commitOf(repository, `refs/heads/${branch}`)) === null) {
        const fetched = await git.commitOf(repository, `refs/remotes/origin/${branch}`);
        if (fetched === null)
          throw invalidField("/default_branch", `The clone has no branch ${branch}. Fetch the project if it is new.`);
        await git.setBranch(repository, branch, fetched, null);
      }
      await git.setHead(repository, branch);
      await settle(id, "fetch");
    });
  }
  return {
    definition,
    settle,
    reset,
    switchTo,
    /** Ends a running fetch, because the project is deleted. */
    stop: (id: string): Promise<void> => deps.jobs.end(definition, id),
    /** Queues a fetch, or joins the live one. @throws Problem 404, 409 without a repository or a clone. */
    start(id: string, userId: string | undefined): ReturnType<Jobs["enqueue"]> {
      const row = find(id);
      assertFetchable(row);
      const options = { key: id, subject: row.name, projectId: id, userId };
      return store.write(() => deps.jobs.enqueue(definition, { project_id: id }, options));
    },
    /**
     * Updates the clone before a run.
     * @returns why that failed, for the run's record; null when it succeeded or is switched off.
     * @throws Problem when the project requires an update before runs.
     */
    async refresh(id: string, signal: AbortSignal | undefined): Promise<string | null> {
      const row = rows.find(id);
      if (!row?.repository || row.workspace_state !== "ready" || row.fetch_before_run === "never") return null;
      try {
        await bringUpToDate(id, { signal, timeoutMs: BEFORE_RUN_TIMEOUT_MS });
        return null;
      } catch (error) {
        if (signal?.aborted || row.fetch_before_run === "require") throw error;
        deps.log.warn({ err: error, project: id }, "not brought up to date before a run");
        return deps.masking.text(`The project could not be brought up to date: ${messageOf(error)}`);
      }
    },
  };
}
