/**
 * Checks whether a value has the shape of a pipeline. A step's problems are those of the kind of step that it appears
 * to be.
 */

import { type TSchema, Type } from "@sinclair/typebox";
import { isObject } from "../../core/is-object.ts";
import { schemaProblems, type ValueProblem } from "../schema-problems.ts";
import {
  AGENT_STEP,
  APPROVAL_STEP,
  COMMAND_STEP,
  FOR_EACH_STEP,
  PIPELINE,
  type PipelineDefinition,
  type PipelineStep,
} from "./definition.ts";

/** Schema of a pipeline that accepts any steps; the steps are checked one by one. */
const FRAME = Type.Object(
  {
    ...PIPELINE.properties,
    steps: Type.Array(Type.Unknown(), { minItems: 1, maxItems: PIPELINE.properties.steps.maxItems ?? 0 }),
  },
  { additionalProperties: false },
);

/** Everything wrong with the shape; empty when the value is a pipeline definition. */
export function shapeProblems(value: unknown): ValueProblem[] {
  if (!isObject(value)) return [{ path: [], message: "A pipeline is a map with id, name and steps." }];
  const problems = schemaProblems(FRAME, value);
  const { steps } = value;
  if (!Array.isArray(steps) || problems.some(({ path }) => path[0] === "steps")) return problems;
  return [...problems, ...steps.flatMap((step, position) => stepProblems(step, ["steps", position]))].slice(0, 50);
}

function stepProblems(step: unknown, path: (string | number)[]): ValueProblem[] {
  if (step === null || typeof step !== "object" || Array.isArray(step))
    return [{ path, message: "A step is a map with an id, and with agent and input, with run, or with approval." }];
  return schemaProblems(schemaOf(step), step, path);
}

function schemaOf(step: object): TSchema {
  if ("approval" in step) return APPROVAL_STEP;
  if ("run" in step) return COMMAND_STEP;
  return "for_each" in step ? FOR_EACH_STEP : AGENT_STEP;
}

/**
 * The value with stand-ins for wrongly shaped parts, so that the rest can be checked in the same pass. Undefined when
 * the steps are not a list, or too many.
 */
export function mendDefinition(value: unknown, problems: readonly ValueProblem[]): PipelineDefinition | undefined {
  if (!isObject(value) || !Array.isArray(value["steps"])) return undefined;
  if (problems.some(({ path }) => path.join() === "steps")) return undefined;
  const wrong = new Set(problems.map(({ path }) => path.slice(0, path[0] === "steps" ? 3 : 2).join("/")));
  const steps = value["steps"].map((step: unknown, i) => mendedStep(step, i, (key) => wrong.has(`steps/${i}/${key}`)));
  const inputs = isObject(value["inputs"]) ? value["inputs"] : {};
  const sound = Object.entries(inputs).map(([name, input]) => [name, wrong.has(`inputs/${name}`) ? {} : input]);
  const { id, name } = value;
  return { id: textOr(id, "x"), name: textOr(name, "x"), inputs: Object.fromEntries(sound), steps };
}

const textOr = (value: unknown, other: string): string => (typeof value === "string" && value !== "" ? value : other);

function mendedStep(step: unknown, position: number, isWrong: (key: string) => boolean): PipelineStep {
  const given = isObject(step) ? step : {};
  const id = textOr(given["id"], `step ${position + 1}`);
  const sound = Object.fromEntries(Object.entries(given).filter(([key]) => !isWrong(key)));
  if ("approval" in given) return { approval: { message: "x" }, ...sound, id };
  if ("run" in given) return { run: "x", ...sound, id };
  // When the declared outputs cannot be read, the step may give any outputs.
  const schema = isWrong("outputs") || isWrong("output_schema") ? { output_schema: { type: "object" } } : {};
  const work = { agent: "x", input: "x", ...sound, ...schema, id };
  return "for_each" in given ? { for_each: [], ...work } : work;
}
