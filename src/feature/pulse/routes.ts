/** `/v1/pulse-routines`: routines, which the API calls pulses. */

import { Type as t } from "@sinclair/typebox";
import { listOf, PageQuery, pageOf, pagesOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
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

const AgentId = t.String({ maxLength: 64 });
const AgentPath = t.Object({ agent_id: AgentId });
const RoutinePath = t.Object({ agent_id: AgentId, id: t.String() });
const TickPath = t.Object({ agent_id: AgentId, id: t.String(), tick_id: t.String() });
const Moment = t.Optional(t.String({ maxLength: 40, description: "A time in RFC 3339, or a day." }));

export function pulseRoutes(pulses: Pulses) {
  return tagOperations("routines", [
    ...tickRoutes(pulses),
    defineOperation("previewPulseRoutine", "POST /v1/pulse-routines/:agent_id/preview", {
      access: "user",
      params: AgentPath,
      body: SchedulePreviewBody,
      answer: SchedulePreview,
      summary: "Preview the times of a schedule without saving it",
      handler: ({ params, body }) => pulses.preview(params.agent_id, body),
    }),
    defineOperation("listAllPulseRoutines", "GET /v1/pulse-routines", {
      access: "user",
      query: t.Object({ ...PageQuery, agent_id: t.Optional(AgentId) }),
      answer: listOf(PulseRoutine),
      summary: "List your routines of every agent",
      handler: ({ query, caller }) => pulses.list(query.agent_id, pageOf(query), caller),
    }),
    defineOperation("listPulseRoutines", "GET /v1/pulse-routines/:agent_id", {
      access: "user",
      params: AgentPath,
      ...pagesOf(PulseRoutine),
      summary: "List your routines of an agent",
      handler: ({ params, query, caller }) => pulses.list(params.agent_id, pageOf(query), caller),
    }),
    defineOperation("createPulseRoutine", "POST /v1/pulse-routines/:agent_id", {
      access: "user",
      params: AgentPath,
      body: RoutineCreate,
      answer: { 201: PulseRoutine },
      summary: "Create a routine: work that an agent does at set times",
      handler: ({ params, body, caller, answer }) =>
        answer.created("/v1/pulse-routines/:agent_id/:id", () => pulses.create(params.agent_id, body, caller)),
    }),
    defineOperation("listPulseRoutineTimeline", "GET /v1/pulse-routines/:agent_id/timeline", {
      access: "user",
      params: AgentPath,
      query: t.Object({ ...PageQuery, from: Moment, to: Moment }),
      answer: listOf(TimelineTick),
      summary: "List past and future times of your routines of an agent, oldest first",
      handler: ({ params, query, caller }) => pulses.timeline(params.agent_id, query, pageOf(query), caller),
    }),
    defineOperation("getPulseRoutine", "GET /v1/pulse-routines/:agent_id/:id", {
      access: "user",
      params: RoutinePath,
      answer: PulseRoutine,
      summary: "Get a routine",
      handler: ({ params, caller }) => pulses.get(params.agent_id, params.id, caller),
    }),
    defineOperation("updatePulseRoutine", "PUT /v1/pulse-routines/:agent_id/:id", {
      access: "user",
      params: RoutinePath,
      body: RoutineUpdate,
      answer: PulseRoutine,
      summary: "Change a routine",
      handler: ({ params, body, caller }) => pulses.update(params.agent_id, params.id, body, caller),
    }),
    defineOperation("deletePulseRoutine", "DELETE /v1/pulse-routines/:agent_id/:id", {
      access: "user",
      project: "viewer",
      params: RoutinePath,
      answer: 204,
      summary: "Delete a routine and stop its work",
      handler: ({ params, caller }) => pulses.remove(params.agent_id, params.id, caller),
    }),
  ]);
}

/** Operations on a routine's ticks: start one by hand, list them, end one. */
function tickRoutes(pulses: Pulses) {
  return tagOperations("routines", [
    defineOperation("triggerPulseRoutine", "POST /v1/pulse-routines/:agent_id/:id/trigger", {
      access: "user",
      params: RoutinePath,
      answer: { 202: PulseTick },
      summary: "Run a routine now",
      handler: ({ params, caller, answer }) =>
        answer.accepted("/v1/pulse-routines/:agent_id/:routine_id/ticks/:id", () =>
          pulses.trigger(params.agent_id, params.id, caller),
        ),
    }),
    defineOperation("listPulseRoutineTicks", "GET /v1/pulse-routines/:agent_id/:id/ticks", {
      access: "user",
      params: RoutinePath,
      ...pagesOf(PulseTick),
      summary: "List a routine's ticks with their results, newest first",
      handler: ({ params, query, caller }) => pulses.ticks(params.agent_id, params.id, pageOf(query), caller),
    }),
    defineOperation("getPulseRoutineTick", "GET /v1/pulse-routines/:agent_id/:id/ticks/:tick_id", {
      access: "user",
      params: TickPath,
      answer: PulseTick,
      summary: "Get a tick of a routine with its result",
      handler: ({ params, caller }) => pulses.tick(params.agent_id, params.id, params.tick_id, caller),
    }),
    defineOperation("cancelPulseRoutineTick", "POST /v1/pulse-routines/:agent_id/:id/ticks/:tick_id/cancel", {
      access: "user",
      project: "viewer",
      params: TickPath,
      answer: PulseTick,
      summary: "Stop the work of a routine's tick",
      handler: ({ params, caller }) => pulses.cancel(params.agent_id, params.id, params.tick_id, caller),
    }),
  ]);
}
