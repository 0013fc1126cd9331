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
      "Of a container: created, running, paused, restarting, removing, exited or dead. Of a Pod: pending, running, succeeded, failed or unknown.",
  }),
  status: t.String({ description: "For people: Up 3 minutes, runs on the node a, no node: 0/3 nodes are available" }),
  agent_id: orNull(t.String()),
  session_id: orNull(t.String()),
  run_id: orNull(t.String()),
  created_at: Time,
  cpu_percent: orNull(t.Number({ description: "Of one processor, over the last quarter of a second." })),
  memory_bytes: orNull(t.Integer()),
  memory_limit_bytes: orNull(t.Integer()),
});
export type Container = Static<typeof Container>;

export const PullImage = t.Object({ image: ImageName });

const Counts = {
  requests: t.Integer(),
  errors: t.Integer({ description: "Answers of 500 and above." }),
  refused: t.Integer({ description: "Answers from 400 to 499." }),
  average_ms: t.Number(),
  max_ms: t.Number(),
};
export const ApiUsage = t.Object({
  from: t.String({ description: "First day, UTC." }),
  to: t.String({ description: "Last day, UTC." }),
  totals: t.Object(Counts),
  by_route: t.Array(t.Object({ method: t.String(), route: t.String(), ...Counts })),
  by_status: t.Array(t.Object({ status: t.Integer(), ...Counts })),
  by_user: t.Array(t.Object({ user: t.String({ description: "User id, else the kind of caller." }), ...Counts })),
  by_day: t.Array(t.Object({ day: t.String(), ...Counts })),
});
export type ApiUsage = Static<typeof ApiUsage>;
