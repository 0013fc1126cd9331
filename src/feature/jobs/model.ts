/** Background jobs as the API shows them: work that takes longer than a request, with a status to ask for. */
import { type Static, Type as t } from "@sinclair/typebox";
import { JOB_STATES } from "../../core/jobs.ts";
import { oneOf, orNull, Time } from "../../core/schema.ts";

export const Job = t.Object({
  id: t.String(),
  kind: t.String({ description: "Kind of the job, such as `pull_image`." }),
  state: oneOf(...JOB_STATES),
  percent: orNull(
    t.Number({ minimum: 0, maximum: 100, description: "Progress in percent; `null` while it is unknown." }),
  ),
  detail: orNull(t.String({ description: "What the job is doing now." })),
  progress: orNull(
    t.Record(t.String(), t.Unknown(), {
      description: "Further details that depend on the kind, such as the layers of an image.",
    }),
  ),
  subject: orNull(t.String({ description: "What the job works on." })),
  project_id: orNull(t.String()),
  attempt: t.Integer({
    description: "Number of this attempt, from 1. It rises when the job failed or was interrupted and is tried again.",
  }),
  due_at: orNull(Time),
  result: orNull(t.Record(t.String(), t.Unknown())),
  error: orNull(t.Object({ code: t.String(), message: t.String() })),
  created_at: Time,
  updated_at: Time,
  finished_at: orNull(Time),
});
export type Job = Static<typeof Job>;
