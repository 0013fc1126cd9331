/** Makes a task for an agent: redo a change that conflicts with the branch into which it should be merged. */
import type { ConflictingFile } from "../../adapter/git.ts";
import type { Caller } from "../../http/caller.ts";
import type { Condition } from "../../store/reader.ts";
import { tasks as table } from "../../store/tables/tasks.ts";
import type { Core } from "../feature.ts";
import type { WorkBranches } from "../projects/branches.ts";
import type { Tasks } from "../tasks/service.ts";
import { type Reviewed, wordOf } from "./reviewed.ts";

interface Parts extends Pick<Core, "store"> {
  branches: Pick<WorkBranches, "patch">;
  tasks: Pick<Tasks, "create">;
}

interface Conflict {
  row: Reviewed;
  into: string;
  conflicts: readonly ConflictingFile[];
}

/**
 * Most bytes of the change in the task's description. Agents see no branch but their own, so they need the change as
 * text.
 */
const PATCH_BYTES = 30_000;
const HUNKS_CHARACTERS = 8_000;
const ASKED_CHARACTERS = 8_000;
const TAG = "merge-conflict";

/** @returns the task's id. While that task is unfinished, the same work and branch give the same task. */
export async function conflictTask(
  { store, branches, tasks }: Parts,
  { row, into, conflicts }: Conflict,
  caller: Caller,
): Promise<string> {
  const { patch, cut } = await branches.patch(row, PATCH_BYTES);
  return store.write(() => {
    const same: Condition = [
      "json_extract(metadata, '$.merge_run') = ? AND json_extract(metadata, '$.merge_into') = ?",
      row.id,
      into,
    ];
    const known = store.rows(table).find({ project_id: row.project_id, finished_at: null }, same);
    if (known) return known.id;
    const [title = ""] = row.title.trim().split("\n");
    const input = {
      title: `Solve the merge conflict of: ${title}`.slice(0, 200),
      description: descriptionOf(row, into, conflicts, patch, cut),
      tags: [TAG],
      metadata: { merge_run: row.id, merge_into: into },
    };
    return tasks.create(row.project_id, input, caller).id;
  });
}

function descriptionOf(
  row: Reviewed,
  into: string,
  conflicts: readonly ConflictingFile[],
  patch: string,
  cut: boolean,
): string {
  const files = conflicts.map(({ path, kind }) => `- ${path} (${kind})`).join("\n");
  const hunks = conflicts.flatMap((file) => file.hunks.map((hunk) => `${file.path}:\n${hunk}`)).join("\n\n");
  return [
    `The ${wordOf(row)} ${row.id} cannot be merged into ${into}: both changed the same places. Make its change again on today's ${into}, keeping what ${into} has gained since.`,
    `It was asked:\n\n${row.title.slice(0, ASKED_CHARACTERS)}`,
    `In conflict:\n${files}`,
    hunks === "" ? "" : `The places:\n\n${wrapInFence(hunks.slice(0, HUNKS_CHARACTERS))}`,
    `What it changed${cut ? " (the beginning)" : ""}:\n\n${wrapInFence(patch)}`,
  ]
    .filter(Boolean)
    .join("\n\n");
}

/** Puts the text into a fence that is longer than any fence in it. */
function wrapInFence(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}diff\n${text}\n${fence}`;
}
