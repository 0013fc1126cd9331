import type { Caller } from "../../http/caller.ts";
import type { Agents } from "../agents/service.ts";
import { type Core, defineFeature, type ServiceOf } from "../feature.ts";
import type { Jobs } from "../jobs/service.ts";
import type { Pipelines } from "../pipelines/service.ts";
import type { projects } from "../projects/feature.ts";
import {
  runCancelled,
  runComplete,
  runFailed,
  runMerged,
  runRestarted,
  runWaiting,
  stepStarted,
} from "../runs/events.ts";
import type { Runs } from "../runs/service.ts";
import { taskEvents } from "./events.ts";
import { createTaskExecution } from "./execution.ts";
import { defineImport, importOf } from "./import.ts";
import type { TaskImport } from "./model.ts";
import { createPolicies } from "./policy.ts";
import { policyRoutes } from "./policy-routes.ts";
import { taskRoutes } from "./routes.ts";
import { createTaskRules } from "./rules.ts";
import { pullsAwaited, runStates, worksOf } from "./run-states.ts";
import { createTasks } from "./service.ts";
import { createTaskStore } from "./store.ts";
import { taskTools } from "./tools.ts";

type Needs = Core & {
  jobs: Pick<Jobs, "enqueue">;
  pipelines: Pick<Pipelines, "exists">;
  projects: Pick<ServiceOf<typeof projects>, "plain">;
  agents: Pick<Agents, "exists" | "ready">;
  runs: Pick<Runs, "create">;
};

export const tasks = defineFeature(
  "tasks",
  (deps: Needs) => {
    const { store, clock, clockwork, bus, access, jobs, agents, pipelines, runs } = deps;
    const projectOf = deps.projects.plain;
    const own = { store, clock, projectOf, agentExists: agents.exists, pipelineExists: pipelines.exists };
    const rows = createTaskStore(store, clock);
    const rules = createTaskRules(rows, clock.now);
    const policies = createPolicies(own);
    const leases = { name: "task-leases", nextAt: () => rows.nextLease() ?? null, run: () => service.endLeases() };
    const leaseChanged = clockwork.add(leases);
    const service = createTasks({
      ...own,
      rows,
      rules,
      missingStages: policies.missingStages,
      leaseChanged,
      works: worksOf(store),
    });
    const execution = createTaskExecution({
      ...deps,
      rows,
      rules,
      policies,
      projectOf,
      createRun: runs.create,
      mask: deps.masking.text,
      runState: runStates(store),
      awaitsPull: pullsAwaited(store),
    });
    const importTasks = defineImport({ ...deps, tasks: service, rows });
    const importInto = (projectId: string, input: TaskImport, caller: Caller, outside?: string) => {
      const { name } = projectOf(projectId);
      const options = { subject: name, userId: caller.userId, projectId };
      const payload = { ...importOf(projectId, input), ...(outside === undefined ? {} : { outside }) };
      return jobs.enqueue(importTasks, payload, options);
    };
    const unsubscribe = bus.subscribe(
      [stepStarted, runWaiting, runComplete, runFailed, runCancelled, runRestarted],
      ({ run_id }) => run_id !== undefined && execution.follow(run_id),
    );
    const unsubscribeMerged = bus.subscribe(
      [runMerged],
      ({ run_id }) => run_id !== undefined && execution.onMerge(run_id),
    );
    const resolve: Parameters<typeof policyRoutes>[0]["resolve"] = (projectId, taskId, workType) => {
      service.get(projectId, taskId);
      const row = rows.find(taskId)!;
      return { ...policies.resolve(row, workType), next_statuses: service.nextStatuses(row) };
    };
    return {
      service: { ...service, execution, policies, importInto },
      routes: () => [
        ...taskRoutes({
          tasks: service,
          execution,
          importTasks: importInto,
        }),
        ...policyRoutes({ policies, resolve }),
      ],
      tools: taskTools({
        tasks: service,
        projectOf,
        access,
        movesAll: (id) => agents.ready(id).agent.config.moves_tasks === "all",
      }),
      jobs: [importTasks],
      start: execution.followAll,
      stop() {
        unsubscribe();
        unsubscribeMerged();
      },
    };
  },
  taskEvents,
);
