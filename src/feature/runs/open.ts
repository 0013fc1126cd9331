/** Runs put together: rows, views, the carrying out of decisions, the service, and their place among the executions. */
import type { Clock } from "../../core/clock.ts";
import { invalid, isProblem } from "../../core/errors.ts";
import type { Audit } from "../../store/audit.ts";
import type { Store } from "../../store/store.ts";
import type { ExecutionDraft } from "../executions/model.ts";
import type { ExecutionOwner } from "../executions/service.ts";
import { createAdvance } from "./advance.ts";
import type { PipelineDefinition, Planner, PlanRun } from "./planner.ts";
import { createRuns } from "./service.ts";
import { createRunStore } from "./store.ts";
import { createRunViews } from "./views.ts";

export interface OpenRunsDeps {
  store: Store;
  clock: Clock;
  audit: Audit;
  planner: Planner;
  executions: {
    create(draft: ExecutionDraft): { id: string };
    requestCancel(id: string): void;
    /** Makes the owner hear of executions of that kind. */
    own(kind: ExecutionDraft["kind"], owner: ExecutionOwner): void;
  };
  /** @throws Problem 404 unknown, 422 with its problems when it is invalid. */
  pipelineOf(id: string): PipelineDefinition;
  /** @throws Problem 404. */
  projectNamed(name: string): { id: string; name: string };
  projectById(id: string): NonNullable<PlanRun["project"]> | undefined;
  /** @throws Problem 404 unknown, 409 switched off. */
  agentOf(agentId: string): { config: { timeout_seconds?: number | undefined; max_attempts?: number | undefined } };
  skillsFor(agentId: string, input: string, always: readonly string[]): string[];
  /** Whether a model id names a provider that there is; what models it has is the provider's to say. */
  isModel(id: string): boolean;
  defaultTimeoutSeconds?(): number;
  /** Attempts of steps that are tried again, where neither pipeline nor agent says how many. */
  defaultAttempts?(): number;
  /** Budget of runs whose pipeline names none, USD; null: no limit. */
  defaultBudgetUsd?(): number | null;
}

export type OpenRuns = ReturnType<typeof openRuns>;

export function openRuns(deps: OpenRunsDeps) {
  const { store, clock, audit, planner, executions, agentOf } = deps;
  const rows = createRunStore(store);
  const views = createRunViews(rows);
  /** Nothing of an agent that is gone, broken or switched off by now: the step's own execution will say so. */
  const configOf = (agentId: string): ReturnType<typeof agentOf>["config"] => {
    try {
      return agentOf(agentId).config;
    } catch (error) {
      if (isProblem(error)) return {};
      throw error;
    }
  };
  const advance = createAdvance({
    store: rows,
    clock,
    planner,
    projectOf: ({ project_id }) => (project_id === null ? null : (deps.projectById(project_id) ?? null)),
    execute: (draft) => executions.create(draft).id,
    cancelExecution: (id) => executions.requestCancel(id),
    skillsFor: deps.skillsFor,
    agentTimeout: (agentId) => configOf(agentId).timeout_seconds ?? deps.defaultTimeoutSeconds?.() ?? 1_800,
    agentAttempts: (agentId) => configOf(agentId).max_attempts ?? deps.defaultAttempts?.(),
  });
  const assertAgents = (definition: PipelineDefinition): void => {
    const errors = definition.steps.flatMap((step, at) => {
      if (!("agent" in step)) return [];
      try {
        agentOf(step.agent);
        return [];
      } catch (error) {
        if (!isProblem(error)) throw error;
        return [{ pointer: `/steps/${at}/agent`, message: `${step.agent}: ${error.detail}` }];
      }
    });
    const [first] = errors;
    if (first) throw invalid(`The pipeline ${definition.id} cannot run. Its agent ${first.message}`, errors);
  };
  const service = createRuns({
    store,
    rows,
    views,
    clock,
    planner,
    advance,
    audit,
    pipelineOf: deps.pipelineOf,
    isModel: deps.isModel,
    projectNamed: deps.projectNamed,
    assertAgents,
    defaultBudgetUsd: () => deps.defaultBudgetUsd?.() ?? null,
  });
  executions.own("pipeline", service.owner);
  return { rows, views, service };
}
