/** Events of swarms' tasks. */
import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../../core/events.ts";
import { ENDS } from "../../core/run-states.ts";
import { oneOf } from "../../core/schema.ts";

const task = { key: t.String({ description: "Key of the task within its swarm." }), title: t.String() };

export const swarmTaskStarted = defineEvent(
  "swarm_task_started",
  t.Object(task, { description: "A task of a swarm began." }),
  { stale: ["/v1/swarm"] },
);
export const swarmTaskComplete = defineEvent(
  "swarm_task_complete",
  t.Object(task, { description: "A task of a swarm succeeded." }),
  { stale: ["/v1/swarm"] },
);
export const swarmTaskFailed = defineEvent(
  "swarm_task_failed",
  t.Object(
    { ...task, status: oneOf("failed", "skipped", "cancelled"), error: t.Optional(t.String()) },
    { description: "A task of a swarm failed, was skipped or cancelled." },
  ),
  { stale: ["/v1/swarm"] },
);
export const swarmComplete = defineEvent(
  "swarm_complete",
  t.Object({ status: oneOf(...ENDS), counts: t.Record(t.String(), t.Integer()) }, { description: "A swarm ended." }),
  { stale: ["/v1/swarm"] },
);

export const swarmEvents = [swarmTaskStarted, swarmTaskComplete, swarmTaskFailed, swarmComplete] as const;
