/**
 * Onboardings: one interviewer after the other asks what to build, and the last one makes the project. Only its owner
 * sees an onboarding.
 */

import { toTimestamp } from "../../core/clock.ts";
import { conflict, notFound } from "../../core/errors.ts";
import { toUsd } from "../../core/money.ts";
import { shownOf } from "../../core/schema.ts";
import type { InputPart } from "../../engine/parts.ts";
import { textPart } from "../../engine/parts.ts";
import type { Caller } from "../../http/caller.ts";
import { type ListAnswer, listAnswer, type Page } from "../../http/list.ts";
import { mayRead, WHOSE } from "../../store/whose.ts";
import type { ChatDetail } from "../chat/model.ts";
import type { Core } from "../feature.ts";
import type { SessionRow, Sessions } from "../sessions/service.ts";
import {
  type OnboardingCreate,
  type OnboardingDetail,
  type OnboardingSend,
  type OnboardingSent,
  OnboardingSession,
  type OnboardingStatus,
} from "./model.ts";
import type { Progress } from "./progress.ts";
import { interviewerOf } from "./relay.ts";
import { cursorOf, type Found, type OnboardingStore, onboardingId, sessionIdOf } from "./store.ts";

export type Onboardings = ReturnType<typeof createOnboardings>;

interface OnboardingsDeps extends Pick<Core, "store"> {
  sessions: Sessions;
  /** Deletes an ended session with everything that belongs to it. */
  removeEnded(id: string, caller: Caller): void;
  rows: OnboardingStore;
  progress: Progress;
  /** @throws Problem 404 for an unknown agent, 409 for one that is switched off. */
  assertAgent(id: string): void;
  /** @throws Problem 422 for a model that no provider has. */
  assertModel(id: string | undefined): void;
  /** Messages of a session, and the text of its running reply so far. */
  pageOf(
    session: SessionRow,
    page: { limit: number; before?: number | undefined },
  ): Pick<ChatDetail, "messages" | "earlier" | "reply">;
  /** The message parts for that user's attachments. @throws Problem 422. */
  attach(ids: readonly string[], sessionId: string, caller: Caller): InputPart[];
  timeoutSeconds(): number;
}

const TITLE_CHARACTERS = 80;
const PRUNED_AT_ONCE = 200;

export function createOnboardings(deps: OnboardingsDeps) {
  const { store, sessions, rows, progress, assertAgent } = deps;
  const find = (id: string, caller: Caller): Found => {
    const session = id.startsWith("onb_") ? sessions.find(sessionIdOf(id)) : undefined;
    const row = session && rows.find(session.id);
    if (!row || !mayRead(caller, WHOSE.onboardings, session)) throw notFound("onboarding session");
    return { row, session };
  };
  /** Whether an interviewer is at work, so that it is not the person's turn. */
  const isBusy = (sessionId: string): boolean => {
    const status = sessions.find(sessionId)?.status;
    return status === "queued" || status === "running";
  };
  const presentById = (id: string, caller: Caller) => present(find(id, caller));
  return {
    isBusy,
    /** The caller's own onboardings, newest first. */
    list: (status: OnboardingStatus | undefined, page: Page, caller: Caller): ListAnswer<OnboardingSession> =>
      listAnswer(rows.page(caller, status, page), page, cursorOf, present),
    /**
     * @param page limits the messages; `before` is the `seq` of the message before which the page ends.
     * @throws Problem 404 for an unknown onboarding or another user's.
     */
    detail(id: string, page: { limit: number; before?: number | undefined }, caller: Caller): OnboardingDetail {
      const found = find(id, caller);
      const onboarding = deps.pageOf(found.session, page);
      const cues = new Set(found.row.cues);
      const messages = onboarding.messages.map((message) =>
        cues.has(message.id) ? { ...message, role: "system" as const } : message,
      );
      return { ...present(found), ...onboarding, messages };
    },
    /**
     * @throws Problem 404 or 409 when its interviewer is missing or switched off, 422 for a model that no provider has.
     */
    create({ message, model }: OnboardingCreate, caller: Caller): OnboardingSession {
      const agent_id = interviewerOf("intake");
      assertAgent(agent_id);
      deps.assertModel(model);
      return store.write((tx) => {
        const { id } = sessions.open({ kind: "onboarding", agent_id, user_id: caller.userId, model });
        rows.insert({ session_id: id, status: "active", phase: "intake", context: {}, cues: [], project_id: null });
        progress.say(tx, id, "created");
        if (message === undefined) progress.cue(id, "intake");
        else {
          sessions.queue(id, { input: message, timeout_seconds: deps.timeoutSeconds() });
          sessions.change(id, { title: titleOf(message) });
        }
        return presentById(onboardingId(id), caller);
      });
    },
    /** @throws Problem 404, 409 `session_ended`, 422 for an attachment that is not the caller's. */
    send(id: string, { message, attachment_ids = [], mode }: OnboardingSend, caller: Caller): OnboardingSent {
      return store.write(() => {
        const { row, session } = find(id, caller);
        if (row.status !== "active")
          throw conflict(`The onboarding session is ${row.status}. Start another one.`, "session_ended");
        assertAgent(session.agent_id);
        const input = [...deps.attach(attachment_ids, session.id, caller), textPart(message)];
        const { message_id } = sessions.queue(session.id, { input, mode, timeout_seconds: deps.timeoutSeconds() });
        if (session.title === null) sessions.change(session.id, { title: titleOf(message) });
        return { id, message_id, session_id: session.id, status: "queued" as const };
      });
    },
    /** Stops the running reply and keeps the text so far. */
    stop: (id: string, caller: Caller): OnboardingSession =>
      store.write(() => {
        sessions.interrupt(find(id, caller).session.id);
        return presentById(id, caller);
      }),
    /**
     * Gives an onboarding up, if it has not ended.
     * @param purge also removes its messages.
     * @throws Problem 409 `session_busy`.
     */
    abandon: (id: string, purge: boolean, caller: Caller) =>
      store.write((tx) => {
        const { session } = find(id, caller);
        progress.giveUp(tx, session.id);
        if (session.ended_at === null) sessions.end(session.id);
        if (!purge) return;
        if (sessions.find(session.id)?.ended_at === null)
          throw conflict("The reply is being stopped. Delete it again in a moment.", "session_busy");
        deps.removeEnded(session.id, caller);
      }),
    /** Gives up onboardings in which nothing happened for too long. @param before ms since the epoch. */
    prune(before: number): void {
      for (const sessionId of rows.listIdle(toTimestamp(before), PRUNED_AT_ONCE)) sessions.end(sessionId);
    },
  };
}

function present({ row, session }: Found): OnboardingSession {
  return {
    ...shownOf(OnboardingSession, session),
    ...shownOf(OnboardingSession, row),
    id: onboardingId(session.id),
    busy: session.status === "queued" || session.status === "running",
    cost_usd: toUsd(session.spent_nano),
  };
}

/** The first line of the message, shortened. */
function titleOf(message: string): string {
  const [line = ""] = message.trim().split("\n");
  return line.length <= TITLE_CHARACTERS ? line || "Onboarding" : `${line.slice(0, TITLE_CHARACTERS)}…`;
}
