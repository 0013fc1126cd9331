import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../../core/events.ts";
import { ENDS } from "../../core/run-states.ts";
import { oneOf, orNull } from "../../core/schema.ts";
import { IndexJob, Phase } from "./model.ts";

const { percent, phases, parsed, changed, error } = IndexJob.properties;
const job_id = t.String();

export const indexProgress = defineEvent(
  "index_progress",
  t.Object(
    { job_id, state: oneOf("running"), percent, phase: orNull(Phase.properties.name), phases },
    { description: "Progress of indexing a project's code graph." },
  ),
  { delivery: "lossy", stale: ["/v1/projects"] },
);
export const indexComplete = defineEvent(
  "index_complete",
  t.Object(
    {
      job_id,
      state: oneOf(...ENDS),
      error,
      parsed,
      changed,
      nodes: t.Optional(t.Integer()),
      relationships: t.Optional(t.Integer()),
      communities: t.Optional(t.Integer()),
      processes: t.Optional(t.Integer()),
    },
    { description: "An index job has ended; `state` says how." },
  ),
  { stale: ["/v1/projects"] },
);

export const knowledgeGraphEvents = [indexProgress, indexComplete] as const;
