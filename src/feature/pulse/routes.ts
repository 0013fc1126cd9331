/** `/v1/pulse-routines`: routines, which the API calls pulses. */

import { Type as t } from "@sinclair/typebox";
import { listOf, PageQuery, pageOf, pagesOf } from "../../http/list.ts";
import { operation, operations } from "../../http/operation.ts";
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
const Moment = t.Optional(t.String({ maxLength: 40, description: "RFC 3339, or a day." }));

export function pulseRoutes(pulses: Pulses) {
  return operations("routines", [
    ...tickRoutes(pulses),
    operation("previewPulseRoutine", "POST /v1/pulse-routines/:agent_id/preview", {
      access: "user",
      params: AgentPath,
      body: SchedulePreviewBody,
      answer: SchedulePreview,
      summary: "When a routine with that schedule would be due; nothing is saved",
      handler: ({ params, body }) => pulses.preview(params.agent_id, body),
    }),
    operation("listAllPulseRoutines", "GET /v1/pulse-routines", {
      access: "user",
      query: t.Object({ ...PageQuery, agent_id: t.Optional(AgentId) }),
      answer: listOf(PulseRoutine),
      summary: "Your routines, of every agent",
      handler: ({ query, caller }) => pulses.list(query.agent_id, pageOf(query), caller),
    }),
    operation("listPulseRoutines", "GET /v1/pulse-routines/:agent_id", {
      access: "user",
      params: AgentPath,
      ...pagesOf(PulseRoutine),
      summary: "Your routines of an agent",
      handler: ({ params, query, caller }) => pulses.list(params.agent_id, pageOf(query), caller),
    }),
    operation("createPulseRoutine", "POST /v1/pulse-routines/:agent_id", {
      access: "user",
      params: AgentPath,
      body: RoutineCreate,
      answer: { 201: PulseRoutine },
      summary: "Have an agent do something at set times",
      handler: ({ params, body, caller, answer }) =>
        answer.created("/v1/pulse-routines/:agent_id/:id", () => pulses.create(params.agent_id, body, caller)),
    }),
    operation("listPulseRoutineTimeline", "GET /v1/pulse-routines/:agent_id/timeline", {
      access: "user",
      params: AgentPath,
      query: t.Object({ ...PageQuery, from: Moment, to: Moment }),
      answer: listOf(TimelineTick),
      summary: "When your routines of an agent were and will be due, oldest first",
      handler: ({ params, query, caller }) => pulses.timeline(params.agent_id, query, pageOf(query), caller),
    }),
    operation("getPulseRoutine", "GET /v1/pulse-routines/:agent_id/:id", {
      access: "user",
      params: RoutinePath,
      answer: PulseRoutine,
      summary: "One routine",
      handler: ({ params, caller }) => pulses.get(params.agent_id, params.id, caller),
    }),
    operation("updatePulseRoutine", "PUT /v1/pulse-routines/:agent_id/:id", {
      access: "user",
      params: RoutinePath,
      body: RoutineUpdate,
      answer: PulseRoutine,
      summary: "Change a routine; fields that are left out stay",
      handler: ({ params, body, caller }) => pulses.update(params.agent_id, params.id, body, caller),
    }),
    operation("deletePulseRoutine", "DELETE /v1/pulse-routines/:agent_id/:id", {
      access: "user",
      project: "viewer",
      params: RoutinePath,
      answer: 204,
      summary: "Delete a routine and end its work",
      handler: ({ params, caller }) => pulses.remove(params.agent_id, params.id, caller),
    }),
  ]);
}

/** Operations on a routine's ticks: start one by hand, list them, end one. */
function tickRoutes(pulses: Pulses) {
  return operations("routines", [
    operation("triggerPulseRoutine", "POST /v1/pulse-routines/:agent_id/:id/trigger", {
      access: "user",
      params: RoutinePath,
      answer: { 202: PulseTick },
      summary: "Have a routine run now",
      handler: ({ params, caller, answer }) =>
        answer.accepted("/v1/pulse-routines/:agent_id/:routine_id/ticks/:id", () =>
          pulses.trigger(params.agent_id, params.id, caller),
        ),
    }),
    operation("listPulseRoutineTicks", "GET /v1/pulse-routines/:agent_id/:id/ticks", {
      access: "user",
      params: RoutinePath,
      ...pagesOf(PulseTick),
      summary: "The result of each time at which a routine was due, newest first",
      handler: ({ params, query, caller }) => pulses.ticks(params.agent_id, params.id, pageOf(query), caller),
    }),
    operation("getPulseRoutineTick", "GET /v1/pulse-routines/:agent_id/:id/ticks/:tick_id", {
      access: "user",
      params: TickPath,
      answer: PulseTick,
      summary: "The result of one of them",
      handler: ({ params, caller }) => pulses.tick(params.agent_id, params.id, params.tick_id, caller),
    }),
    operation("cancelPulseRoutineTick", "POST /v1/pulse-routines/:agent_id/:id/ticks/:tick_id/cancel", {
      access: "user",
      project: "viewer",
      params: TickPath,
      answer: PulseTick,
      summary: "End the work of one of them",
      handler: ({ params, caller }) => pulses.cancel(params.agent_id, params.id, params.tick_id, caller),
    }),
  ]);
}
