/** Checks a pipeline that has the right shape for mistakes in names, order, variables and conditions. */

import { isSlug } from "../../core/ids.ts";
import { isObject } from "../../core/is-object.ts";
import { schemaProblems } from "../../core/json-schema.ts";
import type { ValueProblem } from "../schema-problems.ts";
import { YAML_LIMITS } from "../yaml-text.ts";
import { parseCondition, pathsOf } from "./condition.ts";
import { ConditionError } from "./condition-tokens.ts";
import {
  type CommandStep,
  declaredOutputs,
  ENV_NAME,
  gotoOf,
  isApproval,
  isCommand,
  isForEach,
  type PipelineDefinition,
  type PipelineStep,
  routeOf,
  VARIABLE_NAME,
} from "./definition.ts";
import { declaredNeeds, findCycle, forwardNeeds, pipelineGraph } from "./graph.ts";
import { isReservedName } from "./path.ts";
import { parseTemplate, soleVariable } from "./template.ts";
import { type Look, type TemplatePlace, variableProblem } from "./variables.ts";

type Path = (string | number)[];

export interface KnownNames {
  /** Name of the file without its ending; the id must be the same. */
  fileId?: string | undefined;
  /** Ids of the existing agents. Any other id is a problem; absent: not checked. */
  agents?: ReadonlySet<string> | undefined;
  /**
   * Names of the skills that the agent has and can read, enabled or not. Any other name is a problem; absent: not
   * checked.
   */
  skillsOf?: ((agentId: string) => ReadonlySet<string>) | undefined;
}

/**
 * Finds every such problem. Whether the step of a variable can have run is checked only when the order of the steps is
 * sound.
 * @param shape problems of the shape; the parts concerned were replaced by stand-ins.
 */
export function meaningProblems(
  definition: PipelineDefinition,
  known: KnownNames,
  shape: readonly ValueProblem[] = [],
): ValueProblem[] {
  const { steps } = definition;
  const names = [
    ...nameProblems(definition, known),
    ...steps.flatMap((step, i) => stepNames(step, i, definition, known)),
  ];
  const isTwice = names.some(({ path: [, , key] }) => key === "id");
  const cycle = isTwice ? null : cycleProblem(definition);
  const isOrdered = !cycle && ![...shape, ...names].some(({ path: [, , key = ""] }) => ORDER.has(key));
  const look: Look = { definition, graph: isOrdered ? pipelineGraph(definition) : undefined };
  const texts = steps.flatMap((step, position) => textProblems(step, ["steps", position], look));
  return [...names, ...(cycle ? [cycle] : []), ...texts];
}

/** Keys of a step that the order depends on. */
const ORDER: ReadonlySet<string | number> = new Set(["id", "needs", "on_failure", "route"]);

function nameProblems(definition: PipelineDefinition, known: KnownNames): ValueProblem[] {
  const problems: ValueProblem[] = [];
  if (!isSlug(definition.id)) problems.push({ path: ["id"], message: `"${definition.id}" is a reserved word.` });
  if (known.fileId !== undefined && known.fileId !== definition.id)
    problems.push({ path: ["id"], message: `The id must be the name of the file: ${known.fileId}.` });
  for (const [name, input] of Object.entries(definition.inputs ?? {})) {
    const path = ["inputs", name];
    if (!VARIABLE_NAME.test(name) || isReservedName(name))
      problems.push({ path, key: true, message: `"${name}" is not a name: letters, digits, _ and -, at most 64.` });
    if (input.required && input.default !== undefined)
      problems.push({ path, message: "An input that is required has no default." });
  }
  return problems;
}

function stepNames(
  step: PipelineStep,
  position: number,
  definition: PipelineDefinition,
  known: KnownNames,
): ValueProblem[] {
  const toPath = (...rest: Path): Path => ["steps", position, ...rest];
  const ids = definition.steps.map(({ id }) => id);
  const problems: ValueProblem[] = [];
  const checkTarget = (id: string, path: Path) => {
    if (!ids.includes(id)) problems.push({ path, message: `There is no step "${id}".` });
  };
  if (ids.indexOf(step.id) < position)
    problems.push({ path: toPath("id"), message: `The step "${step.id}" is given twice.` });
  if (isReservedName(step.id)) problems.push({ path: toPath("id"), message: `"${step.id}" is not a name.` });
  for (const [i, id] of (step.needs ?? []).entries()) checkTarget(id, toPath("needs", i));
  const failure = gotoOf(step);
  if (failure) checkTarget(failure.goto, toPath("on_failure", "goto"));
  for (const [value, id] of Object.entries(routeOf(step)?.to ?? {})) checkTarget(id, toPath("route", "to", value));
  if (isCommand(step)) problems.push(...commandNames(step, toPath, known));
  else if (!isApproval(step)) {
    if (known.agents && !known.agents.has(step.agent))
      problems.push({ path: toPath("agent"), message: `There is no agent "${step.agent}".` });
    else if (known.skillsOf && step.skills?.length) {
      const has = known.skillsOf(step.agent);
      for (const [i, name] of step.skills.entries())
        if (!has.has(name))
          problems.push({
            path: toPath("skills", i),
            message: `The agent "${step.agent}" has no skill "${name}" that can be read.`,
          });
    }
    const type = step.output_schema?.["type"];
    if (step.output_schema && type !== "object")
      problems.push({
        path: toPath("output_schema"),
        message: "The schema of outputs is one of an object: type: object.",
      });
    for (const problem of step.output_schema ? schemaProblems(step.output_schema, { written: true }) : [])
      problems.push({ ...problem, path: toPath("output_schema", ...problem.path) });
    for (const [i, name] of (step.outputs ?? []).entries())
      if (isReservedName(name)) problems.push({ path: toPath("outputs", i), message: `"${name}" is not a name.` });
  }
  return [...problems, ...routeProblems(step, toPath)];
}

function commandNames(step: CommandStep, at: (...rest: Path) => Path, known: KnownNames): ValueProblem[] {
  const names = Object.keys(step.env ?? {}).filter((name) => !ENV_NAME.test(name) || isReservedName(name));
  const problems: ValueProblem[] = names.map((name) => ({
    path: at("env", name),
    key: true,
    message: `"${name}" is not a name of a variable: letters, digits and _, not a digit first.`,
  }));
  if (step.agent !== undefined && known.agents && !known.agents.has(step.agent))
    problems.push({ path: at("agent"), message: `There is no agent "${step.agent}".` });
  return problems;
}

function routeProblems(step: PipelineStep, at: (...rest: Path) => Path): ValueProblem[] {
  const route = routeOf(step);
  if (!route) return [];
  const outputs = declaredOutputs(step);
  if (outputs && !outputs.has(route.on))
    return [{ path: at("route", "on"), message: `The step does not declare the output "${route.on}".` }];
  const allowed = isApproval(step) || isCommand(step) ? null : enumOf(step.output_schema, route.on);
  return Object.keys(route.to).flatMap((value) =>
    allowed && !allowed.includes(value)
      ? [
          {
            path: at("route", "to", value),
            key: true,
            message: `"${route.on}" is never "${value}", only ${allowed.join(", ")}.`,
          },
        ]
      : [],
  );
}

/** The values that the schema allows for this output, as texts; null when it lists none. */
function enumOf(schema: Record<string, unknown> | undefined, name: string): string[] | null {
  const properties = schema?.["properties"];
  if (!isObject(properties) || !Object.hasOwn(properties, name)) return null;
  const property = properties[name];
  const values = isObject(property) ? property["enum"] : null;
  return Array.isArray(values) ? values.map(String) : null;
}

function cycleProblem(definition: PipelineDefinition): ValueProblem | null {
  const cycle = findCycle(declaredNeeds(definition.steps)) ?? findCycle(forwardNeeds(definition.steps));
  if (!cycle) return null;
  const position = definition.steps.findIndex(({ id }) => id === cycle[0]);
  const message = `These steps wait for each other: ${cycle.join(" → ")}.`;
  return { path: ["steps", position, "needs"], message };
}

/** Problems in the templates and the condition of one step. */
function textProblems(step: PipelineStep, path: Path, look: Look): ValueProblem[] {
  const problems: ValueProblem[] = [];
  const checkTemplate = (text: string, where: TemplatePlace, at: Path) => {
    const parsed = parseTemplate(text);
    for (const { offset, message } of parsed.problems)
      problems.push({ path: at, message, excerpt: text.slice(offset, offset + 20).split("\n")[0] ?? "" });
    for (const part of parsed.parts) {
      if (problems.length >= YAML_LIMITS.problems) break;
      const wrong = part.kind === "path" ? variableProblem(part.path, step, where, look) : null;
      if (part.kind === "path" && wrong)
        problems.push({ path: at, message: wrong, excerpt: text.slice(part.offset).split("}}")[0] ?? "" });
    }
  };
  if (isApproval(step)) checkTemplate(step.approval.message, "message", [...path, "approval", "message"]);
  else if (isCommand(step)) {
    checkTemplate(step.run, "run", [...path, "run"]);
    if (step.working_directory)
      checkTemplate(step.working_directory, "working_directory", [...path, "working_directory"]);
    for (const [name, value] of Object.entries(step.env ?? {}))
      checkTemplate(String(value), "env", [...path, "env", name]);
  } else checkTemplate(step.input, "input", [...path, "input"]);
  if (isForEach(step) && typeof step.for_each === "string") {
    checkTemplate(step.for_each, "for_each", [...path, "for_each"]);
    if (!soleVariable(step.for_each) && problems.length === 0)
      problems.push({ path: [...path, "for_each"], message: 'This must be a list or one variable: "{{ … }}".' });
  }
  if (step.when !== undefined) problems.push(...whenProblems(step.when, step, [...path, "when"], look));
  return problems;
}

function whenProblems(text: string, step: PipelineStep, path: Path, look: Look): ValueProblem[] {
  try {
    return pathsOf(parseCondition(text)).flatMap((variable) => {
      const message = variableProblem(variable.path, step, "when", look);
      return message ? [{ path, message, excerpt: variable.path.join(".") }] : [];
    });
  } catch (error) {
    if (!(error instanceof ConditionError)) throw error;
    return [{ path, message: error.message, excerpt: text.slice(error.offset, error.offset + 20) }];
  }
}
