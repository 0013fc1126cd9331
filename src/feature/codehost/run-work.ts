/** What users can do with a run's work: push it, or open a pull request. */
import { conflict, invalidField } from "../../core/errors.ts";
import { isBranchName } from "../../core/ref-name.ts";
import { isRunEnd } from "../../core/run-states.ts";
import { actedBy, type Caller } from "../../http/caller.ts";
import type { Core } from "../feature.ts";
import type { RunRow } from "../runs/store.ts";
import type { CodeHostConnection } from "./connection.ts";
import type { Links } from "./links.ts";
import type { PullCreate, Pushed, RunOnHost } from "./model.ts";

interface RunWorkDeps extends Pick<Core, "store" | "audit"> {
  links: Links;
  connection: Pick<CodeHostConnection, "openHost" | "repositoryOf">;
  /** @throws Problem 404, also for another user's run. */
  rowFor(runId: string, caller: Caller): RunRow;
  changedTo(run: RunRow): Promise<string | null>;
  push(projectId: string, branch: string): Promise<void>;
  repositoryOf(projectId: string): string | null;
  /** Queues the update of the host. Call inside a transaction. */
  follow(runId: string): void;
}

export type RunWork = ReturnType<typeof createRunWork>;

export function createRunWork(deps: RunWorkDeps) {
  const { store, audit, links, connection, rowFor, follow } = deps;
  /** The run with its project, branch and last commit. @throws Problem 409 when the run may not be pushed. */
  async function loadPushable(runId: string, caller: Caller) {
    const run = rowFor(runId, caller);
    const { project_id, branch } = run;
    if (project_id === null || branch === null)
      throw conflict("The run has no project, so nothing of it is in a repository.", "no_project");
    if (!isRunEnd(run.status)) throw conflict(`The run is ${run.status}. Wait until it has ended.`, "run_active");
    if (links.find(runId)?.read_only)
      throw conflict(
        "The run was started from another repository's pull request: nothing of it is pushed.",
        "read_only",
      );
    const commit = await deps.changedTo(run);
    if (commit === null) throw conflict("The run changed no file: there is nothing to push.", "nothing_to_push");
    return { run, project_id, branch, commit };
  }
  /** @throws Problem 409 `not_on_codehost`. */
  const repositoryOf = (projectId: string): string => {
    const name = connection.repositoryOf(deps.repositoryOf(projectId));
    if (name === undefined)
      throw conflict("The project's repository is not on the connected code host.", "not_on_codehost");
    return name;
  };
  const record = (action: string, runId: string, caller: Caller) =>
    audit({ action, ...actedBy(caller), subject: runId });
  return {
    /** @throws Problem 409 `run_active`, `no_project`, `read_only`, `nothing_to_push`, `push_rejected`; 502. */
    async push(runId: string, caller: Caller): Promise<Pushed> {
      const { project_id, branch, commit } = await loadPushable(runId, caller);
      await deps.push(project_id, branch);
      store.write(() => {
        record("run.pushed", runId, caller);
        if (links.find(runId)) links.update(runId, { pushed_commit: commit }, "pushed");
      });
      return { run_id: runId, branch, commit };
    },
    /** @throws Problem 409 `no_pull_request`. */
    get(runId: string, caller: Caller): RunOnHost {
      const row = links.find(rowFor(runId, caller).id);
      if (!row) throw conflict("The run has no pull request. Open one: POST to this path.", "no_pull_request");
      return links.present(row);
    },
    /**
     * Call before `open`: checks that there is something to open. @throws as `push`, and 503 `codehost_not_configured`.
     */
    async assertOpenable(runId: string, caller: Caller): Promise<void> {
      const { project_id } = await loadPushable(runId, caller);
      repositoryOf(project_id);
      await connection.openHost();
    },
    /** Queues the opening of a pull request. The returned row shows its progress. */
    open(runId: string, { title, body, base }: PullCreate, caller: Caller): RunOnHost {
      if (base !== undefined && !isBranchName(base)) throw invalidField("/base", "This is not a usable branch name");
      return store.write(() => {
        const run = rowFor(runId, caller);
        const repository = repositoryOf(run.project_id!);
        const given = { pull_title: title, pull_body: body, pull_base: base };
        const { pull_state } = links.find(runId) ?? links.insert({ run_id: runId, repository });
        const wants_pull = pull_state !== "open";
        const row = links.update(runId, { ...given, wants_pull, state: "pending", error: null });
        follow(runId);
        record("run.pull_request", runId, caller);
        return links.present(row);
      });
    },
  };
}
