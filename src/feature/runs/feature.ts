import { HOUR_MS, toTimestamp } from "../../core/clock.ts";
import { notFound } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import { didYouMean } from "../../core/near.ts";
import { OUTSIDE_SOURCES } from "../../core/outside-table.ts";
import type { ProjectRoles } from "../../core/ownership.ts";
import { createGetRunHistoryTool } from "../../engine/tool/get-run-history.ts";
import { toolsOf } from "../../engine/tool.ts";
import type { Agents } from "../agents/service.ts";
import { type Core, defineFeature, type ServiceOf } from "../feature.ts";
import type { PermissionService } from "../permissions/service.ts";
import type { Pipelines } from "../pipelines/service.ts";
import type { projects } from "../projects/feature.ts";
import type { providers } from "../providers/feature.ts";
import type { Sessions } from "../sessions/service.ts";
import type { SettingsService } from "../settings/service.ts";
import type { StorageService } from "../storage/service.ts";
import { createAdvance } from "./advance.ts";
import { createRunAgents } from "./agents.ts";
import { createApprovals } from "./approvals.ts";
import { approvalRequested, runEvents } from "./events.ts";
import { createOverview } from "./overview.ts";
import { runRoutes } from "./routes.ts";
import { createRuns, type RunsService } from "./service.ts";
import { steeringRoutes } from "./steering-routes.ts";
import { createRunStore } from "./store.ts";
import { createRunSums } from "./sums.ts";
import { timelineOf } from "./timeline.ts";
import { createRunViews, type RunViews } from "./views.ts";

type Needs = Core & {
  settings: Pick<SettingsService, "get">;
  storage: Pick<StorageService, "assertWorkspaces">;
  providers: Pick<ServiceOf<typeof providers>, "wrongModel">;
  pipelines: Pick<Pipelines, "definitionOf">;
  projects: Pick<ServiceOf<typeof projects>, "byName" | "find" | "list">;
  agents: Pick<Agents, "ready" | "exists">;
  sessions: Sessions;
  permissions: Pick<PermissionService, "rowsFor" | "present">;
};

export const runs = defineFeature(
  "runs",
  (deps: Needs) => {
    const { store, bus, clock, clockwork, sessions, permissions, settings, projects, agents } = deps;
    const rows = createRunStore(store);
    const views = createRunViews(rows, store.sqlite, () => deps.standby.since() !== null);
    const { configOf, assertReady } = createRunAgents(agents.ready);
    const advance = createAdvance({
      store: rows,
      clock,
      endSession: sessions.end,
      projectOf: ({ project_id }) => (project_id === null ? null : (projects.find(project_id) ?? null)),
      execute: (session, turn) =>
        sessions.queue(typeof session === "string" ? session : sessions.open(session).id, turn),
      agentTimeout: (agentId) => configOf(agentId).timeout_seconds ?? settings.get().limits.timeout_seconds,
      agentAttempts: (agentId) => configOf(agentId).max_attempts ?? settings.get().limits.max_attempts,
    });
    const runs = createRuns({
      ...deps,
      rows,
      views,
      advance,
      assertReady,
      tryNow: (runId) => sessions.tryNow({ runId }),
      providerWait: (runId) => sessions.providerWait({ runId }),
      pipelineOf: deps.pipelines.definitionOf,
      wrongModel: deps.providers.wrongModel,
      assertWorkspaces: deps.storage.assertWorkspaces,
      projectNamed(name, caller) {
        const project = projects.byName(name, caller);
        const listProjects = () => projects.list({}, { limit: LIMITS.listMax, after: null }, caller).items;
        if (!project)
          throw notFound(
            "project",
            didYouMean(
              name,
              listProjects().map((one) => one.name),
            ),
          );
        return project;
      },
      defaultBudgetUsd: () => settings.get().budgets.run_usd,
      mostUnfinished: () => settings.get().limits.user_unfinished_runs,
    });
    const noteDue = clockwork.add({ name: "approvals", nextAt: rows.nextDeadline, run: runs.tick });
    const unsubscribe = bus.subscribe([approvalRequested], noteDue);
    sessions.own("pipeline", runs.owner);
    sessions.own("command", runs.owner);
    const approvals = createApprovals({ rows, runs, permissions });
    const service: RunsService = { ...runs, rows, views, approvals };
    return {
      service,
      routes: () => [
        ...runRoutes({ runs, views, agents }),
        ...steeringRoutes({
          runs,
          views,
          rows,
          approvals,
          overview: createOverview({ store, rows, now: clock.now }),
          sums: createRunSums(store, clock.now),
          timelineOf: (run) => timelineOf(store, run, clock.now()),
        }),
      ],
      tools: toolsOf("run-history", [historyTool(views, deps.access)]),
      counts: () => ({
        active_runs: rows.countLive(),
        runs_last_hour: rows.countSince(toTimestamp(clock.now() - HOUR_MS)),
      }),
      start: runs.resume,
      stop: unsubscribe,
    };
  },
  runEvents,
);

/**
 * The tool with which an agent reads its history: the runs that it worked on for the user of this execution. The API
 * answers the execution's token the same.
 */
const historyTool = (views: RunViews, projects: ProjectRoles) =>
  createGetRunHistoryTool({
    outsideOf: (run) => (run["outside"] === null ? undefined : OUTSIDE_SOURCES.run),
    runHistory: (execution, { limit, ...query }) =>
      views.history(query, { limit, after: null }, { kind: "execution", admin: false, execution, projects }).items,
  });
