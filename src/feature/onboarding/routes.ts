/** /v1/onboarding/sessions. */

import { Type as t } from "@sinclair/typebox";
import type { SkepEvent } from "../../core/events.ts";
import type { Caller } from "../../http/caller.ts";
import { listOf, PageQuery, pageOf, queryLimit } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { queryBoolean, queryInteger } from "../../http/schema.ts";
import { stillHolds } from "../../http/standing.ts";
import type { Core } from "../feature.ts";
import {
  OnboardingCreate,
  OnboardingDetail,
  OnboardingSend,
  OnboardingSent,
  OnboardingSession,
  OnboardingStatus,
} from "./model.ts";
import type { Onboardings } from "./service.ts";

const LOCATION = "/v1/onboarding/sessions/:id";

interface OnboardingRoutesDeps extends Pick<Core, "streams"> {
  onboardings: Onboardings;
  /** Id of the newest event. */
  lastEvent(): number;
}

export function onboardingRoutes({ onboardings, streams, lastEvent }: OnboardingRoutesDeps) {
  /**
   * Streams the session's events until it is the person's turn again. That may be after the next interviewer has spoken
   * as well.
   */
  const turnStream = (session_id: string, messageId: string, after: number, caller: Caller): Response => {
    let answered = false;
    return streams.open({
      filter: { session_id },
      after,
      mayRead: () => true,
      stillValid: () => stillHolds(caller),
      userId: caller.userId,
      isLast({ kind, data }: SkepEvent) {
        answered ||= kind === "turn_ended" && data["message_id"] === messageId;
        return kind === "session_ended" || (answered && kind === "turn_ended" && !onboardings.isBusy(session_id));
      },
    });
  };
  return tagOperations("onboarding", [
    defineOperation("listOnboardingSessions", "GET /v1/onboarding/sessions", {
      access: "user",
      query: t.Object({ ...PageQuery, status: t.Optional(OnboardingStatus) }),
      answer: listOf(OnboardingSession),
      summary: "List your onboarding sessions, newest first",
      handler: ({ query, caller }) => onboardings.list(query.status, pageOf(query), caller),
    }),
    defineOperation("createOnboardingSession", "POST /v1/onboarding/sessions", {
      access: "user",
      scope: "runs",
      body: OnboardingCreate,
      answer: { 201: OnboardingSession },
      summary: "Start an onboarding that ends in a new project",
      handler: ({ body, caller, answer }) => answer.created(LOCATION, () => onboardings.create(body, caller)),
    }),
    defineOperation("getOnboardingSession", "GET /v1/onboarding/sessions/:id", {
      access: "user",
      query: t.Object({
        limit: t.Optional(queryLimit(100, "Most messages in the answer")),
        before: t.Optional(
          queryInteger({ minimum: 0, description: "`seq` of a message; only messages before it are returned." }),
        ),
      }),
      answer: OnboardingDetail,
      summary: "Get an onboarding session with its context and newest messages",
      handler: ({ params, query, caller }) =>
        onboardings.detail(params.id, { limit: query.limit ?? 100, before: query.before }, caller),
    }),
    defineOperation("deleteOnboardingSession", "DELETE /v1/onboarding/sessions/:id", {
      access: "user",
      scope: "runs",
      query: t.Object({
        purge: t.Optional(queryBoolean({ description: "Whether the messages are deleted as well." })),
      }),
      answer: 204,
      summary: "Give up an onboarding session, keeping its history unless `purge` is true",
      handler: ({ params, query, caller }) => onboardings.abandon(params.id, query.purge ?? false, caller),
    }),
    defineOperation("messageOnboardingSession", "POST /v1/onboarding/sessions/:id/message", {
      access: "user",
      scope: "runs",
      query: t.Object({
        stream: t.Optional(
          queryBoolean({ description: "Whether the answer is an event stream that ends when it is your turn again." }),
        ),
      }),
      body: OnboardingSend,
      answer: { 202: OnboardingSent },
      summary: "Answer the interviewer, whose reply arrives as events",
      handler: ({ params, query, body, caller, answer }) => {
        const after = lastEvent();
        if (query.stream) {
          const { message_id, session_id } = onboardings.send(params.id, body, caller);
          return turnStream(session_id, message_id, after, caller);
        }
        return answer.accepted(LOCATION, () => onboardings.send(params.id, body, caller));
      },
    }),
    defineOperation("stopOnboardingSession", "POST /v1/onboarding/sessions/:id/stop", {
      access: "user",
      scope: "runs",
      answer: OnboardingSession,
      summary: "Stop the running reply, keeping what was said",
      handler: ({ params, caller }) => onboardings.stop(params.id, caller),
    }),
  ]);
}
