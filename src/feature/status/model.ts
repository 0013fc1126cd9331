/** The answer of `/v1/status`. A caller without a credential gets only the first four fields. */

import { type Static, Type as t } from "@sinclair/typebox";
import { oneOf, orNull } from "../../core/schema.ts";

export const Status = t.Object({
  status: oneOf("ok", "degraded"),
  version: t.String(),
  setup_required: t.Boolean({ description: "Whether credentials are required and there is no administrator yet." }),
  broker: t.Object({
    kind: t.Literal("in-process"),
    connected: t.Boolean(),
    subscribers: t.Integer(),
    last_event_id: t.Integer(),
    dropped: t.Integer(),
  }),
  uptime_ms: t.Integer(),
  database: t.Object({ connected: t.Boolean() }),
  docker: t.Object({ connected: t.Boolean(), version: t.Optional(t.String()) }),
  sandbox: t.Object({
    kind: t.String({ description: "Kind of sandbox: `docker`, `process` or another." }),
    shell: t.Boolean(),
    reason: t.String({
      description: "Why agents work in this kind of sandbox and, if something is missing, how to change it.",
    }),
  }),
  start_failures: t.Array(t.Object({ feature: t.String(), when: oneOf("start", "resume") }), {
    description: "Parts of the server that could not start or resume their work. /v1/doctor says why.",
  }),
  standby: orNull(t.String({ format: "date-time" }), {
    description:
      "Time since when this instance stands by as a copy of another; null if it is active. See POST /v1/admin/activate.",
  }),
  counts: t.Record(t.String(), t.Integer(), {
    description: "Counts of agents, pipelines, projects, active_runs, active_sessions, runs_last_hour and more.",
  }),
});
export type Status = Static<typeof Status>;

export const StatusAnswer = t.Composite([
  t.Pick(Status, ["status", "version", "setup_required"]),
  t.Object({
    broker: t.Object({
      connected: t.Boolean(),
      kind: t.Optional(t.Literal("in-process")),
      subscribers: t.Optional(t.Integer()),
      last_event_id: t.Optional(t.Integer()),
      dropped: t.Optional(t.Integer()),
    }),
  }),
  t.Partial(t.Omit(Status, ["status", "version", "setup_required", "broker"])),
]);
