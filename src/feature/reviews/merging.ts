/**
 * Shows the changes of work on a branch and merges them. A merge ends with the changes merged, or with a report of the
 * conflicts.
 */
import type { ConflictingFile, Hunk } from "../../adapter/git.ts";
import { conflict, forbidden, notFound } from "../../core/errors.ts";
import { isId } from "../../core/ids.ts";
import type { RunningJob } from "../../core/jobs.ts";
import { assertRole, roleIn } from "../../core/ownership.ts";
import { actorOf, type Caller } from "../../http/caller.ts";
import { listAnswer, type Page } from "../../http/list.ts";
import type { ProjectAccess } from "../../store/project-access.ts";
import type { Core } from "../feature.ts";
import type { Job } from "../jobs/model.ts";
import type { Jobs } from "../jobs/service.ts";
import type { WorkBranches } from "../projects/branches.ts";
import type { Works } from "../projects/works.ts";
import { runMerged } from "../runs/events.ts";
import type { Tasks } from "../tasks/service.ts";
import { conflictTask } from "./conflict-task.ts";
import { changesMerged } from "./events.ts";
import { createMergeJob, type MergePayload } from "./merge-job.ts";
import type { ChangedFiles, Diff, Merged, MergeRequest } from "./merge-model.ts";
import { type Reviewed, type ReviewedWork, wordOf } from "./reviewed.ts";

export interface MergingDeps extends Pick<Core, "store" | "audit"> {
  access: Pick<ProjectAccess, "within">;
  reviewed: ReviewedWork;
  works: Pick<Works, "update">;
  branches: WorkBranches;
  tasks: Pick<Tasks, "create">;
  jobs: Pick<Jobs, "enqueue" | "get">;
}

export type Merging = ReturnType<typeof createMerging>;

const MAX_PATCH_BYTES = 10 * 1024 * 1024;
const TITLE_CHARACTERS = 72;
const NAMED_FILES = 10;
/** When a merge takes longer than this, the caller gets its job instead. */
const WAIT_MS = 30_000;

export function createMerging({ store, reviewed, works, audit, branches, tasks, jobs, access }: MergingDeps) {
  const job = createMergeJob({ jobs, access, merge: mergeWork });
  const titleOf = ({ title }: Reviewed) => title.trim().split("\n")[0]!.slice(0, TITLE_CHARACTERS);
  return {
    /** The changed files, without their contents. @throws Problem 404, 409 without a project. */
    async files(id: string, page: Page, caller: Caller): Promise<ChangedFiles> {
      const row = reviewed.find(id, caller);
      const { head, changed } = await branches.diff(row, { after: page.after, limit: page.limit + 1 });
      const list = listAnswer(changed.files, page, ({ path }) => path);
      return { work_id: row.id, head, stats: changed.stats, ...list };
    },
    /** @throws Problem 404, 409 without a project. */
    async diff(id: string, page: Page, caller: Caller, path?: string): Promise<Diff> {
      const row = reviewed.find(id, caller);
      const wanted = path === undefined ? { after: page.after, limit: page.limit + 1 } : { path };
      const found = await branches.diff(row, wanted);
      const { files, stats } = found.changed;
      const { items, next_cursor } = listAnswer(files, page, ({ path }) => path);
      const shown: Diff["items"] = [];
      for (const file of items) shown.push({ ...file, ...(await branches.hunks(row, found, file.path)) });
      return {
        work_id: row.id,
        branch: found.branch,
        base: found.base,
        head: found.head,
        merged_commit: row.merged_commit,
        merged_into: row.merged_into,
        stats,
        items: shown,
        next_cursor,
      };
    },
    /** The changes of one file; undefined when the file was not changed. @throws Problem 404, 409 without a project. */
    async file(id: string, path: string, caller: Caller): Promise<{ hunks: Hunk[]; cut: boolean } | undefined> {
      const row = reviewed.find(id, caller);
      const found = await branches.diff(row, { path });
      return found.changed.files.length > 0 ? branches.hunks(row, found, path) : undefined;
    },
    /** A patch for `git apply`, at most 10 MB. @throws Problem 409 for a longer one. */
    async patch(id: string, caller: Caller): Promise<string> {
      const { patch, cut } = await branches.patch(reviewed.find(id, caller), MAX_PATCH_BYTES);
      if (cut) throw conflict("The patch is longer than 10 MB. Read it by pages, without `format`.", "patch_too_large");
      return patch;
    },
    /**
     * Merges in a background job, which continues when the caller has gone away.
     * @param waitMs how long to wait for the job.
     * @returns the merge; its job when it takes longer.
     * @throws Problem 409 `merge_conflict` with `files`, `run_active`, `session_busy`, `nothing_to_merge`,
     * `merge_cancelled`.
     */
    async merge(
      id: string,
      { strategy = "merge", into, message, push = false, task = false }: MergeRequest,
      caller: Caller,
      waitMs: number = WAIT_MS,
    ): Promise<Merged | Job> {
      const row = reviewed.find(id, caller);
      if (push && !caller.admin)
        throw forbidden(
          "Only an administrator pushes to a project's branches. Merge without push, or push the work's own.",
        );
      reviewed.assertQuiet(row);
      const word = wordOf(row);
      const named = `${word[0]!.toUpperCase()}${word.slice(1)}: ${row.id}`;
      const standard =
        strategy === "squash" ? `${titleOf(row)}\n\n${named}` : `Merge ${word} ${row.id}: ${titleOf(row)}`;
      const { project_id } = row;
      const by = { actor: actorOf(caller), address: caller.address ?? null };
      const payload = {
        work_id: row.id,
        project_id,
        strategy,
        into: into ?? null,
        message: message ?? standard,
        push,
        task,
        ...by,
      };
      return job.run(payload, caller, waitMs);
    },
    mergeJob: job.definition,
    stop: job.stop,
  };

  /** @throws Problem 409 `merge_conflict`, `run_active`, `session_busy`, `nothing_to_merge`. */
  async function mergeWork(request: MergePayload, { signal, report }: RunningJob, owner: Caller): Promise<Merged> {
    const { strategy, message, push, task } = request;
    const row = reviewed.loadUnchecked(request.work_id ?? request.run_id ?? "");
    // Rights and state are checked again: the job may have waited, or been taken up after a restart.
    if (!owner.admin && roleIn(owner, row.project_id) === null) throw notFound("project");
    assertRole(owner, row.project_id, "maintainer");
    reviewed.assertQuiet(row);
    const { id, project_id } = row;
    const { merged_head, merged_into, merged_commit } = row;
    const taken = merged_head && merged_into ? { head: merged_head, into: merged_into } : null;
    report({ detail: "Joining the branches." });
    const done = await branches.merge(row, {
      strategy,
      into: request.into ?? undefined,
      message,
      taken,
      signal,
      onStep: (percent) => report({ percent }),
    });
    const { into, head, outcome } = done;
    if (outcome?.conflicts) {
      const of = { row, into, conflicts: outcome.conflicts };
      const task_id = task ? await conflictTask({ store, branches, tasks }, of, owner) : undefined;
      throw inConflict(row, into, outcome.conflicts, outcome.more, task_id);
    }
    const commit = outcome?.commit ?? merged_commit!;
    const about = { project_id, user_id: row.user_id ?? undefined };
    if (outcome) {
      store.write((tx) => {
        works.update(id, { merged_commit: commit, merged_into: into, merged_head: head });
        const data = { strategy, into, commit };
        if (isId("run", id)) tx.emit(runMerged, { run_id: id, ...about, data });
        else tx.emit(changesMerged, { session_id: id, ...about, data });
        const { actor, address } = request;
        audit({ action: `${wordOf(row)}.merged`, actor, subject: id, address: address ?? undefined, data: { into } });
      });
    }
    // This also removes the mark of a merge that a crash left here.
    await branches.forgetMerge(row, done);
    if (push) {
      report({ detail: `Pushing ${into}.` });
      await branches.push(project_id, into);
    }
    return { work_id: id, strategy, into, commit, pushed: push };
  }
}

function inConflict(row: Reviewed, into: string, files: ConflictingFile[], more: number, task_id: string | undefined) {
  const named = files.map(({ path }) => path);
  const others = named.length + more > NAMED_FILES ? " and others" : "";
  return conflict(
    `The ${wordOf(row)} and ${into} are in conflict in ${named.slice(0, NAMED_FILES).join(", ")}${others}. Start a run that solves it from today's ${into}, or merge by hand.`,
    "merge_conflict",
    { into, files, more, task_id },
  );
}
