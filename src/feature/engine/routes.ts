/** /v1/settings/models/try: finds out by real calls what a model can do. */
import { Type as t } from "@sinclair/typebox";
import { LIMITS } from "../../core/limits.ts";
import { orNull, Time } from "../../core/schema.ts";
import { operation, operations } from "../../http/operation.ts";
import { Job } from "../jobs/model.ts";
import type { ModelTrials } from "./model-trial.ts";

const Model = t.String({ minLength: 3, maxLength: LIMITS.nameCharacters, description: "provider/model" });
const Found = (description: string) =>
  t.Object(
    { ok: orNull(t.Boolean()), detail: orNull(t.String()) },
    { description: `${description} \`ok\` null: not tried.` },
  );

const ModelTrial = t.Object({
  model: t.String(),
  tried_at: Time,
  context_window: orNull(t.Integer({ description: "Tokens that are served; null: not known." })),
  answers: Found("It answers."),
  streams: t.Boolean({ description: "Its words come piece by piece." }),
  tools: Found("It calls a tool."),
  images: Found("It sees a picture."),
  needle: Found("It finds a word at the far end of a prompt of nine tenths of its window."),
  reasoning: t.Boolean({ description: "It thought before an answer." }),
  calls: t.Integer(),
  cost_usd: orNull(t.Number({ description: "Of all calls; null: its price is unknown." })),
  duration_ms: t.Integer(),
  time_to_first_token_ms: orNull(t.Integer()),
});

export const modelTrialRoutes = (trials: ModelTrials) =>
  operations("providers", [
    operation("tryModel", "POST /v1/settings/models/try", {
      access: "admin",
      body: t.Object({
        model: Model,
        needle: t.Optional(t.Boolean({ description: "Also fill its window. That takes long, and costs as much." })),
      }),
      answer: { 202: Job },
      summary: "Try what a model can, with three or four real calls, as a job",
      description: "A trial of the model that is under way is joined. What it found is kept: getModelTrial.",
      handler: ({ body, caller, answer }) =>
        answer.accepted("/v1/jobs/:id", () => trials.start(body.model, body.needle === true, caller)),
    }),
    operation("getModelTrial", "GET /v1/settings/models/trial", {
      access: "admin",
      query: t.Object({ model: Model }),
      answer: t.Object({
        trial: orNull(ModelTrial),
        job_id: orNull(t.String({ description: "The job of a trial that is under way." })),
      }),
      summary: "What the last trial of a model found; null: it was never tried",
      handler: ({ query }) => trials.last(query.model),
    }),
  ]);
