import { gitOrigin, repositoryName } from "../../adapter/codehost/code-host.ts";
import { openCodeHost } from "../../adapter/codehost/open.ts";
import { bodyHash, deliveryOf, isSigned } from "../../adapter/codehost/signature.ts";
import { readNotice } from "../../adapter/codehost/webhook.ts";
import { actOnEach } from "../../core/act-on-each.ts";
import { isProblem } from "../../core/errors.ts";
import { defineJob, type JobDefinition } from "../../core/jobs.ts";
import { OUTSIDE_SOURCES } from "../../core/outside-table.ts";
import { type Asker, roleIn } from "../../core/ownership.ts";
import { type Core, defineFeature, type ServiceOf } from "../feature.ts";
import type { Jobs } from "../jobs/service.ts";
import type { Pipelines } from "../pipelines/service.ts";
import type { projects } from "../projects/feature.ts";
import type { reviews } from "../reviews/feature.ts";
import { RUN_ENDS, runRestarted, runWaiting } from "../runs/events.ts";
import type { runs } from "../runs/feature.ts";
import type { RunRow } from "../runs/store.ts";
import type { SettingsService } from "../settings/service.ts";
import type { tasks } from "../tasks/feature.ts";
import { type CodeHostConnection, createConnection } from "./connection.ts";
import { createDeliveries, type Deliveries, DeliveryPayload } from "./deliveries.ts";
import { codehostEvents } from "./events.ts";
import { createLinks } from "./links.ts";
import { createReact, projectsOf, type React } from "./react.ts";
import { createReview } from "./review.ts";
import { codeHostRoutes } from "./routes.ts";
import { ruleRoutes } from "./rule-routes.ts";
import { createRules } from "./rules.ts";
import { runWorkRoutes } from "./run-routes.ts";
import { createRunWork } from "./run-work.ts";
import { createStart, type Work } from "./start.ts";
import { defineSync, HOST_ATTEMPTS } from "./sync.ts";

const PARALLEL = 4;
/**
 * Days for which deliveries are kept to detect replays. A replay of an older one is acted on again, but by what the
 * host says then.
 */
const KEPT_DAYS = 400;

/** The connection to the code host is a feature of its own, because projects need it for their clones. */
export const codehostConnection = defineFeature("codehostConnection", (deps: Core & { settings: SettingsService }) => ({
  service: createConnection({ ...deps, stored: deps.settings, open: openCodeHost, repositoryName, gitOrigin }),
}));

type Needs = Core & {
  codehostConnection: CodeHostConnection;
  jobs: Pick<Jobs, "enqueue">;
  pipelines: Pick<Pipelines, "exists">;
  projects: Pick<ServiceOf<typeof projects>, "fetch" | "get" | "branches">;
  reviews: Pick<ServiceOf<typeof reviews>, "comments">;
  runs: Pick<ServiceOf<typeof runs>, "mergedOnHost" | "create" | "rows" | "views">;
  tasks: Pick<ServiceOf<typeof tasks>, "create" | "execution">;
};

export const codehost = defineFeature(
  "codehost",
  (deps: Needs) => {
    const { store, clock, bus, jobs, projects, runs, tasks, config } = deps;
    const connection = deps.codehostConnection;
    const links = createLinks(store, clock);
    const { comments } = deps.reviews;
    const pipelineExists = deps.pipelines.exists;
    const rules = createRules({
      ...deps,
      pipelineExists,
      projectOf: projects.get,
      repositoryOf: connection.repositoryOf,
    });
    const changedTo = changedToOf(projects.branches);
    const { push } = projects.branches;
    const syncJob = defineSync({
      ...deps,
      connection,
      links,
      comments,
      changedTo,
      push,
      runOf: runs.rows.run,
      defaultBranch: (projectId) => projects.get(projectId).default_branch,
      pageOf: (runId) => `${config.publicUrl ?? deps.url() ?? ""}/runs/${runId}`,
    });
    const follow = (run_id: string): void =>
      store.write(() => {
        if (!links.find(run_id)) return;
        links.update(run_id, { state: "pending", error: null });
        jobs.enqueue(syncJob, { run_id }, { subject: run_id, userId: runs.rows.run(run_id)?.created_by ?? undefined });
      });
    const { start, isWanted, attempt } = createStart({
      ...deps,
      connection,
      rules,
      links,
      follow,
      begin: (work) => begin(deps, work),
    });
    const react = createReact({
      ...deps,
      connection,
      links,
      fetchProject: (id) => projects.fetch(id, undefined),
      recordMerge(runId, merge) {
        runs.mergedOnHost(runId, merge);
        tasks.execution.onMerge(runId);
      },
      start,
      isWanted,
      review: createReview({ store, connection, links, comments, rules, follow }),
    });
    const deliveryJob: JobDefinition<typeof DeliveryPayload> = defineDelivery(() => deliveries, react);
    const deliveries: Deliveries = createDeliveries({
      ...deps,
      connection,
      reader: { isSigned, bodyHash, deliveryOf, readNotice },
      obstacleTo: react.obstacleTo,
      definition: () => deliveryJob,
    });
    const work = createRunWork({
      ...deps,
      links,
      connection,
      changedTo,
      push,
      follow,
      rowFor: runs.views.rowFor,
      repositoryOf: (projectId) => projects.get(projectId).repository,
    });
    const unsubscribe = bus.subscribe(
      [...RUN_ENDS, runWaiting, runRestarted],
      ({ run_id }) => run_id !== undefined && links.find(run_id) && follow(run_id),
    );
    const projectOf = (repository: string, asker: Asker) =>
      projectsOf(store, connection, repository).find(({ id }) => roleIn(asker, id) !== null);
    return {
      routes: () => [
        ...codeHostRoutes({ connection, deliveries, projectOf, standby: deps.standby }),
        ...ruleRoutes(rules, attempt),
        ...runWorkRoutes(work),
      ],
      jobs: [deliveryJob, syncJob],
      prunes: [{ keep: KEPT_DAYS, run: deliveries.prune }],
      handOver: rules.handOver,
      start() {
        actOnEach(links.behind(), follow);
      },
      stop: unsubscribe,
    };
  },
  codehostEvents,
);

/** Starts the run: with a task on the board, or without one. */
function begin({ tasks, runs, projects }: Needs, work: Work): string {
  const { projectId, pipelineId: pipeline_id, title, description, caller } = work;
  const outside = OUTSIDE_SOURCES.codehost;
  if (!work.asTask) {
    const project_name = projects.get(projectId).name;
    return runs.create({ pipeline_id, task_description: description, project_name }, caller, { outside }).id;
  }
  const task = tasks.create(projectId, { title: title.slice(0, 500), description, outside }, caller);
  return tasks.execution.execute(projectId, task.id, { pipeline_id, task_description: description }, caller).id;
}

/** Finds the last commit of a run's branch; null when the branch has no commit of its own. */
function changedToOf(branches: Needs["projects"]["branches"]) {
  return async ({ id, project_id, base_commit, merged_head }: RunRow): Promise<string | null> => {
    if (project_id === null) return null;
    try {
      const { base, head } = await branches.diff(
        { id, project_id, base_commit, merged_head },
        { after: null, limit: 0 },
      );
      return base === head ? null : head;
    } catch (error) {
      // The run's branch does not exist: nothing was written to it.
      if (isProblem(error) && error.status === 404) return null;
      throw error;
    }
  };
}

/** The job that acts on a delivery. If the host is down, or refuses our token, the job tries again later. */
function defineDelivery(deliveries: () => Deliveries, react: React) {
  return defineJob(
    "codehost_delivery",
    DeliveryPayload,
    async ({ delivery_id }) => {
      const row = deliveries().find(delivery_id);
      if (row?.state !== "queued" || row.notice === null) return undefined;
      return { ...(await react.act(row.notice)) };
    },
    {
      parallel: PARALLEL,
      attempts: HOST_ATTEMPTS,
      outward: true,
      exclusive: ({ delivery_id }) => deliveries().find(delivery_id)?.repository ?? delivery_id,
      // Runs in the transaction that ends the job, so that both take one write to the disk.
      onEnd({ payload: { delivery_id }, state, result, error }) {
        if (state !== "succeeded")
          deliveries().end(delivery_id, { state: "failed", error, detail: error?.message ?? "It was cancelled." });
        else if (result) deliveries().end(delivery_id, { ...result, run_id: result.run_id ?? null });
      },
    },
  );
}
