/**
 * Checks whether a message from a messenger is the answer of the person who was asked. Refused answers are noted in the
 * audit log.
 */
import type { Incoming, Press, Reaction } from "../../adapter/chat/messenger.ts";
import { type Clock, HOUR_MS } from "../../core/clock.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Audit } from "../../store/audit.ts";
import type { Links } from "./links.ts";
import type { QuestionRow } from "./questions.ts";

/** The reply to a button press that does not count. */
export const VOID = "This button does nothing: it was used, has expired, or is not meant for you here.";

export type Guard = ReturnType<typeof createGuard>;

export const whoOf = (messenger_id: string, { chat, sender }: Incoming) => ({
  messenger_id,
  chat: chat.slice(0, 100),
  sender: sender.slice(0, 100),
});

export function createGuard({ clock, audit, links }: { clock: Clock; audit: Audit; links: Pick<Links, "of"> }) {
  let refused = { count: 0, since: 0 };
  /** Strangers can press as often as they like, so the number of log entries per hour is limited. */
  function noteRefusal(action: string, subject: string | undefined, data: Record<string, unknown>): void {
    if (clock.now() - refused.since > HOUR_MS) refused = { count: 0, since: clock.now() };
    refused.count++;
    if (refused.count <= LIMITS.refusedAnswersPerHour) audit({ action, actor: "messenger", subject, data });
  }
  /** Why this press or reaction is not the person's answer to the question; undefined when it is. */
  function faultOf(
    messengerId: string,
    incoming: Press | Reaction,
    found: { question: Pick<QuestionRow, "channel_id" | "message" | "outcome">; isUsed: boolean } | undefined,
  ): string | undefined {
    if (!found) return "unknown_button";
    const link = links.of(found.question.channel_id);
    if (link?.messenger_id !== messengerId) return "other_messenger";
    if (link.chat !== incoming.chat) return "other_chat";
    if (link.sender !== incoming.sender) return "other_person";
    if (found.question.message !== null && found.question.message !== incoming.message) return "other_message";
    return found.isUsed || found.question.outcome !== null ? "used" : undefined;
  }

  return {
    noteRefusal,
    faultOf,
    /** Notes in the audit log an answer that does not count. */
    refuse(messengerId: string, incoming: Incoming, subject: string | undefined, reason: string | undefined): void {
      noteRefusal("phone_answer.refused", subject, { ...whoOf(messengerId, incoming), reason });
    },
  };
}
