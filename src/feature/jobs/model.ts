/** Background jobs: what takes longer than a request, and can be asked about. */
import { type Static, type TSchema, Type as t } from "@sinclair/typebox";

const orNull = <T extends TSchema>(schema: T) => t.Union([schema, t.Null()]);

export const Job = t.Object({
  id: t.String(),
  kind: t.String({ description: "e.g. `pull_image`" }),
  state: t.Union([
    t.Literal("queued"),
    t.Literal("running"),
    t.Literal("succeeded"),
    t.Literal("failed"),
    t.Literal("cancelled"),
  ]),
  percent: orNull(t.Number({ minimum: 0, maximum: 100, description: "Null while it cannot be told." })),
  detail: orNull(t.String({ description: "What is done now." })),
  subject: orNull(t.String({ description: "What it works on." })),
  result: orNull(t.Record(t.String(), t.Unknown())),
  error: orNull(t.Object({ code: t.String(), message: t.String() })),
  created_at: t.String({ format: "date-time" }),
  updated_at: t.String({ format: "date-time" }),
  finished_at: orNull(t.String({ format: "date-time" })),
});
export type Job = Static<typeof Job>;
export type JobState = Job["state"];
