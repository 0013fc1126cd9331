/** Spawned work, as the API shows it: one piece of work that is handed to an agent. */
import { type Static, Type as t } from "@sinclair/typebox";
import { DAY_SECONDS } from "../../core/clock.ts";
import { LIMITS } from "../../core/limits.ts";
import { oneOf, orNull, Time } from "../../core/schema.ts";
import { CallsWithoutPrice } from "../usage/model.ts";

const Id = t.String({ maxLength: 64 });

export const SpawnRequest = t.Object({
  agent_id: Id,
  prompt: t.String({ minLength: 1, maxLength: LIMITS.textCharacters }),
  project_id: t.Optional(orNull(Id)),
  task_id: t.Optional(orNull(Id)),
  branch: t.Optional(
    orNull(
      t.String({
        maxLength: LIMITS.nameCharacters,
        description: "Always refused, because work with a project gets its own branch.",
      }),
    ),
  ),
  model: t.Optional(orNull(t.String({ minLength: 3, maxLength: LIMITS.nameCharacters }))),
  timeout_seconds: t.Optional(t.Integer({ minimum: 1, maximum: DAY_SECONDS })),
  budget_usd: t.Optional(orNull(t.Number({ minimum: 0, maximum: 1_000_000 }))),
});
export type SpawnRequest = Static<typeof SpawnRequest>;

/** Work that an agent hands on to another agent. */
export const HandedOn = t.Object({
  agent_id: t.String({ minLength: 1, maxLength: 64, description: "Id of the agent." }),
  prompt: t.String({ minLength: 1, maxLength: LIMITS.textCharacters, pattern: "\\S" }),
  timeout_seconds: t.Optional(t.Integer({ minimum: 1, maximum: DAY_SECONDS })),
  budget_usd: t.Optional(t.Number({ minimum: 0, maximum: 1_000_000, description: "Set aside from your own budget." })),
});
export type HandedOn = Static<typeof HandedOn>;

const SpawnStatus = oneOf("queued", "running", "succeeded", "failed", "cancelled");

export const SpawnedExecution = t.Object({
  id: t.String(),
  agent_id: t.String(),
  status: SpawnStatus,
  prompt: t.String(),
  output: orNull(t.String({ description: "Last words of the agent." })),
  outputs: t.Record(t.String(), t.Unknown()),
  error: orNull(t.Object({ code: t.String(), message: t.String() })),
  session_id: t.String(),
  project_id: orNull(t.String()),
  task_id: orNull(t.String()),
  model: orNull(t.String()),
  cost_usd: t.Number(),
  calls_without_price: CallsWithoutPrice,
  tokens: t.Integer(),
  created_at: Time,
  started_at: orNull(Time),
  finished_at: orNull(Time),
});
export type SpawnedExecution = Static<typeof SpawnedExecution>;
