/**
 * Makes the working copy of a run or session: finds where its branch begins, fetches what it needs, and gives its
 * agents git.
 */
import type { Git } from "../../adapter/git.ts";
import { conflict, expectFound, notFound, unavailable } from "../../core/errors.ts";
import { isId } from "../../core/ids.ts";
import { activity } from "../events/events.ts";
import type { Core } from "../feature.ts";
import { placeOf } from "./clones.ts";
import { type CopyPartsDeps, createCopyParts } from "./copy-parts.ts";
import type { ProjectRow, ProjectStore } from "./store.ts";
import type { Turns } from "./turns.ts";
import type { Works } from "./works.ts";
import { refsOf, type WorkOfProject, type WorkspacePlaces } from "./workspace-places.ts";

export interface WorktreeStartDeps extends CopyPartsDeps, Pick<Turns, "inTurn">, Pick<Core, "store" | "log"> {
  rows: ProjectStore;
  works: Works;
  git: Git;
  places: WorkspacePlaces;
  /** Folder that holds one folder per project. */
  projects: string;
  /** Updates the project's clone before new work begins. @returns why that failed, null when it did not. */
  refresh(projectId: string, signal: AbortSignal | undefined): Promise<string | null>;
  /** Number of the branch's commits that an agent's git can read; 0: agents have no git. */
  gitDepth(): number;
}

export function createWorktreeStart(deps: WorktreeStartDeps) {
  const { store, log, rows, works, git, inTurn, projects } = deps;
  const { repositoryOf, worktreeOf, tipOf } = deps.places;
  const fetchParts = createCopyParts(deps);
  /** @throws Problem 503 `workspace_busy` while the project is being cloned, 409 `workspace_failed`, 404. */
  const assertReady = async (projectId: string): Promise<ProjectRow> => {
    const row = expectFound(rows.find(projectId), "project");
    if (row.workspace_state === "cloning") throw unavailable("workspace_busy", "The project is still being cloned.");
    if (row.workspace_state === "failed")
      throw conflict(`The project could not be cloned: ${row.workspace_error}`, "workspace_failed");
    if (row.workspace_state === "none") await initialise(row);
    return row;
  };
  const initialise = async ({ id, default_branch }: ProjectRow): Promise<void> => {
    const place = placeOf(projects, id);
    await git.init({ ...place, branch: default_branch ?? "main" });
    const { commit, branch } = await git.head(place.repository);
    // The project may have been given a repository meanwhile: its clone replaces this new one.
    if (rows.find(id)?.workspace_state !== "none")
      throw unavailable("workspace_busy", "The project is still being cloned.");
    rows.update(id, { workspace_state: "ready", workspace_head: commit, default_branch: branch }, "workspace");
  };
  /** Stores the commit against which the diff is taken, and a notice if that commit may be outdated. */
  const noteStart = (work: WorkOfProject, base_commit: string | null, notice: string | null) =>
    store.write(({ emit }) => {
      works.update(work.id, { base_commit, workspace_notice: notice });
      if (notice !== null) emit(activity, { ...refsOf(work), data: { title: notice } });
    });
  const baseOf = (id: string): string | null => works.find(id)?.base_commit ?? null;
  /**
   * Where the branch of a part begins: at the branch that will take it in. That branch is made first if no work has
   * begun on it.
   */
  async function beginAt(joins: string, projectId: string, signal: AbortSignal | undefined): Promise<string> {
    const whole = works.find(joins);
    if (!whole?.branch) throw notFound("session that this work is a part of");
    const { branch } = whole;
    const notice = (await tipOf(projectId, branch)) === null ? await deps.refresh(projectId, signal) : null;
    return inTurn(projectId, async () => {
      await assertReady(projectId);
      const tip = await tipOf(projectId, branch);
      if (tip !== null) return tip;
      const { commit } = await git.head(repositoryOf(projectId));
      if (commit === null) throw conflict("The project's repository has no commit.", "workspace_failed");
      await git.setBranch(repositoryOf(projectId), branch, commit, null);
      noteStart({ id: joins, project_id: projectId, user_id: whole.user_id ?? undefined }, commit, notice);
      return commit;
    });
  }
  /** Where a branch begins: at the project's head, unless a run was told another commit. */
  const beginningOf = async (id: string, projectId: string): Promise<string | null> =>
    (isId("run", id) ? baseOf(id) : null) ?? (await git.head(repositoryOf(projectId))).commit;
  /** Gives the agents git. If that fails, they work without git rather than not at all. */
  const giveGit = async (work: WorkOfProject, projectId: string, branch: string, signal: AbortSignal | undefined) => {
    const depth = deps.gitDepth();
    if (depth === 0) return;
    try {
      await git.giveRepository({ ...worktreeOf(work, projectId), branch, depth, base: baseOf(work.id), signal });
    } catch (err) {
      if (signal?.aborted) throw err;
      log.warn({ err, work: work.id }, "the agents of a run or session have no git");
    }
  };
  /** Makes the working copy on its branch, and the branch if it does not exist yet. */
  async function makeWorktree(
    work: WorkOfProject,
    { project_id, branch }: { project_id: string; branch: string },
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const begins = await inTurn(project_id, async () => {
      await assertReady(project_id);
      return (await tipOf(project_id, branch)) === null;
    });
    const joins = begins ? (works.find(work.id)?.joins ?? null) : null;
    const start = joins === null ? null : await beginAt(joins, project_id, signal);
    const notice = begins && start === null ? await deps.refresh(project_id, signal) : null;
    const worktree = worktreeOf(work, project_id);
    const { base, row } = await inTurn(project_id, async () => ({
      row: await assertReady(project_id),
      base: begins ? (start ?? (await beginningOf(work.id, project_id))) : baseOf(work.id),
    }));
    using parts = await fetchParts(worktree, row, base, signal);
    await inTurn(project_id, async () => {
      await assertReady(project_id);
      const from = (begins && base) || "HEAD";
      await git.addWorktree({ ...worktree, branch, from, complete: parts.place, signal });
      if (begins) noteStart(work, base, [notice, parts.missing()].filter(Boolean).join(" ") || null);
      await giveGit(work, project_id, branch, signal);
    });
  }
  return { assertReady, noteStart, makeWorktree };
}
