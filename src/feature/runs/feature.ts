import { splitModel } from "../../adapter/model/providers.ts";
import { timestamp } from "../../core/clock.ts";
import { notFound } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import { didYouMean } from "../../core/near.ts";
import { planner } from "../../engine/pipeline/planner.ts";
import { matchSkills } from "../../engine/skill-match.ts";
import { createGetRunHistoryTool } from "../../engine/tool/get-run-history.ts";
import { toolsOf } from "../../engine/tool.ts";
import { LOCAL_ADMIN } from "../../http/caller.ts";
import type { Agents } from "../agents/service.ts";
import type { Executions } from "../executions/service.ts";
import { type Core, defineFeature, type ServiceOf } from "../feature.ts";
import type { Pipelines } from "../pipelines/service.ts";
import type { projects } from "../projects/feature.ts";
import type { providers } from "../providers/feature.ts";
import type { SettingsService } from "../settings/service.ts";
import type { Skills } from "../skills/service.ts";
import { createApprovals } from "./approvals.ts";
import { runEvents } from "./events.ts";
import { openRuns } from "./open.ts";
import { runRoutes } from "./routes.ts";
import { steeringRoutes } from "./steering-routes.ts";

type Needs = Core & {
  settings: Pick<SettingsService, "get">;
  providers: Pick<ServiceOf<typeof providers>, "catalogue">;
  skills: Pick<Skills, "forAgents">;
  pipelines: Pick<Pipelines, "definitionOf">;
  projects: Pick<ServiceOf<typeof projects>, "byName" | "find" | "list">;
  agents: Pick<Agents, "ready" | "exists">;
  executions: Executions;
};

const HOUR_MS = 3_600_000;

export const runs = defineFeature(
  "runs",
  (deps: Needs) => {
    const { clock, settings, skills, projects, agents, pipelines, providers } = deps;
    const service = openRuns({
      ...deps,
      planner,
      agentOf: (id) => agents.ready(id).agent,
      pipelineOf: pipelines.definitionOf,
      isModel: (id) => providers.catalogue.provider(splitModel(id)?.provider ?? "") !== undefined,
      projectNamed(name) {
        const project = projects.byName(name);
        const known = () => projects.list({}, { limit: LIMITS.listMax, after: null }).items;
        if (!project)
          throw notFound(
            "project",
            didYouMean(
              name,
              known().map((one) => one.name),
            ),
          );
        return project;
      },
      projectById: projects.find,
      skillsFor(agentId, input, always) {
        const matched = matchSkills(skills.forAgents.available(agentId), input).map(({ name }) => name);
        return [...new Set([...always, ...matched])];
      },
      defaultTimeoutSeconds: () => settings.get().limits.timeout_seconds,
      defaultAttempts: () => settings.get().limits.max_attempts,
      defaultBudgetUsd: () => settings.get().budgets.run_usd,
    });
    const { rows, views } = service;
    const history = createGetRunHistoryTool({
      runHistory: ({ agentId }, { limit, ...query }) =>
        views.history({ ...query, agent_id: agentId }, { limit, after: null }, LOCAL_ADMIN).items,
    });
    return {
      service,
      routes: runRoutes(deps.base, { runs: service.service, views, agents }).use(
        steeringRoutes(deps.base, {
          runs: service.service,
          views,
          rows,
          approvals: createApprovals({ rows, runs: service.service }),
        }),
      ),
      tools: toolsOf("run-history", [history]),
      counts: () => ({
        active_runs: rows.count(["queued", "running", "waiting"]),
        runs_last_hour: rows.countSince(timestamp(clock.now() - HOUR_MS)),
      }),
      start: service.service.resume,
    };
  },
  runEvents,
);
