/** /v1/onboarding/sessions. */
import { Type as t } from "@sinclair/typebox";
import { Elysia, t as elysia } from "elysia";
import type { SkepEvent } from "../../core/events.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Base } from "../../http/base.ts";
import type { Caller } from "../../http/caller.ts";
import type { EventStreams } from "../../http/event-stream.ts";
import { listOf, PageQuery, pageOf, queryInteger } from "../../http/list.ts";
import { stillHolds } from "../../http/standing.ts";
import {
  OnboardingCreate,
  OnboardingDetail,
  OnboardingSend,
  OnboardingSent,
  OnboardingSession,
  OnboardingStatus,
} from "./model.ts";
import type { Onboardings } from "./service.ts";

const tags = ["onboarding"];
const Path = t.Object({ id: t.String() });
const locationOf = ({ id }: { id: string }) => `/v1/onboarding/sessions/${id}`;

export interface OnboardingRoutesDeps {
  onboardings: Onboardings;
  streams: EventStreams;
  /** Id of the newest event. */
  lastEvent(): number;
}

export function onboardingRoutes(base: Base, { onboardings, streams, lastEvent }: OnboardingRoutesDeps) {
  /** Events of the session until it is the person's turn again: the next interviewer may speak before that. */
  const turnStream = (session_id: string, messageId: string, after: number, caller: Caller): Response => {
    let answered = false;
    return streams.open({
      ...{ filter: { session_id }, after, mayRead: () => true, stillValid: () => stillHolds(caller) },
      isLast({ kind, data }: SkepEvent) {
        answered ||= kind === "turn_ended" && data["message_id"] === messageId;
        return kind === "session_ended" || (answered && kind === "turn_ended" && !onboardings.isBusy(session_id));
      },
    });
  };
  return new Elysia({ name: "skep/onboarding" })
    .use(base)
    .get("/v1/onboarding/sessions", ({ query, caller }) => onboardings.list(query.status, pageOf(query), caller), {
      access: "user",
      query: t.Object({ ...PageQuery, status: t.Optional(OnboardingStatus) }),
      response: { 200: listOf(OnboardingSession) },
      detail: { tags, summary: "Your onboarding sessions, newest first" },
    })
    .post(
      "/v1/onboarding/sessions",
      ({ body, caller, answer }) => answer.created(locationOf, () => onboardings.create(body, caller)),
      {
        access: "user",
        body: OnboardingCreate,
        response: { 201: OnboardingSession },
        detail: { tags, summary: "Start an onboarding, which ends in a new project" },
      },
    )
    .get(
      "/v1/onboarding/sessions/:id",
      ({ params, query, caller }) =>
        onboardings.detail(
          params.id,
          { limit: Math.min(query.limit ?? 100, LIMITS.listMax), before: query.before },
          caller,
        ),
      {
        access: "user",
        params: Path,
        query: t.Object({
          limit: t.Optional(queryInteger({ minimum: 1, description: "Messages; default 100, at most 200." })),
          before: t.Optional(queryInteger({ minimum: 0, description: "`seq` of the message before which they end." })),
        }),
        response: { 200: OnboardingDetail },
        detail: { tags, summary: "An onboarding session with what it knows and its newest messages" },
      },
    )
    .delete(
      "/v1/onboarding/sessions/:id",
      ({ params, query, caller, set }) => {
        onboardings.abandon(params.id, query.purge ?? false, caller);
        set.status = 204;
      },
      {
        access: "user",
        params: Path,
        query: t.Object({ purge: t.Optional(elysia.BooleanString({ description: "Removes what was said as well." })) }),
        response: { 204: t.Void() },
        detail: { tags, summary: "Give up an onboarding session; its history stays unless it is purged" },
      },
    )
    .post(
      "/v1/onboarding/sessions/:id/message",
      ({ params, query, body, caller, answer }) => {
        const after = lastEvent();
        if (query.stream) {
          const { message_id, session_id } = onboardings.send(params.id, body, caller);
          return turnStream(session_id, message_id, after, caller);
        }
        return answer.accepted(locationOf, () => onboardings.send(params.id, body, caller));
      },
      {
        access: "user",
        params: Path,
        query: t.Object({
          stream: t.Optional(
            elysia.BooleanString({ description: "Answers with events, until it is your turn again." }),
          ),
        }),
        body: OnboardingSend,
        response: { 202: OnboardingSent },
        detail: { tags, summary: "Answer the interviewer; what it says comes as events" },
      },
    )
    .post("/v1/onboarding/sessions/:id/stop", ({ params, caller }) => onboardings.stop(params.id, caller), {
      access: "user",
      params: Path,
      response: { 200: OnboardingSession },
      detail: { tags, summary: "Stop the running reply and keep what was said" },
    });
}
