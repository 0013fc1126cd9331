/**
 * The code graph of projects: selects the sources that a question is about, tells the state of their index, and answers
 * agents.
 */
import { conflict, expectFound, forbidden, invalidField, isProblem, unavailable } from "../../core/errors.ts";
import { ownJson } from "../../core/own-json.ts";
import { type Asker, roleIn } from "../../core/ownership.ts";
import type { ExecutionInfo } from "../../engine/tool.ts";
import { type GraphNode, OLDER } from "../../graph/model.ts";
import type { GraphClient, RemoteGraph } from "../../graph/serve/client.ts";
import type { FreshAnswers } from "../../graph/serve/fresh-answers.ts";
import type { GraphPlace } from "../../graph/serve/session.ts";
import type { Caller } from "../../http/caller.ts";
import type { SpooledFile } from "../../http/form.ts";
import type { Project } from "../projects/model.ts";
import type { IndexJobs } from "./index-jobs.ts";
import type { GraphStatus, IndexJob } from "./model.ts";

interface KnowledgeGraphDeps {
  client: Pick<GraphClient, "project">;
  /** Answers questions about working copies, which runs change. */
  fresh: Pick<FreshAnswers, "tool">;
  jobs: IndexJobs;
  /** Undefined when there is no such project. */
  project(id: string): Pick<Project, "workspace"> | undefined;
  /** The folders of a project's sources and graph. */
  placeOf(projectId: string): GraphPlace;
  versionOf(projectId: string): string | undefined;
  /** Projects that have an index and that the asker sees, newest first. */
  listIndexed(asker: Asker): string[];
  /** Puts a SCIP index beside a project's graph. The next index job reads it. */
  keepScip(projectId: string, path: string): Promise<void>;
  /** Path of the SCIP index that the project's set-up names. */
  scipOf(projectId: string): string | undefined;
  /** Removes the exact references that came from a SCIP index. */
  dropScip(projectId: string): void;
  /** The folders of a run's working copy and of its own graph; undefined when the run has no working copy. */
  copyPlaceOf(projectId: string, workId: string): GraphPlace | undefined;
}

export type FoundSymbol = { project_id: string } & Pick<
  GraphNode,
  "id" | "label" | "name" | "qualified_name" | "file_path" | "start_line"
>;

export type KnowledgeGraph = ReturnType<typeof createKnowledgeGraph>;

/** Most projects that one search of symbols asks: as many as the worker process keeps open. */
const SEARCHED_PROJECTS = 8;

export function createKnowledgeGraph(deps: KnowledgeGraphDeps) {
  const { client, jobs, fresh } = deps;
  const find = (id: string, caller: Caller) => {
    const own = caller.execution;
    if (own && own.projectId !== id) throw forbidden("An execution's token reaches only its own project.");
    return expectFound(deps.project(id), "project");
  };
  const assertSources = ({ workspace }: Pick<Project, "workspace">): void => {
    if (workspace.state === "cloning") throw unavailable("workspace_busy", "The project is still being cloned.");
    if (workspace.state === "failed")
      throw conflict("The project could not be cloned. Try that again first.", "workspace_failed");
    if (workspace.state === "none")
      throw conflict("The project has no sources yet: give it a repository, or start a run in it.", "no_workspace");
  };
  /** Indexing in progress that questions wait for, by project. */
  const made = new Map<string, Promise<unknown>>();

  /**
   * Whether an index job of the project is queued or running. Callers then follow its progress instead of waiting in
   * their request.
   */
  const isUnderWay = (projectId: string): boolean => {
    const job = jobs.latest(projectId);
    return job?.state === "queued" || job?.state === "running";
  };

  /**
   * Runs `ask`. If the index is missing or damaged, makes it first and asks again. While an index job is live, that
   * happens only with `waits`; otherwise the error is passed on.
   */
  async function orIndexed<T>(projectId: string, graph: RemoteGraph, ask: () => Promise<T>, waits = false): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      if (!isProblem(error) || error.code !== "not_indexed") throw error;
      if (!waits && isUnderWay(projectId)) throw error;
      const making =
        made.get(projectId) ??
        graph.index({ force: false, scip: deps.scipOf(projectId) }).finally(() => made.delete(projectId));
      made.set(projectId, making);
      await making;
      return await ask();
    }
  }

  /** Starts an index job. If one is running, another one follows it. */
  function indexAfter(projectId: string, caller: Caller): IndexJob {
    const job = jobs.start(projectId, { force: false, cause: "request", userId: caller.userId });
    if (job.state === "running") jobs.soon(projectId);
    return job;
  }

  return {
    /** @throws Problem 404, 403 for an execution of another project. */
    async status(projectId: string, caller: Caller): Promise<GraphStatus> {
      find(projectId, caller);
      const status = await client.project(deps.placeOf(projectId)).status();
      const job = jobs.latest(projectId);
      if (job && (job.state === "queued" || job.state === "running"))
        return { ...status, state: "indexing", job_id: job.id };
      if (job?.state !== "failed") return status;
      const failed = status.state === "ready" ? status.state : "failed";
      return { ...status, state: failed, job_id: job.id, ...(job.error ? { error: job.error } : {}) };
    },
    /** @throws Problem 409 without sources, 503 while they are being cloned. */
    index(projectId: string, force: boolean, caller: Caller): IndexJob {
      assertSources(find(projectId, caller));
      return jobs.start(projectId, { force, cause: "request", userId: caller.userId });
    },
    /**
     * Keeps an uploaded SCIP index.
     * @returns a function that starts the index job which reads it.
     * @throws Problem 409, 422 without a file.
     */
    async receiveScip(projectId: string, file: SpooledFile | undefined, caller: Caller): Promise<() => IndexJob> {
      assertSources(find(projectId, caller));
      if (!file) throw invalidField("/file", "Send the SCIP index as the file of a form");
      await deps.keepScip(projectId, file.path);
      return () => indexAfter(projectId, caller);
    },
    forgetScip(projectId: string, caller: Caller): IndexJob {
      assertSources(find(projectId, caller));
      deps.dropScip(projectId);
      return indexAfter(projectId, caller);
    },
    job(projectId: string, jobId: string, caller: Caller): IndexJob {
      find(projectId, caller);
      return jobs.get(projectId, jobId);
    },
    cancel(projectId: string, jobId: string, caller: Caller): IndexJob {
      find(projectId, caller);
      return jobs.cancel(projectId, jobId, caller);
    },
    /** A client for questions. Its answers are passed on as the graph gives them. */
    graph(projectId: string, caller: Caller): RemoteGraph {
      const { workspace } = find(projectId, caller);
      const plain = client.project(deps.placeOf(projectId));
      // Without sources there is nothing to index.
      if (workspace.state !== "ready") return plain;
      return client.project(deps.placeOf(projectId), (ask) => orIndexed(projectId, plain, ask));
    },
    /** The version of a project's index: commit and number, new after each index. Undefined before the first. */
    version: deps.versionOf,
    /**
     * Finds symbols in the indexes of the projects that the asker sees, by words of names and paths.
     * @param limit most symbols.
     */
    async findSymbols(words: readonly string[], limit: number, asker: Asker): Promise<FoundSymbol[]> {
      const options = { query: words.join(" "), limit: Math.min(limit * 2, 100), includeCode: false };
      const search = async (project_id: string): Promise<FoundSymbol[]> => {
        const { pieces } = await client.project(deps.placeOf(project_id)).json.query(options);
        const { items } = ownJson<{ items: { symbol: FoundSymbol }[] }>(await new Blob(pieces).text());
        return items.map(({ symbol }) => ({ ...symbol, project_id }));
      };
      // If a project's graph fails, only its own symbols are missing from the answer.
      const asked = await Promise.allSettled(deps.listIndexed(asker).slice(0, SEARCHED_PROJECTS).map(search));
      const found = asked.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
      const holds = ({ qualified_name, file_path }: FoundSymbol) => {
        const text = `${qualified_name} ${file_path}`.toLowerCase();
        return words.every((word) => text.includes(word));
      };
      return found.filter(holds).slice(0, limit);
    },
    /**
     * Answers an agent's tool call from the run's own working copy, or else from the project's index. An answer that
     * may miss recent changes says so.
     */
    async toolText(
      execution: Pick<ExecutionInfo, "projectId" | "workId"> & { asker: Asker },
      wanted: string | undefined,
      tool: string,
      args: Readonly<Record<string, unknown>>,
    ): Promise<string> {
      const projectId = wanted ?? execution.projectId;
      if (projectId === undefined) throw conflict("Name the project: this work belongs to none.", "no_project");
      if (execution.projectId !== undefined && execution.projectId !== projectId)
        throw forbidden("Only the graph of this work's own project can be asked.");
      const isSeen = roleIn(execution.asker, projectId) !== null;
      const project = expectFound(isSeen ? deps.project(projectId) : undefined, "project");
      const base = deps.placeOf(projectId);
      const copy = execution.workId === undefined ? undefined : deps.copyPlaceOf(projectId, execution.workId);
      if (!copy) assertSources(project);
      // A working copy's graph is brought up to date with the question; a project's own index is updated by its jobs.
      if (copy) return fresh.tool({ ...copy, seed: base.store }, tool, args);
      const graph = client.project(base);
      const text = await orIndexed(projectId, graph, () => graph.tool(tool, args), true);
      return isUnderWay(projectId) ? `${text}\n\n${OLDER}` : text;
    },
  };
}
