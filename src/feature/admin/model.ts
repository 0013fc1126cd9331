/** What administrators see of the running instance. */
import { type Static, Type as t } from "@sinclair/typebox";
import { ImageName } from "../../core/image-name.ts";
import { orNull } from "../../core/schema.ts";

const Time = t.String({ format: "date-time" });

export const Container = t.Object({
  id: t.String(),
  name: t.String(),
  image: t.String(),
  state: t.String({
    description:
      "State of a container (created, running, paused, restarting, removing, exited or dead) or of a Pod (pending, running, succeeded, failed or unknown).",
  }),
  status: t.String({
    description: "State in words, such as `Up 3 minutes`, `runs on the node a` or `no node: 0/3 nodes are available`.",
  }),
  agent_id: orNull(t.String()),
  session_id: orNull(t.String()),
  run_id: orNull(t.String()),
  created_at: Time,
  cpu_percent: orNull(
    t.Number({ description: "Processor use in percent of one processor, over the last quarter of a second." }),
  ),
  memory_bytes: orNull(t.Integer()),
  memory_limit_bytes: orNull(t.Integer()),
});
export type Container = Static<typeof Container>;

export const PullImage = t.Object({ image: ImageName });

const Counts = {
  requests: t.Integer(),
  errors: t.Integer({ description: "Number of answers with a status of 500 or above." }),
  refused: t.Integer({ description: "Number of answers with a status from 400 to 499." }),
  average_ms: t.Number(),
  max_ms: t.Number(),
};
export const ApiUsage = t.Object({
  from: t.String({ description: "First day of the report, in UTC." }),
  to: t.String({ description: "Last day of the report, in UTC." }),
  totals: t.Object(Counts),
  by_route: t.Array(t.Object({ method: t.String(), route: t.String(), ...Counts })),
  by_status: t.Array(t.Object({ status: t.Integer(), ...Counts })),
  by_user: t.Array(
    t.Object({
      user: t.String({ description: "Id of the user, or the kind of caller if the caller is not a user." }),
      ...Counts,
    }),
  ),
  by_day: t.Array(t.Object({ day: t.String(), ...Counts })),
});
export type ApiUsage = Static<typeof ApiUsage>;
