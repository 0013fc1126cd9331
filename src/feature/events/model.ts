/** Events of the log, as they leave the server. */

import { type Static, Type as t } from "@sinclair/typebox";
import type { SkepEvent } from "../../core/events.ts";
import { Time } from "../../core/schema.ts";
import { listOf } from "../../http/list.ts";
import { queryInteger } from "../../http/schema.ts";

const Id = t.Optional(t.String());
export const LoggedEvent = t.Object(
  {
    id: t.Integer({ description: "Position in the log: strictly growing." }),
    kind: t.String(),
    at: Time,
    run_id: Id,
    step_id: Id,
    session_id: Id,
    agent_id: Id,
    swarm_id: Id,
    project_id: Id,
    data: t.Record(t.String(), t.Unknown(), { description: "By the schema of this kind of event." }),
  },
  { title: "LoggedEvent" },
);
export type LoggedEvent = Static<typeof LoggedEvent>;
export const LoggedEventList = listOf(LoggedEvent);

const RefQuery = t.Optional(t.String({ maxLength: 100 }));
/** Query parameters of both the list and the stream. */
export const FilterQuery = {
  run_id: RefQuery,
  session_id: RefQuery,
  agent_id: RefQuery,
  swarm_id: RefQuery,
  project_id: RefQuery,
  kinds: t.Optional(t.String({ maxLength: 2_000, description: "Kinds, separated by commas." })),
};

export const StreamQuery = t.Object({
  ...FilterQuery,
  after: t.Optional(queryInteger({ minimum: 0, description: "Like Last-Event-ID, for the first request." })),
  focus: t.Optional(
    t.String({
      maxLength: 1_000,
      description:
        "Ids of runs and sessions, separated by commas: theirs in full. Of all others what they say and do piece by piece is left out: `agent_output`, `agent_thinking`, `output_withdrawn`, `tool_call_start`, `tool_call_end`, `llm_call`. Empty: left out of all.",
    }),
  ),
  ticket: t.Optional(t.String({ maxLength: 100 })),
});
export type StreamQuery = Static<typeof StreamQuery>;

/** Removes the owner, which is only used to decide who may read the event. */
export const presentEvent = ({ user_id: _, ...event }: SkepEvent): LoggedEvent => event;
