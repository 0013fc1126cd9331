/** The variables that templates and conditions can read, the rendered inputs of a step, and the outputs of a run. */
import {
  type AgentStep,
  type CommandStep,
  DEFAULT_MAX_ATTEMPTS,
  type ForEachStep,
  isApproval,
  isCommand,
  type PipelineDefinition,
  type PipelineStep,
} from "./definition.ts";
import { type PipelineGraph, pipelineGraph } from "./graph.ts";
import type { RunRow, StepRow } from "./rows.ts";
import type { RunState } from "./run-state.ts";
import { asMarkdown, parseTemplate, renderTemplate } from "./template.ts";
import { mayHaveRun } from "./variables.ts";

interface ItemScope {
  item: unknown;
  index: number;
}

/** All variables that templates and conditions can read, by name. */
export function scopeOf(definition: PipelineDefinition, state: RunState, item?: ItemScope): Record<string, unknown> {
  const { run } = state;
  return {
    task_description: run.task_description,
    human_context: run.human_context ?? "",
    project: run.project ?? {},
    run: { id: run.id, pipeline_id: run.pipeline_id, branch: run.branch },
    inputs: run.inputs,
    steps: Object.fromEntries(definition.steps.map(({ id }) => [id, stepScope(state.findEnded(id), state.latest(id))])),
    ...item,
  };
}

/** Result of the last attempt that ended, and the number of the current attempt and visit, from 1. */
function stepScope(shown: StepRow | undefined, latest: StepRow | undefined): Record<string, unknown> {
  const { attempt, visit } = latest ?? shown ?? { attempt: 1, visit: 1 };
  if (!shown) return { status: "pending", outputs: {}, error: "", attempt, visit };
  return { status: shown.status, outputs: shown.outputs, error: shown.error?.message ?? "", attempt, visit };
}

/** The inputs with which the step would begin now. */
export function renderInputs(
  definition: PipelineDefinition,
  step: PipelineStep,
  state: RunState,
  item?: ItemScope,
): Record<string, unknown> {
  const scope = scopeOf(definition, state, item);
  if (isApproval(step)) return { message: renderTemplate(step.approval.message, scope, asMarkdown) };
  if (isCommand(step)) return commandInputs(step, scope);
  return { input: withComments(renderTemplate(step.input, scope), definition, step, state), ...item };
}

/** Adds what people wrote at approvals before the step, unless the step's template already includes it. */
function withComments(
  input: string,
  definition: PipelineDefinition,
  step: AgentStep | ForEachStep,
  state: RunState,
): string {
  const commented = definition.steps.flatMap((other) => {
    const { comment, approved } = (isApproval(other) && state.findEnded(other.id)?.outputs) || {};
    if (typeof comment !== "string" || comment.trim() === "") return [];
    return [
      { id: other.id, text: `${other.name ?? other.id} (${approved ? "agreed" : "refused"}): ${comment.trim()}` },
    ];
  });
  if (commented.length === 0) return input;
  const graph = pipelineGraph(definition);
  const texts = commented.filter(({ id }) => !namesComment(step.input, id) && mayHaveRun(id, step, graph));
  if (texts.length === 0) return input;
  const head = "What a person wrote when they were asked during this run. Follow it:";
  return [input.trimEnd(), "", head, ...texts.map(({ text }) => text)].join("\n");
}

/** Whether a template includes the comment of that step, alone or among its outputs. */
const namesComment = (template: string, stepId: string): boolean =>
  parseTemplate(template).parts.some((part) => {
    if (part.kind !== "path") return false;
    const [root, id, field = "outputs", name = "comment"] = part.path;
    return root === "steps" && id === stepId && field === "outputs" && name === "comment";
  });

function commandInputs(step: CommandStep, scope: Record<string, unknown>): Record<string, unknown> {
  const env = Object.entries(step.env ?? {}).map(([name, value]) => [name, renderTemplate(String(value), scope)]);
  const folder = step.working_directory;
  return {
    command: renderTemplate(step.run, scope),
    ...(folder === undefined ? {} : { working_directory: renderTemplate(folder, scope) }),
    ...(env.length === 0 ? {} : { env: Object.fromEntries(env) }),
  };
}

/**
 * Outputs of the last steps by step id. Last steps are those for which no step waits. Where one did not succeed, the
 * nearest steps before it that succeeded count instead.
 */
export function outputsOf(graph: PipelineGraph, state: RunState): Record<string, unknown> {
  const outputs = new Map<string, unknown>();
  const open = graph.steps.filter(({ id }) => graph.downstream(id).size === 0).map(({ id }) => id);
  const seen = new Set<string>();
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (seen.has(id)) continue;
    seen.add(id);
    const row = state.latest(id);
    if (row?.status === "succeeded") outputs.set(id, row.outputs);
    else open.push(...graph.needs(id));
  }
  return Object.fromEntries(graph.steps.filter(({ id }) => outputs.has(id)).map(({ id }) => [id, outputs.get(id)]));
}

interface StepSettings {
  /** Undefined: the agent's model, else the instance's. */
  model: string | undefined;
  /** Undefined: the agent's time limit. */
  timeout_seconds: number | undefined;
  /** Attempts in one visit; 1 unless the step has `on_failure: retry`. */
  max_attempts: number;
}

/**
 * The settings of a step: the run's come first, then the step's, then the pipeline's.
 * @param agentAttempts `max_attempts` of the step's agent, used when neither the step nor the pipeline sets it.
 */
export function settingsOf(
  definition: PipelineDefinition,
  step: PipelineStep,
  run: Pick<RunRow, "model">,
  agentAttempts?: number,
): StepSettings {
  const { defaults } = definition;
  if (isApproval(step)) return { model: undefined, timeout_seconds: undefined, max_attempts: 1 };
  const attempts = step.max_attempts ?? defaults?.max_attempts ?? agentAttempts ?? DEFAULT_MAX_ATTEMPTS;
  return {
    model: isCommand(step) ? undefined : (run.model ?? step.model ?? defaults?.model),
    timeout_seconds: step.timeout_seconds ?? defaults?.timeout_seconds,
    max_attempts: step.on_failure === "retry" ? attempts : 1,
  };
}

const unknownInput = (names: readonly string[]): string =>
  `There is no such input. ${names.length === 0 ? "The pipeline takes none." : `There are: ${names.join(", ")}.`}`;

/**
 * Values for the inputs of a new run, with defaults filled in. Inputs that are missing or not declared are problems, by
 * name.
 */
export function checkInputs(
  definition: PipelineDefinition,
  given: Readonly<Record<string, string>>,
): { values: Record<string, string>; problems: { name: string; message: string }[] } {
  const declared = definition.inputs ?? {};
  const problems = Object.keys(given)
    .filter((name) => !Object.hasOwn(declared, name))
    .map((name) => ({ name, message: unknownInput(Object.keys(declared)) }));
  const values: [string, string][] = [];
  for (const [name, input] of Object.entries(declared)) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (value === undefined && input.required) problems.push({ name, message: `The input ${name} is required.` });
    values.push([name, value ?? input.default ?? ""]);
  }
  return { values: Object.fromEntries(values), problems };
}
