/** A host: one of several container engines on which agents work. */
import { type Static, Type as t } from "@sinclair/typebox";
import { oneOf, orNull, Time } from "../../core/schema.ts";

export const Host = t.Object(
  {
    name: t.String(),
    address: t.String({ description: "As in DOCKER_HOSTS, without a password." }),
    state: oneOf("ready", "away", "draining", "drained"),
    labels: t.Array(t.String(), { description: "What agents and projects ask for, besides its name." }),
    slots: t.Integer({ description: "Sandboxes that it may have at once." }),
    used: t.Integer({ description: "Sandboxes that it has; those of chats that wait for their next turn count." }),
    error: orNull(t.String({ description: "Why it does not answer." })),
    drained_at: orNull(Time),
  },
  {
    title: "Host",
    description:
      "`ready`: gets work. `away`: does not answer, and gets work once it does. `draining`: gets no new work, and has some. `drained`: has none any more.",
  },
);
export type Host = Static<typeof Host>;
