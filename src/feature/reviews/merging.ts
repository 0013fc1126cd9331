/** Runs end merged, or as a report of what is in conflict. */
import type { Hunk } from "../../adapter/git.ts";
import { conflict, forbidden } from "../../core/errors.ts";
import { isRunEnd } from "../../core/run-states.ts";
import { actorOf, type Caller } from "../../http/caller.ts";
import { type Page, pageOfArray } from "../../http/list.ts";
import type { Audit } from "../../store/audit.ts";
import type { Store } from "../../store/store.ts";
import type { RunBranches } from "../projects/branches.ts";
import { runMerged } from "../runs/events.ts";
import type { RunRow, RunStore } from "../runs/store.ts";
import type { RunViews } from "../runs/views.ts";
import type { Tasks } from "../tasks/service.ts";
import { conflictTask } from "./conflict-task.ts";
import type { Merge, RunDiff, RunMerge } from "./merge-model.ts";

export interface MergingDeps {
  store: Store;
  rows: RunStore;
  views: RunViews;
  audit: Audit;
  branches: RunBranches;
  tasks: Pick<Tasks, "create">;
}

export interface Merging {
  /** @throws Problem 404, 409 without a project. */
  diff(runId: string, page: Page, caller: Caller): Promise<RunDiff>;
  /** What it changed in one file; undefined when it did not. @throws Problem 404, 409 without a project. */
  file(runId: string, path: string, caller: Caller): Promise<{ hunks: Hunk[]; cut: boolean } | undefined>;
  /** A patch that `git apply` takes, at most 10 MB. @throws Problem 409 for a longer one. */
  patch(runId: string, caller: Caller): Promise<string>;
  /** @throws Problem 409 `merge_conflict` with `files`, `run_active`, `nothing_to_merge`. */
  merge(runId: string, wish: RunMerge, caller: Caller): Promise<Merge>;
}

const MAX_PATCH_BYTES = 10 * 1024 * 1024;
const TITLE_CHARACTERS = 72;

export function createMerging({ store, rows, views, audit, branches, tasks }: MergingDeps): Merging {
  const find = (id: string, caller: Caller) => {
    const row = views.rowFor(id, caller);
    if (row.project_id === null)
      throw conflict("The run has no project, so nothing of it is in a repository.", "no_project");
    const { project_id, base_commit, merged_head } = row;
    return { row, branch: { run_id: row.id, project_id, base_commit, merged_head } };
  };
  const titleOf = (row: RunRow) => row.task_description.trim().split("\n")[0]!.slice(0, TITLE_CHARACTERS);
  return {
    async diff(id, page, caller) {
      const { row, branch } = find(id, caller);
      const found = await branches.diff(branch);
      const { items, next_cursor } = pageOfArray(found.files, page, ({ path }) => path);
      const shown: RunDiff["items"] = [];
      for (const file of items) shown.push({ ...file, ...(await branches.hunks(branch, found, file.path)) });
      const sum = (of: "insertions" | "deletions") => found.files.reduce((all, file) => all + (file[of] ?? 0), 0);
      return {
        ...{ run_id: id, branch: found.branch, base: found.base, head: found.head },
        ...{ merged_commit: row.merged_commit, merged_into: row.merged_into },
        stats: { files: found.files.length, insertions: sum("insertions"), deletions: sum("deletions") },
        ...{ items: shown, next_cursor },
      };
    },
    async file(id, path, caller) {
      const { branch } = find(id, caller);
      const found = await branches.diff(branch);
      return found.files.some((file) => file.path === path) ? branches.hunks(branch, found, path) : undefined;
    },
    async patch(id, caller) {
      const { patch, cut } = await branches.patch(find(id, caller).branch, MAX_PATCH_BYTES);
      if (cut) throw conflict("The patch is longer than 10 MB. Read it by pages, without `format`.", "patch_too_large");
      return patch;
    },
    async merge(id, { strategy = "merge", into: wanted, message, push = false, task = false }, caller) {
      const { row, branch } = find(id, caller);
      if (push && !caller.admin)
        throw forbidden(
          "Only an administrator pushes to a project's branches. Merge without push, or push the run's own.",
        );
      if (!isRunEnd(row.status))
        throw conflict(`The run is ${row.status}. Wait until it has ended, or cancel it.`, "run_active");
      const standard = strategy === "squash" ? `${titleOf(row)}\n\nRun: ${id}` : `Merge run ${id}: ${titleOf(row)}`;
      const { merged_head, merged_into, merged_commit } = row;
      const taken = merged_head && merged_into ? { head: merged_head, into: merged_into } : null;
      const { into, head, outcome } = await branches.merge(branch, {
        ...{ strategy, into: wanted, message: message ?? standard, taken },
      });
      if (outcome?.conflicts) {
        const named = outcome.conflicts.map(({ path }) => path);
        const wish = { row, into, conflicts: outcome.conflicts };
        const task_id = task ? await conflictTask({ store, branches, tasks }, { ...wish, branch }, caller) : undefined;
        throw conflict(
          `The run and ${into} are in conflict in ${named.slice(0, 10).join(", ")}${named.length + outcome.more > 10 ? " and others" : ""}. Start a run that solves it from today's ${into}, or merge by hand.`,
          "merge_conflict",
          { into, files: outcome.conflicts, more: outcome.more, ...(task_id === undefined ? {} : { task_id }) },
        );
      }
      const commit = outcome?.commit ?? merged_commit!;
      const refs = { run_id: id, project_id: branch.project_id, user_id: row.created_by ?? undefined };
      store.write((tx) => {
        if (!outcome) return;
        rows.updateRun(id, { merged_commit: commit, merged_into: into, merged_head: head });
        tx.emit(runMerged, { ...refs, data: { strategy, into, commit } });
        audit({ action: "run.merged", actor: actorOf(caller), subject: id, address: caller.address, data: { into } });
      });
      if (push) await branches.push(branch.project_id, into);
      return { run_id: id, strategy, into, commit, pushed: push };
    },
  };
}
