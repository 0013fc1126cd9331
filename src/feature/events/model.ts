/** Events of the log, as they leave the server. */

import { type Static, Type as t } from "@sinclair/typebox";
import type { SkepEvent } from "../../core/events.ts";
import { Time } from "../../core/schema.ts";
import { listOf } from "../../http/list.ts";
import { queryInteger } from "../../http/schema.ts";

const Id = t.Optional(t.String());
export const LoggedEvent = t.Object(
  {
    id: t.Integer({ description: "Position of the event in the log, which always increases." }),
    kind: t.String(),
    at: Time,
    run_id: Id,
    step_id: Id,
    session_id: Id,
    agent_id: Id,
    swarm_id: Id,
    project_id: Id,
    data: t.Record(t.String(), t.Unknown(), { description: "Data of the event, by the schema of its kind." }),
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
  kinds: t.Optional(t.String({ maxLength: 2_000, description: "Kinds of events, separated by commas." })),
};

export const StreamQuery = t.Object({
  ...FilterQuery,
  after: t.Optional(
    queryInteger({
      minimum: 0,
      description: "Id of the event after which the stream begins, like `Last-Event-ID` but for the first request.",
    }),
  ),
  focus: t.Optional(
    t.String({
      maxLength: 1_000,
      description:
        "Ids of runs and sessions to receive in full, separated by commas; may be empty. Of all others, the kinds `agent_output`, `agent_thinking`, `output_withdrawn`, `tool_call_start`, `tool_call_end` and `llm_call` are left out.",
    }),
  ),
  ticket: t.Optional(t.String({ maxLength: 100 })),
});
export type StreamQuery = Static<typeof StreamQuery>;

/** Removes the owner, which is only used to decide who may read the event. */
export const presentEvent = ({ user_id: _, ...event }: SkepEvent): LoggedEvent => event;
