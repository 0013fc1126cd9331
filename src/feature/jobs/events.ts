import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../../core/events.ts";
import { Job } from "./model.ts";

const { kind, state, percent, detail, subject, error } = Job.properties;

export const jobProgress = defineEvent(
  "job_progress",
  t.Object(
    {
      job_id: t.String(),
      kind,
      state,
      percent,
      detail,
      subject,
      error,
      progress: t.Optional(
        t.Record(t.String(), t.Unknown(), {
          description: "Further details that depend on the kind, such as the layers of an image.",
        }),
      ),
    },
    { description: "A background job started, made progress or ended." },
  ),
  { delivery: "lossy", stale: ["/v1/jobs"] },
);

export const jobEvents = [jobProgress] as const;
