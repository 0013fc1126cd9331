/**
 * Questions that messages ask, and their buttons. A button's token is bound to the question, the answer, and the chat
 * and person linked to the channel. It works once, while the question waits and has not expired. Only the token's
 * digest is stored.
 */
import { randomBytes } from "node:crypto";
import { HOUR_MS, toTimestamp } from "../../core/clock.ts";
import { isProblem } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { assertRole } from "../../core/ownership.ts";
import type { Caller } from "../../http/caller.ts";
import { users } from "../../store/tables/accounts.ts";
import { notificationButtons, notificationQuestions as table } from "../../store/tables/messengers.ts";
import { notificationChannels } from "../../store/tables/notification-channels.ts";
import { permissionRequests } from "../../store/tables/permissions.ts";
import { steps } from "../../store/tables/runs.ts";
import type { Core } from "../feature.ts";
import type { PermissionService } from "../permissions/service.ts";
import type { RunsService } from "../runs/service.ts";
import { digestOf, type LinkRow } from "./links.ts";
import type { ChannelRow } from "./service.ts";

export type QuestionRow = typeof table.$inferSelect;
export type Answer = "yes" | "no";

export interface Button {
  label: string;
  answer: Answer;
  token: string;
}

interface QuestionsDeps extends Pick<Core, "store" | "access" | "clock" | "audit"> {
  runs: Pick<RunsService, "approve">;
  permissions: Pick<PermissionService, "answer">;
  /** Called in the transaction that stores a question's outcome: the message must be edited to show it. */
  onClose(question: QuestionRow): void;
}

/** The result of answering a question. `isTaken`: whether the answer counts. */
export interface Given {
  outcome: string;
  isTaken: boolean;
}

const TOKEN_BYTES = 24;
const LABELS = {
  step: { yes: "Approve", no: "Refuse" },
  permission: { yes: "Allow once", no: "Refuse" },
} as const;
const LATE = "It does not wait for an answer any more.";
const OUTCOME_CHARACTERS = 1_000;

export type Questions = ReturnType<typeof createQuestions>;

export function createQuestions({ store, access, clock, audit, runs, permissions, onClose }: QuestionsDeps) {
  const rows = store.rows(table);
  const buttons = store.rows(notificationButtons);
  const channels = store.rows(notificationChannels);
  const accounts = store.rows(users);
  const stepRows = store.rows(steps);
  const requests = store.rows(permissionRequests);

  /** The caller for the channel's owner; undefined when the owner may not work any more. */
  function callerOf({ owner_id, whose }: ChannelRow): Caller | undefined {
    if (owner_id === null) return { kind: "local", admin: true, projects: access };
    const user = accounts.find({ id: owner_id });
    if (!user?.active) return undefined;
    return { kind: "user", admin: whose === "everyone" && user.role === "admin", userId: owner_id, projects: access };
  }
  function close(question: QuestionRow, outcome: string): void {
    const ended = { ...question, outcome: outcome.slice(0, OUTCOME_CHARACTERS) };
    rows.update({ outcome: ended.outcome }, { id: question.id });
    onClose(ended);
  }
  const withComment = (word: string, comment: string): string => (comment === "" ? `${word}.` : `${word}: ${comment}`);

  /** The outcome of the approval or permission request that the question is about; undefined while it waits. */
  function outcomeOf({ kind, subject_id }: QuestionRow): string | undefined {
    if (kind === "permission") {
      const request = requests.find({ id: subject_id });
      if (request?.state === "waiting") return undefined;
      if (request?.state === "allowed") return "Allowed.";
      if (request?.state === "denied") return withComment("Refused", request.comment ?? "");
      return request?.state === "expired" ? "Nobody answered in time: it was refused." : LATE;
    }
    const step = stepRows.find({ id: subject_id });
    if (step?.status === "waiting") return undefined;
    const { approved, comment } = step?.outputs ?? {};
    if (typeof approved !== "boolean") return LATE;
    return withComment(approved ? "Approved" : "Refused", typeof comment === "string" ? comment : "");
  }
  function perform(question: QuestionRow, caller: Caller, answer: Answer, comment: string): void {
    const work = question.run_id ?? requests.find({ id: question.subject_id })?.session_id;
    if (work) assertRole(caller, access.ofWork(work), "contributor");
    const said = comment === "" ? {} : { comment };
    if (question.kind === "permission")
      permissions.answer(question.subject_id, { allow: answer === "yes", ...said }, caller);
    else {
      const input = { step_id: question.subject_id, approved: answer === "yes", ...said };
      runs.approve(question.run_id ?? "", input, caller);
    }
  }

  return {
    callerOf,
    close,
    outcomeOf,
    of: (deliveryId: string): QuestionRow | undefined => rows.find({ delivery_id: deliveryId }),
    find: (id: string): QuestionRow | undefined => rows.find({ id }),
    /** The question that this message asked in this channel. */
    at: (channelId: string, message: string): QuestionRow | undefined => rows.find({ channel_id: channelId, message }),
    open: (where: { run_id: string } | { subject_id: string }): QuestionRow[] =>
      rows.list([where, ["outcome IS NULL"]], { order: "id" }),
    /** @param deadline when the approval or request itself stops waiting, RFC 3339. */
    ask(
      asked: Pick<QuestionRow, "channel_id" | "delivery_id" | "kind" | "subject_id" | "run_id">,
      deadline: string | null,
    ): void {
      const latest = toTimestamp(clock.now() + LIMITS.notificationButtonHours * HOUR_MS);
      rows.insert({
        ...asked,
        id: newId("notificationQuestion"),
        expires_at: deadline !== null && deadline < latest ? deadline : latest,
        created_at: toTimestamp(clock.now()),
      });
    },
    /** Makes new tokens for a message that is about to be sent. Tokens of an earlier attempt become invalid. */
    arm({ id, kind }: QuestionRow): Button[] {
      const made = (["yes", "no"] as const).map((answer) => ({
        answer,
        label: LABELS[kind][answer],
        token: randomBytes(TOKEN_BYTES).toString("base64url"),
      }));
      store.write(() => {
        buttons.remove({ question_id: id });
        for (const { answer, token } of made)
          buttons.insert({ token_hash: digestOf(token), question_id: id, answer, used_at: null });
      });
      return made;
    },
    noteMessage(id: string, message: string): void {
      rows.update({ message }, { id });
      const question = rows.find({ id });
      // The question was answered while its message was being sent.
      if (question?.outcome) onClose(question);
    },
    /** The question and answer that a button's token stands for, whatever the question's state. */
    ofToken(token: string): { question: QuestionRow; answer: Answer; isUsed: boolean } | undefined {
      const button = buttons.find({ token_hash: digestOf(token) });
      const question = button && rows.find({ id: button.question_id });
      return question && { question, answer: button.answer, isUsed: button.used_at !== null };
    },
    /** Answers in the name of the channel's owner. Call in a transaction, after the person has been verified. */
    give(question: QuestionRow, { channel_id }: Pick<LinkRow, "channel_id">, answer: Answer, comment: string): Given {
      const channel = channels.find({ id: channel_id });
      const caller = channel && callerOf(channel);
      const refuse = (outcome: string): Given => ({ outcome, isTaken: false });
      if (!channel?.enabled || !caller) return refuse("This channel is switched off.");
      if (question.outcome !== null) return refuse(LATE);
      if (question.expires_at <= toTimestamp(clock.now()))
        return refuse("The time for an answer from here is over. Answer in the dashboard.");
      buttons.update({ used_at: toTimestamp(clock.now()) }, { question_id: question.id });
      try {
        store.write(() => perform(question, caller, answer, comment));
      } catch (error) {
        if (!isProblem(error)) throw error;
        close(question, outcomeOf(question) ?? LATE);
        return refuse(error.detail);
      }
      const outcome = outcomeOf(question) ?? LATE;
      close(question, outcome);
      audit({
        action: "phone_answer.given",
        actor: channel.owner_id ?? "local",
        subject: question.subject_id,
        data: { channel_id, kind: question.kind, answer },
      });
      return { outcome, isTaken: true };
    },
  };
}
