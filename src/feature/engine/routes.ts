/** /v1/settings/models/try: finds out by real calls what a model can do. */
import { Type as t } from "@sinclair/typebox";
import { LIMITS } from "../../core/limits.ts";
import { orNull, Time } from "../../core/schema.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { Job } from "../jobs/model.ts";
import type { ModelTrials } from "./model-trial.ts";

const Model = t.String({ minLength: 3, maxLength: LIMITS.nameCharacters, description: "Model as `provider/model`." });
const Found = (description: string) =>
  t.Object(
    { ok: orNull(t.Boolean()), detail: orNull(t.String()) },
    { description: `${description} \`ok\` is \`null\` if this was not tried.` },
  );

const ModelTrial = t.Object({
  model: t.String(),
  tried_at: Time,
  context_window: orNull(t.Integer({ description: "Context window that is served, in tokens; `null` if unknown." })),
  answers: Found("Whether the model answers."),
  streams: t.Boolean({ description: "Whether the answer arrives piece by piece." }),
  tools: Found("Whether the model calls a tool."),
  images: Found("Whether the model sees a picture."),
  needle: Found(
    "Whether the model finds a word at the far end of a prompt that fills nine tenths of its context window.",
  ),
  reasoning: t.Boolean({ description: "Whether the model thought before it answered." }),
  calls: t.Integer(),
  cost_usd: orNull(t.Number({ description: "Cost of all calls; `null` if the price of the model is unknown." })),
  duration_ms: t.Integer(),
  time_to_first_token_ms: orNull(t.Integer()),
});

export const modelTrialRoutes = (trials: ModelTrials) =>
  tagOperations("providers", [
    defineOperation("tryModel", "POST /v1/settings/models/try", {
      access: "admin",
      body: t.Object({
        model: Model,
        needle: t.Optional(
          t.Boolean({
            description: "Whether to also fill the model's context window. This takes long and costs accordingly.",
          }),
        ),
      }),
      answer: { 202: Job },
      summary: "Test what a model can do, with three or four real calls, as a background job",
      description:
        "If a trial of the model is under way, its job is returned. The result is stored; read it with `getModelTrial`.",
      handler: ({ body, caller, answer }) =>
        answer.accepted("/v1/jobs/:id", () => trials.start(body.model, body.needle === true, caller)),
    }),
    defineOperation("getModelTrial", "GET /v1/settings/models/trial", {
      access: "admin",
      query: t.Object({ model: Model }),
      answer: t.Object({
        trial: orNull(ModelTrial),
        job_id: orNull(t.String({ description: "Job of the trial that is under way." })),
      }),
      summary: "Get the result of the last trial of a model; null if there was none",
      handler: ({ query }) => trials.last(query.model),
    }),
  ]);
