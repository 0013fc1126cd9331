/** A task for an agent to redo a run's change where it conflicts with the branch it should be merged into. */
import { and, eq, isNull, sql } from "drizzle-orm";
import type { ConflictingFile } from "../../adapter/git.ts";
import type { Caller } from "../../http/caller.ts";
import type { Store } from "../../store/store.ts";
import { tasks as table } from "../../store/tables/tasks.ts";
import type { RunBranch, RunBranches } from "../projects/branches.ts";
import type { RunRow } from "../runs/store.ts";
import type { Tasks } from "../tasks/service.ts";

interface Parts {
  store: Store;
  branches: Pick<RunBranches, "patch">;
  tasks: Pick<Tasks, "create">;
}

export interface Conflict {
  row: RunRow;
  branch: RunBranch;
  into: string;
  conflicts: readonly ConflictingFile[];
}

/** How much of the run's change is in the task's description; agents see no branch but their own. */
const PATCH_BYTES = 30_000;
const HUNKS_CHARACTERS = 8_000;
const ASKED_CHARACTERS = 8_000;
const TAG = "merge-conflict";

/** @returns the task's id; the same for the same run and branch as long as it is not finished. */
export async function conflictTask(
  { store, branches, tasks }: Parts,
  { row, branch, into, conflicts }: Conflict,
  caller: Caller,
): Promise<string> {
  const { patch, cut } = await branches.patch(branch, PATCH_BYTES);
  return store.write(() => {
    const same = sql`json_extract(${table.metadata}, '$.merge_run') = ${row.id} AND json_extract(${table.metadata}, '$.merge_into') = ${into}`;
    const mine = and(eq(table.project_id, branch.project_id), isNull(table.finished_at), same);
    const known = store.db.select({ id: table.id }).from(table).where(mine).get();
    if (known) return known.id;
    const [title = ""] = row.task_description.trim().split("\n");
    const input = {
      title: `Solve the merge conflict of: ${title}`.slice(0, 200),
      description: descriptionOf(row, into, conflicts, patch, cut),
      tags: [TAG],
      metadata: { merge_run: row.id, merge_into: into },
    };
    return tasks.create(branch.project_id, input, caller).id;
  });
}

function descriptionOf(
  row: RunRow,
  into: string,
  conflicts: readonly ConflictingFile[],
  patch: string,
  cut: boolean,
): string {
  const files = conflicts.map(({ path, kind }) => `- ${path} (${kind})`).join("\n");
  const hunks = conflicts.flatMap((file) => file.hunks.map((hunk) => `${file.path}:\n${hunk}`)).join("\n\n");
  return [
    `The run ${row.id} cannot be merged into ${into}: both changed the same places. Make its change again on today's ${into}, keeping what ${into} has gained since.`,
    `The run was asked:\n\n${row.task_description.slice(0, ASKED_CHARACTERS)}`,
    `In conflict:\n${files}`,
    hunks === "" ? "" : `The places:\n\n${fenced(hunks.slice(0, HUNKS_CHARACTERS))}`,
    `What the run changed${cut ? " (the beginning)" : ""}:\n\n${fenced(patch)}`,
  ]
    .filter(Boolean)
    .join("\n\n");
}

/** A fence longer than any in the text. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}diff\n${text}\n${fence}`;
}
