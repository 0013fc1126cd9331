/**
 * Parses the text of a pipeline file into its definition, or into every problem in it with line and column. Never
 * throws. Its time is bounded for any text.
 */
import { placeProblems, type ValueProblem } from "../schema-problems.ts";
import { pointerOf, readYaml, type SourceProblem, YAML_LIMITS } from "../yaml-text.ts";
import type { PipelineDefinition } from "./definition.ts";
import { type KnownNames, meaningProblems } from "./meaning.ts";
import { mendDefinition, shapeProblems } from "./shape.ts";

export interface ParsedPipeline {
  /** Absent when there are any problems. */
  definition?: PipelineDefinition;
  problems: SourceProblem[];
}

/** Parses and checks a pipeline. `known` adds checks that the text alone does not allow. */
export function parsePipeline(text: string, known: KnownNames = {}): ParsedPipeline {
  const yaml = readYaml(text);
  if (yaml.value === undefined && yaml.problems.length > 0) return { problems: yaml.problems };
  const wrongShape = shapeProblems(yaml.value);
  const definition =
    wrongShape.length === 0 ? (yaml.value as PipelineDefinition) : mendDefinition(yaml.value, wrongShape);
  const meaning = definition ? meaningProblems(definition, known, wrongShape) : [];
  // Problems in the meaning of a wrongly shaped part are left out, because its stand-in causes problems of its own.
  const wrongParts = new Set(wrongShape.map(({ path }) => pointerOf(path)));
  const isOfWrongPart = ({ path }: ValueProblem) =>
    path.some((_, depth) => wrongParts.has(pointerOf(path.slice(0, depth + 1))));
  const ofValue = placeProblems([...wrongShape, ...meaning.filter((problem) => !isOfWrongPart(problem))], yaml);
  const lines = new Set(yaml.problems.map(({ line }) => line));
  const problems = [...yaml.problems, ...ofValue.filter(({ line }) => !lines.has(line))]
    .sort((a, b) => a.line - b.line || a.column - b.column)
    .slice(0, YAML_LIMITS.problems);
  return definition && problems.length === 0 ? { definition, problems } : { problems };
}
