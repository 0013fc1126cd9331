/** Checks which variables a step's template or condition may name, and explains why it may not name others. */
import { declaredOutputs, isForEach, type PipelineDefinition, type PipelineStep } from "./definition.ts";
import type { PipelineGraph } from "./graph.ts";

const TEXTS: ReadonlySet<string> = new Set(["task_description", "human_context"]);
const PROJECT: ReadonlySet<string> = new Set([
  "id",
  "name",
  "description",
  "repository",
  "default_branch",
  "vision",
  "check",
]);
const RUN: ReadonlySet<string> = new Set(["id", "pipeline_id", "branch"]);
const STEP: ReadonlySet<string> = new Set(["status", "outputs", "error", "attempt", "visit"]);

/** The step's key that holds the template. */
export type TemplatePlace = "input" | "for_each" | "message" | "run" | "working_directory" | "env";

export interface Look {
  definition: PipelineDefinition;
  /** Undefined when the order of the steps is not sound, so that nobody knows which steps can have run. */
  graph: PipelineGraph | undefined;
}

/** The problem with the path in this place, or null. `where` is the step's key that holds it. */
export function variableProblem(
  path: readonly string[],
  step: PipelineStep,
  where: TemplatePlace | "when",
  { definition, graph }: Look,
): string | null {
  const [root = "", ...rest] = path;
  // The shell would run text that a task or an agent wrote as commands.
  if (where === "run" && path.join(".") !== "project.check")
    return `A command line takes no variables but {{ project.check }}. Put the value into env: \`env: { VALUE: "{{ ${path.join(".")} }}" }\`, and use "$VALUE".`;
  if (TEXTS.has(root)) return rest.length === 0 ? null : `"${root}" is a text and has no parts.`;
  if (root === "project") return checkMember(root, rest, PROJECT);
  if (root === "run") return checkMember(root, rest, RUN);
  if (root === "inputs") return inputProblem(rest, definition);
  if (root === "item" || root === "index") {
    if (isForEach(step) && where === "input") return null;
    return `"${root}" is known in the input of a step with for_each only.`;
  }
  if (root === "steps") return stepProblem(rest, step, definition, graph);
  const known = "task_description, human_context, project, run, inputs, steps, item, index";
  return `There is no variable "${root}". Known: ${known}.`;
}

function checkMember(root: string, rest: readonly string[], known: ReadonlySet<string>): string | null {
  const name = rest[0];
  if (name === undefined) return null;
  if (!known.has(name)) return `"${root}" has no "${name}". Known: ${[...known].join(", ")}.`;
  return rest.length > 1 ? `"${root}.${name}" is a text and has no parts.` : null;
}

function inputProblem(rest: readonly string[], definition: PipelineDefinition): string | null {
  const name = rest[0];
  if (name === undefined) return null;
  if (!Object.hasOwn(definition.inputs ?? {}, name)) return `The pipeline declares no input "${name}".`;
  return rest.length > 1 ? `"inputs.${name}" is a text and has no parts.` : null;
}

function stepProblem(
  rest: readonly string[],
  step: PipelineStep,
  { steps }: PipelineDefinition,
  graph: PipelineGraph | undefined,
): string | null {
  const [id, field, name] = rest;
  if (id === undefined) return 'Name a step: "steps.<id>.outputs.<name>".';
  const other = steps.find((one) => one.id === id);
  if (!other) return `There is no step "${id}".`;
  if (field !== undefined && !STEP.has(field)) return `A step has no "${field}". Known: ${[...STEP].join(", ")}.`;
  const outputs = declaredOutputs(other);
  if (field === "outputs" && name !== undefined && outputs && !outputs.has(name))
    return outputs.size === 0
      ? `The step "${id}" declares no outputs. Add \`outputs: [${name}]\` to it.`
      : `The step "${id}" does not declare the output "${name}". Declared: ${[...outputs].join(", ")}.`;
  if (!graph || mayHaveRun(id, step, graph)) return null;
  return `The step "${id}" cannot have run before "${step.id}". Put it into needs.`;
}

/**
 * Whether `id` can have ended before an attempt of `step` begins: by order, because the run went back, or as an earlier
 * attempt.
 */
export function mayHaveRun(id: string, step: PipelineStep, graph: PipelineGraph): boolean {
  if (graph.upstream(step.id).has(id)) return true;
  if (id === step.id && step.on_failure === "retry") return true;
  return graph.backJumps.some(
    ({ from, to }) =>
      (step.id === to || graph.downstream(to).has(step.id)) && (id === from || graph.upstream(from).has(id)),
  );
}
