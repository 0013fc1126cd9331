/** /v1/pulse-routines. */
import { Type as t } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Base } from "../../http/base.ts";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import {
  PulseRoutine,
  PulseTick,
  RoutineCreate,
  RoutineUpdate,
  SchedulePreview,
  SchedulePreviewBody,
  TimelineTick,
} from "./model.ts";
import type { Pulses } from "./service.ts";

const tags = ["routines"];
const AgentId = t.String({ maxLength: 64 });
const AgentPath = t.Object({ agent_id: AgentId });
const RoutinePath = t.Object({ agent_id: AgentId, id: t.String() });
const TickPath = t.Object({ agent_id: AgentId, id: t.String(), tick_id: t.String() });
const Moment = t.Optional(t.String({ maxLength: 40, description: "RFC 3339, or a day." }));

export function pulseRoutes(base: Base, pulses: Pulses) {
  return new Elysia({ name: "skep/pulse-routines" })
    .use(base)
    .use(tickRoutes(base, pulses))
    .post("/v1/pulse-routines/:agent_id/preview", ({ params, body }) => pulses.preview(params.agent_id, body), {
      access: "user",
      params: AgentPath,
      body: SchedulePreviewBody,
      response: { 200: SchedulePreview },
      detail: { tags, summary: "When a routine with that schedule would be due; nothing is saved" },
    })
    .get("/v1/pulse-routines", ({ query, caller }) => pulses.list(query.agent_id, pageOf(query), caller), {
      access: "user",
      query: t.Object({ ...PageQuery, agent_id: t.Optional(AgentId) }),
      response: { 200: listOf(PulseRoutine) },
      detail: { tags, summary: "Your routines, of every agent", operationId: "listAllPulseRoutines" },
    })
    .get(
      "/v1/pulse-routines/:agent_id",
      ({ params, query, caller }) => pulses.list(params.agent_id, pageOf(query), caller),
      {
        access: "user",
        params: AgentPath,
        query: t.Object(PageQuery),
        response: { 200: listOf(PulseRoutine) },
        detail: { tags, summary: "Your routines of an agent" },
      },
    )
    .post(
      "/v1/pulse-routines/:agent_id",
      ({ params, body, caller, answer }) =>
        answer.created(
          ({ agent_id, id }) => `/v1/pulse-routines/${agent_id}/${id}`,
          () => pulses.create(params.agent_id, body, caller),
        ),
      {
        access: "user",
        params: AgentPath,
        body: RoutineCreate,
        response: { 201: PulseRoutine },
        detail: { tags, summary: "Have an agent do something at set times" },
      },
    )
    .get(
      "/v1/pulse-routines/:agent_id/timeline",
      ({ params, query, caller }) => pulses.timeline(params.agent_id, query, pageOf(query), caller),
      {
        access: "user",
        params: AgentPath,
        query: t.Object({ ...PageQuery, from: Moment, to: Moment }),
        response: { 200: listOf(TimelineTick) },
        detail: { tags, summary: "When your routines of an agent were and will be due, oldest first" },
      },
    )
    .get("/v1/pulse-routines/:agent_id/:id", ({ params, caller }) => pulses.get(params.agent_id, params.id, caller), {
      access: "user",
      params: RoutinePath,
      response: { 200: PulseRoutine },
      detail: { tags, summary: "One routine" },
    })
    .put(
      "/v1/pulse-routines/:agent_id/:id",
      ({ params, body, caller }) => pulses.update(params.agent_id, params.id, body, caller),
      {
        access: "user",
        params: RoutinePath,
        body: RoutineUpdate,
        response: { 200: PulseRoutine },
        detail: { tags, summary: "Change a routine; fields that are left out stay" },
      },
    )
    .delete(
      "/v1/pulse-routines/:agent_id/:id",
      ({ params, caller, set }) => {
        pulses.remove(params.agent_id, params.id, caller);
        set.status = 204;
      },
      {
        access: "user",
        params: RoutinePath,
        response: { 204: t.Void() },
        detail: { tags, summary: "Delete a routine and end its work" },
      },
    );
}

/** A routine's ticks: started by hand, listed, ended. */
function tickRoutes(base: Base, pulses: Pulses) {
  return new Elysia({ name: "skep/pulse-ticks" })
    .use(base)
    .post(
      "/v1/pulse-routines/:agent_id/:id/trigger",
      ({ params, caller, answer }) =>
        answer.accepted(
          (tick) => `/v1/pulse-routines/${tick.agent_id}/${tick.routine_id}/ticks/${tick.id}`,
          () => pulses.trigger(params.agent_id, params.id, caller),
        ),
      {
        access: "user",
        params: RoutinePath,
        response: { 202: PulseTick },
        detail: { tags, summary: "Have a routine run now" },
      },
    )
    .get(
      "/v1/pulse-routines/:agent_id/:id/ticks",
      ({ params, query, caller }) => pulses.ticks(params.agent_id, params.id, pageOf(query), caller),
      {
        access: "user",
        params: RoutinePath,
        query: t.Object(PageQuery),
        response: { 200: listOf(PulseTick) },
        detail: { tags, summary: "The result of each time at which a routine was due, newest first" },
      },
    )
    .get(
      "/v1/pulse-routines/:agent_id/:id/ticks/:tick_id",
      ({ params, caller }) => pulses.tick(params.agent_id, params.id, params.tick_id, caller),
      {
        access: "user",
        params: TickPath,
        response: { 200: PulseTick },
        detail: { tags, summary: "The result of one of them" },
      },
    )
    .post(
      "/v1/pulse-routines/:agent_id/:id/ticks/:tick_id/cancel",
      ({ params, caller }) => pulses.cancel(params.agent_id, params.id, params.tick_id, caller),
      {
        access: "user",
        params: TickPath,
        response: { 200: PulseTick },
        detail: { tags, summary: "End the work of one of them" },
      },
    );
}
