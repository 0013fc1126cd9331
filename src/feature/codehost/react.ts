/**
 * Acts on a delivery. A delivery only says where to look: the server acts on what the host answers now, so a delivery
 * that comes late or twice does no harm.
 */
import type { Notice } from "../../adapter/codehost/webhook.ts";
import { isProblem } from "../../core/errors.ts";
import { isId } from "../../core/ids.ts";
import type { Store } from "../../store/store.ts";
import type { CodeHostConnection } from "./connection.ts";
import type { Links } from "./links.ts";

export interface Reaction {
  state: "done" | "ignored";
  detail: string;
  run_id?: string | undefined;
}

interface ReactDeps {
  store: Store;
  connection: Pick<CodeHostConnection, "openHost" | "loadAccount" | "repositoryOf">;
  links: Links;
  /** Queues a fetch of the project. @throws Problem 409 when it has no clone to bring up to date. */
  fetchProject(projectId: string): unknown;
  /** Records that the run's work was merged into this branch of its repository. */
  recordMerge(runId: string, merge: { into: string; commit: string; head: string }): void;
  /** Whether a rule is about the notice. The rule's conditions are checked later, when the notice is acted on. */
  isWanted(notice: Notice, projectIds: readonly string[]): boolean;
  /** Starts a run if a rule says so. */
  start(notice: Notice, projectIds: readonly string[]): Promise<Reaction>;
  /** Stores what a review of a run's pull request says. */
  review(notice: Notice, runId: string): Promise<Reaction>;
}

export type React = ReturnType<typeof createReact>;

const ignore = (detail: string): Reaction => ({ state: "ignored", detail });

/** The projects whose repository is this one on the connected host. */
export function projectsOf(
  store: Store,
  connection: Pick<CodeHostConnection, "repositoryOf">,
  repository: string,
): { id: string; default_branch: string | null }[] {
  const rows = store
    .statement<{ id: string; repository: string; default_branch: string | null }>(
      "SELECT id, repository, default_branch FROM projects WHERE repository IS NOT NULL",
    )
    .all();
  const wanted = repository.toLowerCase();
  return rows.filter((row) => connection.repositoryOf(row.repository)?.toLowerCase() === wanted);
}

export function createReact(deps: ReactDeps) {
  const { store, connection, links } = deps;

  const idsOf = (repository: string): string[] => projectsOf(store, connection, repository).map(({ id }) => id);
  const findReviewed = ({ kind, repository, number }: Notice) =>
    number !== undefined && ["review", "review_comment", "comment"].includes(kind)
      ? links.ofPull(repository, number)
      : undefined;

  /** Why there is nothing to do, judged only by our own rows; undefined when there may be something to do. */
  function obstacleTo(notice: Notice): string | undefined {
    const { kind, action, repository, ref = "" } = notice;
    const found = idsOf(repository);
    if (found.length === 0) return `No project has the repository ${repository}.`;
    if (kind === "push" && !ref.startsWith("refs/heads/")) return "A tag was pushed.";
    if (kind === "push") return ref.startsWith("refs/heads/run/") ? "The branch of a run was pushed." : undefined;
    if (kind === "pull_request" && action === "closed") return undefined;
    return findReviewed(notice) || deps.isWanted(notice, found) ? undefined : "No rule is about this.";
  }

  function push(found: readonly string[]): Reaction {
    const outcomes: string[] = [];
    for (const id of found) {
      try {
        deps.fetchProject(id);
        outcomes.push(`${id} is fetched`);
      } catch (error) {
        if (!isProblem(error)) throw error;
        outcomes.push(`${id} is not fetched: ${error.detail}`);
      }
    }
    return { state: "done", detail: outcomes.join("; ") };
  }

  /**
   * The run to which the pull request belongs, whether the server opened it or a person opened it from the run's
   * branch.
   */
  const runOf = (repository: string, number: number, branch: string, fork: boolean): string | undefined => {
    const known = links.ofPull(repository, number);
    if (known) return known.run_id;
    const id = branch.startsWith("run/") ? branch.slice("run/".length) : "";
    if (fork || !isId("run", id)) return undefined;
    const row = store
      .statement<{ project: string | null }>("SELECT project_id AS project FROM runs WHERE id = ?")
      .get(id);
    return row && projectsOf(store, connection, repository).some((one) => one.id === row.project) ? id : undefined;
  };

  async function pullClosed({ repository, number = 0 }: Notice): Promise<Reaction> {
    const pull = await (await connection.openHost()).pull(repository, number);
    const runId = runOf(repository, number, pull.head.branch, pull.fork);
    if (runId === undefined) return ignore("The pull request belongs to no run.");
    if (pull.open) return ignore("The pull request is open again.");
    store.write(() => {
      if (!links.find(runId)) links.insert({ run_id: runId, repository, state: "done" });
      const state = pull.merged ? "merged" : "closed";
      const place = { pull_number: number, pull_url: pull.url, pull_state: state, again: false } as const;
      links.update(runId, { ...place, wants_pull: false }, state);
      if (pull.merged)
        deps.recordMerge(runId, {
          into: pull.base,
          commit: pull.mergeCommit ?? pull.head.commit,
          head: pull.head.commit,
        });
    });
    return { state: "done", detail: pull.merged ? "The run's work was merged." : "It was closed.", run_id: runId };
  }

  return {
    obstacleTo,
    async act(notice: Notice): Promise<Reaction> {
      const { kind, action, repository, actor } = notice;
      const obstacle = obstacleTo(notice);
      if (obstacle !== undefined) return ignore(obstacle);
      if (kind === "push") return push(idsOf(repository));
      if (kind === "pull_request" && action === "closed") return pullClosed(notice);
      const { login } = await connection.loadAccount();
      if (actor.toLowerCase() === login.toLowerCase()) return ignore("Skep's own account did it.");
      const own = findReviewed(notice);
      return own ? deps.review(notice, own.run_id) : deps.start(notice, idsOf(repository));
    },
  };
}
