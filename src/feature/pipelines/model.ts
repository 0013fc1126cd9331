/** Pipelines as the API shows them. The format itself belongs to the engine. */
import { type Static, Type as t } from "@sinclair/typebox";
import { LIMITS } from "../../core/limits.ts";
import { orNull, Time } from "../../core/schema.ts";
import { DEFAULTS, INPUTS, STEP } from "../../engine/pipeline/definition.ts";
import { FileProblem } from "../skills/model.ts";

const Loose = t.Record(t.String(), t.Unknown());

export const Pipeline = t.Object({
  id: t.String(),
  name: t.String(),
  description: t.String(),
  version: t.Integer(),
  steps: t.Array(STEP),
  agents: t.Array(t.String(), { description: "Ids of all agents that the pipeline refers to." }),
  inputs: INPUTS,
  defaults: DEFAULTS,
  source_file: t.String({ description: "Path of the file below the folder of agents." }),
  valid: t.Boolean(),
  problems: t.Array(FileProblem),
  updated_at: Time,
});
export type Pipeline = Static<typeof Pipeline>;

export const PipelineDetail = t.Object({
  ...Pipeline.properties,
  source: t.String({ description: "Text of the pipeline's file." }),
});
export type PipelineDetail = Static<typeof PipelineDetail>;

/** Either the file's whole text, or the definition's fields. */
export const PipelineBody = t.Object({
  source: t.Optional(
    t.String({
      minLength: 1,
      maxLength: LIMITS.textCharacters,
      description: "Whole text of the pipeline's YAML file.",
    }),
  ),
  id: t.Optional(t.String({ maxLength: 64 })),
  name: t.Optional(t.String({ maxLength: LIMITS.nameCharacters })),
  description: t.Optional(orNull(t.String())),
  version: t.Optional(orNull(t.Integer())),
  defaults: t.Optional(orNull(Loose)),
  inputs: t.Optional(orNull(Loose)),
  steps: t.Optional(t.Array(Loose, { description: "Steps as in the pipeline's file; see /v1/pipelines/schema.json." })),
});
export type PipelineBody = Static<typeof PipelineBody>;

export const Validation = t.Object({ valid: t.Boolean(), problems: t.Array(FileProblem) });
export type Validation = Static<typeof Validation>;
