/**
 * Makes a task from a finished run: from the commit where it began, what it was asked, and its changes as reference
 * solution.
 */
import { conflict } from "../../core/errors.ts";
import { isRunEnd } from "../../core/run-states.ts";
import type { Caller } from "../../http/caller.ts";
import type { WorkBranches } from "../projects/branches.ts";
import type { RunsService } from "../runs/service.ts";
import type { EvalTaskFolder, TaskFile } from "./model.ts";

interface FromRunDeps {
  runs: Pick<RunsService, "views">;
  branches: Pick<WorkBranches, "patch">;
  /** The project's check command; null when it has none. */
  checkOf(projectId: string): string | null;
}

export type TaskOfRun = (runId: string, caller: Caller) => Promise<EvalTaskFolder>;

const PATCH_BYTES = 400_000;
const TEST_FOLDERS: ReadonlySet<string> = new Set(["test", "tests", "spec", "specs", "__tests__"]);
/** Whether the file is a test, by its folders or its name: `tests/a.py`, `test_a.py`, `a.test.ts`, `a_spec.rb`. */
function isTest(path: string): boolean {
  const names = path.toLowerCase().split("/");
  const words = names.pop()!.split(/[._-]/);
  return names.some((name) => TEST_FOLDERS.has(name)) || words.slice(0, -1).some((word) => /^(test|spec)$/.test(word));
}
const INSTRUCTION_CHARACTERS = 50_000;

export const createTaskOfRun =
  ({ runs, branches, checkOf }: FromRunDeps): TaskOfRun =>
  async (runId, caller) => {
    const run = runs.views.rowFor(runId, caller);
    const { id, project_id, project_name, base_commit, merged_head } = run;
    if (!isRunEnd(run.status))
      throw conflict(`The run is ${run.status}. A task is made of one that has ended.`, "run_not_ended");
    if (project_id === null || base_commit === null)
      throw conflict("The run has no project, so there is no commit for a task to begin from.", "no_repository");
    const check = checkOf(project_id);
    if (!check)
      throw conflict(
        `The project ${project_name} has no check, which would decide whether an attempt passes. Set one: skep projects set ${project_name} --check "…"`,
        "no_check",
      );
    const { patch, cut } = await branches.patch({ id, project_id, base_commit, merged_head }, PATCH_BYTES);
    if (cut) throw conflict(`The run changed more than ${PATCH_BYTES} bytes; a task holds less.`, "too_large");
    const parts = splitPatch(patch);
    if (parts.length === 0) throw conflict("The run changed no file, so there is nothing to solve.", "no_changes");
    const tests = parts.filter(({ path }) => isTest(path));
    return {
      name: `run-${id.slice(-8)}`,
      instruction: run.task_description.slice(0, INSTRUCTION_CHARACTERS),
      project_name,
      commit: base_commit,
      budget_usd: run.budget_usd,
      workspace: [],
      tests: [
        toTaskFile(
          "test.sh",
          testScript(
            tests.map(({ path }) => path),
            base_commit,
            check,
          ),
        ),
        ...(tests.length > 0 ? [toTaskFile("tests.patch", tests.map(({ text }) => text).join(""))] : []),
      ],
      solution: [
        toTaskFile("solve.sh", 'set -e\npatch -p1 < "$TASK_FILES/solution.patch"\n'),
        toTaskFile("solution.patch", patch),
      ],
    };
  };

const toTaskFile = (path: string, text: string): TaskFile => ({ path, content: Buffer.from(text).toString("base64") });
const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/** A script that restores the run's own tests, whatever the agent did to them, and then runs the project's check. */
function testScript(paths: readonly string[], base: string, check: string): string {
  const restore =
    paths.length === 0
      ? []
      : [
          "# The tests as the run left them, whatever the agent made of them.",
          ...paths.map((path) => `git checkout -q ${base} -- ${quote(path)} 2>/dev/null || rm -f ${quote(path)}`),
          'patch -p1 < "$TASK_FILES/tests.patch" || exit 1',
        ];
  return ["#!/bin/sh", ...restore, check, ""].join("\n");
}

/** Splits a patch into the parts for each file. */
function splitPatch(patch: string): { path: string; text: string }[] {
  return patch
    .split(/^(?=diff --git )/m)
    .filter((part) => part.startsWith("diff --git "))
    .map((text) => {
      const head = text.slice(0, text.indexOf("\n"));
      return { path: head.slice(head.lastIndexOf(" b/") + 3), text };
    });
}
