/** Runs end merged, or as a report of what is in conflict. */
import type { ConflictingFile, Hunk } from "../../adapter/git.ts";
import { conflict, forbidden, notFound } from "../../core/errors.ts";
import type { JobDefinition, RunningJob } from "../../core/jobs.ts";
import { isRunEnd } from "../../core/run-states.ts";
import { actorOf, type Caller } from "../../http/caller.ts";
import { listAnswer, type Page } from "../../http/list.ts";
import type { Audit } from "../../store/audit.ts";
import type { Store } from "../../store/store.ts";
import type { Job } from "../jobs/model.ts";
import type { Jobs } from "../jobs/service.ts";
import type { RunBranch, RunBranches } from "../projects/branches.ts";
import { runMerged } from "../runs/events.ts";
import type { RunRow, RunStore } from "../runs/store.ts";
import type { RunViews } from "../runs/views.ts";
import type { Tasks } from "../tasks/service.ts";
import { conflictTask } from "./conflict-task.ts";
import { createMergeJob, type MergePayload } from "./merge-job.ts";
import type { Merge, RunDiff, RunFiles, RunMerge } from "./merge-model.ts";

export interface MergingDeps {
  store: Store;
  rows: RunStore;
  views: RunViews;
  audit: Audit;
  branches: RunBranches;
  tasks: Pick<Tasks, "create">;
  jobs: Pick<Jobs, "enqueue" | "get">;
}

export interface Merging {
  /** @throws Problem 404, 409 without a project. */
  diff(runId: string, page: Page, caller: Caller, path?: string): Promise<RunDiff>;
  /** Its files alone. @throws Problem 404, 409 without a project. */
  files(runId: string, page: Page, caller: Caller): Promise<RunFiles>;
  /** What it changed in one file; undefined when it did not. @throws Problem 404, 409 without a project. */
  file(runId: string, path: string, caller: Caller): Promise<{ hunks: Hunk[]; cut: boolean } | undefined>;
  /** A patch that `git apply` takes, at most 10 MB. @throws Problem 409 for a longer one. */
  patch(runId: string, caller: Caller): Promise<string>;
  /**
   * As a background job, which continues when the caller has gone away.
   * @param waitMs how long its end is waited for. @returns the merge; the job when it takes longer.
   * @throws Problem 409 `merge_conflict` with `files`, `run_active`, `nothing_to_merge`, `merge_cancelled`.
   */
  merge(runId: string, request: RunMerge, caller: Caller, waitMs?: number): Promise<Merge | Job>;
  mergeJob: JobDefinition;
  stop(): void;
}

const MAX_PATCH_BYTES = 10 * 1024 * 1024;
const TITLE_CHARACTERS = 72;
const NAMED_FILES = 10;
/** When a merge takes longer, the caller gets the job instead. */
const WAIT_MS = 30_000;

export function createMerging({ store, rows, views, audit, branches, tasks, jobs }: MergingDeps): Merging {
  const job = createMergeJob({ jobs, merge: merged });
  const find = (id: string, caller: Caller) => {
    const row = views.rowFor(id, caller);
    if (row.project_id === null)
      throw conflict("The run has no project, so nothing of it is in a repository.", "no_project");
    return { row, branch: branchOf(row, row.project_id) };
  };
  const titleOf = (row: RunRow) => row.task_description.trim().split("\n")[0]!.slice(0, TITLE_CHARACTERS);
  return {
    async files(id, page, caller) {
      const { branch } = find(id, caller);
      const { head, changed } = await branches.diff(branch, { after: page.after, limit: page.limit + 1 });
      const list = listAnswer(
        changed.files,
        page,
        ({ path }) => path,
        (file) => file,
      );
      return { run_id: id, head, stats: changed.stats, ...list };
    },
    async diff(id, page, caller, path) {
      const { row, branch } = find(id, caller);
      const wanted = path === undefined ? { after: page.after, limit: page.limit + 1 } : { path };
      const found = await branches.diff(branch, wanted);
      const { files, stats } = found.changed;
      const { items, next_cursor } = listAnswer(
        files,
        page,
        ({ path }) => path,
        (file) => file,
      );
      const shown: RunDiff["items"] = [];
      for (const file of items) shown.push({ ...file, ...(await branches.hunks(branch, found, file.path)) });
      return {
        ...{ run_id: id, branch: found.branch, base: found.base, head: found.head },
        ...{ merged_commit: row.merged_commit, merged_into: row.merged_into },
        stats,
        ...{ items: shown, next_cursor },
      };
    },
    async file(id, path, caller) {
      const { branch } = find(id, caller);
      const found = await branches.diff(branch, { path });
      return found.changed.files.length > 0 ? branches.hunks(branch, found, path) : undefined;
    },
    async patch(id, caller) {
      const { patch, cut } = await branches.patch(find(id, caller).branch, MAX_PATCH_BYTES);
      if (cut) throw conflict("The patch is longer than 10 MB. Read it by pages, without `format`.", "patch_too_large");
      return patch;
    },
    async merge(
      id,
      { strategy = "merge", into = null, message, push = false, task = false },
      caller,
      waitMs = WAIT_MS,
    ) {
      const { row, branch } = find(id, caller);
      if (push && !caller.admin)
        throw forbidden(
          "Only an administrator pushes to a project's branches. Merge without push, or push the run's own.",
        );
      assertEnded(row);
      const standard = strategy === "squash" ? `${titleOf(row)}\n\nRun: ${id}` : `Merge run ${id}: ${titleOf(row)}`;
      const { project_id } = branch;
      const by = { actor: actorOf(caller), address: caller.address ?? null };
      const payload = { run_id: id, project_id, strategy, into, message: message ?? standard, push, task, ...by };
      return job.run(payload, caller, waitMs);
    },
    mergeJob: job.definition,
    stop: job.stop,
  };

  /** @throws Problem 409 `merge_conflict`, `run_active`, `nothing_to_merge`. */
  async function merged(request: MergePayload, { signal, report }: RunningJob, owner: Caller): Promise<Merge> {
    const { run_id, strategy, message, push, task } = request;
    const row = rows.run(run_id);
    if (!row) throw notFound("run");
    assertEnded(row);
    const branch = branchOf(row, request.project_id);
    const { merged_head, merged_into, merged_commit } = row;
    const taken = merged_head && merged_into ? { head: merged_head, into: merged_into } : null;
    report({ detail: "Joining the branches." });
    const done = await branches.merge(branch, {
      ...{ strategy, into: request.into ?? undefined, message, taken, signal },
      onStep: (percent) => report({ percent }),
    });
    const { into, head, outcome } = done;
    if (outcome?.conflicts) {
      const of = { row, into, conflicts: outcome.conflicts, branch };
      const task_id = task ? await conflictTask({ store, branches, tasks }, of, owner) : undefined;
      throw inConflict(into, outcome.conflicts, outcome.more, task_id);
    }
    const commit = outcome?.commit ?? merged_commit!;
    const refs = { run_id, project_id: branch.project_id, user_id: row.created_by ?? undefined };
    if (outcome) {
      store.write((tx) => {
        rows.updateRun(run_id, { merged_commit: commit, merged_into: into, merged_head: head });
        tx.emit(runMerged, { ...refs, data: { strategy, into, commit } });
        const { actor, address } = request;
        audit({ action: "run.merged", actor, subject: run_id, address: address ?? undefined, data: { into } });
      });
      await branches.forgetMerge(branch, done);
    }
    if (push) {
      report({ detail: `Pushing ${into}.` });
      await branches.push(branch.project_id, into);
    }
    return { run_id, strategy, into, commit, pushed: push };
  }
}

function assertEnded({ status }: RunRow): void {
  if (!isRunEnd(status)) throw conflict(`The run is ${status}. Wait until it has ended, or cancel it.`, "run_active");
}

const branchOf = ({ id: run_id, base_commit, merged_head }: RunRow, project_id: string): RunBranch => ({
  ...{ run_id, project_id, base_commit, merged_head },
});

function inConflict(into: string, files: ConflictingFile[], more: number, task_id: string | undefined) {
  const named = files.map(({ path }) => path);
  const others = named.length + more > NAMED_FILES ? " and others" : "";
  return conflict(
    `The run and ${into} are in conflict in ${named.slice(0, NAMED_FILES).join(", ")}${others}. Start a run that solves it from today's ${into}, or merge by hand.`,
    "merge_conflict",
    { into, files, more, ...(task_id === undefined ? {} : { task_id }) },
  );
}
