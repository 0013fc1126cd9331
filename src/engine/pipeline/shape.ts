/** Whether a value has the shape of a pipeline; problems are those of the kind of step that was meant. */

import { type TSchema, Type } from "@sinclair/typebox";
import { isObject } from "../../core/is-object.ts";
import { schemaProblems, type ValueProblem } from "../schema-problems.ts";
import { AGENT_STEP, APPROVAL_STEP, COMMAND_STEP, FOR_EACH_STEP, PIPELINE } from "./definition.ts";

/** The pipeline without a look into its steps: those are measured one by one. */
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
