/**
 * The text of a pipeline file → its definition, or every problem in it with line and column. Never throws, and takes
 * bounded time for any text.
 */
import { placeProblems } from "../schema-problems.ts";
import { readYaml, type SourceProblem, YAML_LIMITS } from "../yaml-text.ts";
import type { PipelineDefinition } from "./definition.ts";
import { type KnownNames, meaningProblems } from "./meaning.ts";
import { shapeProblems } from "./shape.ts";

export interface ParsedPipeline {
  /** Absent when there is any problem. */
  definition?: PipelineDefinition;
  problems: SourceProblem[];
}

/** Parses and checks a pipeline. `known` adds the checks that the text alone does not allow. */
export function parsePipeline(text: string, known: KnownNames = {}): ParsedPipeline {
  const yaml = readYaml(text);
  if (yaml.problems.length > 0) return { problems: yaml.problems };
  const wrongShape = shapeProblems(yaml.value);
  if (wrongShape.length > 0) return { problems: placeProblems(wrongShape, yaml) };
  const definition = yaml.value as PipelineDefinition;
  const problems = placeProblems(meaningProblems(definition, known).slice(0, YAML_LIMITS.problems), yaml);
  return problems.length > 0 ? { problems } : { definition, problems };
}
