/** A host: one of several container engines on which agents work. */
import { type Static, Type as t } from "@sinclair/typebox";
import { oneOf, orNull, Time } from "../../core/schema.ts";

export const Host = t.Object(
  {
    name: t.String(),
    address: t.String({ description: "Address as in `DOCKER_HOSTS`, without the password." }),
    state: oneOf("ready", "away", "draining", "drained"),
    labels: t.Array(t.String(), {
      description: "Labels that agents and projects can ask for, besides the host's name.",
    }),
    slots: t.Integer({ description: "Maximum number of sandboxes at the same time." }),
    used: t.Integer({
      description: "Number of sandboxes now, including those of chats that wait for their next turn.",
    }),
    error: orNull(t.String({ description: "Why the host does not answer." })),
    drained_at: orNull(Time),
  },
  {
    title: "Host",
    description:
      "A container engine. `ready`: gets work. `away`: does not answer, and gets work again once it does. `draining`: gets no new work, and still has some. `drained`: has no work left.",
  },
);
export type Host = Static<typeof Host>;
