/** The places of the files and commits of runs and sessions. */
import { join } from "node:path";
import type { Git, WorktreePlace } from "../../adapter/git.ts";
import { notFound } from "../../core/errors.ts";
import { isId } from "../../core/ids.ts";
import { placeOf } from "./clones.ts";
import { isWorkId } from "./works.ts";

export interface WorkOfProject {
  /** Id of the run, or of the session that owns the working copy. */
  id: string;
  project_id?: string | null | undefined;
  /** The owner. Only they see the messages of its commits. */
  user_id?: string | undefined;
}

/** The references of the work's events. */
export const refsOf = ({ id, project_id, user_id }: WorkOfProject) => ({
  ...(isId("run", id) ? { run_id: id } : { session_id: id }),
  project_id: project_id ?? undefined,
  user_id,
});

export type WorkspacePlaces = ReturnType<typeof createWorkspacePlaces>;

export function createWorkspacePlaces({
  git,
  workspaces,
  projects,
}: {
  git: Git;
  workspaces: string;
  projects: string;
}) {
  const pathOf = ({ id }: WorkOfProject): string => {
    if (!isWorkId(id)) throw notFound("run or session");
    return join(workspaces, id);
  };
  const repositoryOf = (projectId: string): string => placeOf(projects, projectId).repository;
  const worktreeOf = (work: WorkOfProject, projectId: string): WorktreePlace => ({
    repository: repositoryOf(projectId),
    name: work.id,
    path: pathOf(work),
  });
  const tipOf = (projectId: string, branch: string) => git.commitOf(repositoryOf(projectId), `refs/heads/${branch}`);
  return { pathOf, repositoryOf, worktreeOf, tipOf };
}
