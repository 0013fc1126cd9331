/**
 * Messages that ask a person something: sends them to a messenger with buttons. Once a question is answered, from
 * wherever, the message is edited to show the outcome.
 */
import { type Static, Type as t } from "@sinclair/typebox";
import type { Messenger, OutgoingMessage } from "../../adapter/chat/messenger.ts";
import { conflict } from "../../core/errors.ts";
import type { EventOf } from "../../core/events.ts";
import { defineJob } from "../../core/jobs.ts";
import type { Store } from "../../store/store.ts";
import { type NotificationMessage, notificationDeliveries } from "../../store/tables/notification-channels.ts";
import type { Jobs } from "../jobs/service.ts";
import { permissionResolved } from "../permissions/events.ts";
import { approvalResolved, RUN_ENDS, stepComplete, stepFailed } from "../runs/events.ts";
import type { RunsService } from "../runs/service.ts";
import type { Links } from "./links.ts";
import type { NotifiedEvent } from "./message.ts";
import type { Button, QuestionRow, Questions } from "./questions.ts";
import type { ChannelRow } from "./service.ts";

/** Events after which questions may have been answered. */
export const CLOSING = [...RUN_ENDS, approvalResolved, permissionResolved, stepComplete, stepFailed] as const;
type ClosingEvent = EventOf<(typeof CLOSING)[number]>;

interface AskingDeps {
  store: Store;
  links: Links;
  runs: Pick<RunsService, "approvals">;
  jobs: Pick<Jobs, "enqueue">;
  /** @throws Problem 404, 409. */
  openMessenger(id: string): { port: Messenger; end(): void };
}

const Payload = t.Object({ question_id: t.String(), channel_id: t.String() });
const EDIT_ATTEMPTS = 5;

const textOf = ({ title, text, url }: NotificationMessage, outcome?: string | null): string =>
  [title, text, ...(url ? [url] : []), ...(outcome ? [`➜ ${outcome}`] : [])].join("\n\n");

export type Asking = ReturnType<typeof createAsking>;

export function createAsking({ store, links, runs, jobs, openMessenger }: AskingDeps) {
  const deliveries = store.rows(notificationDeliveries);

  async function useMessenger<T>(channelId: string, act: (port: Messenger, chat: string) => Promise<T>): Promise<T> {
    const link = links.of(channelId);
    if (!link?.messenger_id || link.chat === null)
      throw conflict("No chat is linked to this channel yet. Make a code and send it to the bot.", "not_linked");
    const { port, end } = openMessenger(link.messenger_id);
    try {
      return await act(port, link.chat);
    } finally {
      end();
    }
  }

  /** @param questions a function, because the questions and this job are created from each other. */
  const createEditJob = (questions: () => Pick<Questions, "find">) =>
    defineJob(
      "notify_outcome",
      Payload,
      async ({ question_id, channel_id }: Static<typeof Payload>, { signal }) => {
        const question = questions().find(question_id);
        const delivery = question && deliveries.find({ id: question.delivery_id });
        const message = question?.message;
        if (!delivery || !message) return {};
        await useMessenger(channel_id, (port, chat) =>
          port.edit(chat, message, textOf(delivery.message, question.outcome), signal),
        );
        return {};
      },
      { parallel: 2, attempts: EDIT_ATTEMPTS, outward: true, exclusive: ({ channel_id }) => channel_id },
    );

  /** The approval that the event asks for, if it asks for one. */
  const approvalOf = (event: NotifiedEvent) =>
    event.kind === "approval_requested" && event.run_id !== undefined
      ? runs.approvals.waitingAt(event.run_id, event.data.step_id)
      : undefined;

  return {
    createEditJob,
    approvalOf,
    /** Whether people can answer in this channel. */
    asks: (channelId: string): boolean => {
      const link = links.of(channelId);
      return link !== undefined && (link.messenger_id === null || link.chat !== null);
    },
    /**
     * Queues the edit of a messenger's message after its question was answered. Call in the transaction that stores the
     * outcome.
     */
    enqueueEdit(
      job: ReturnType<typeof createEditJob>,
      question: QuestionRow,
      channel: Pick<ChannelRow, "name" | "owner_id">,
    ) {
      if (question.message === null || !links.of(question.channel_id)?.messenger_id) return;
      const options = { subject: channel.name, userId: channel.owner_id ?? undefined, key: `edit-${question.id}` };
      jobs.enqueue(job, { question_id: question.id, channel_id: question.channel_id }, options);
    },
    /** Stores the question that a message will ask. Call in the transaction that queues the message. */
    ask(questions: Questions, channel: ChannelRow, deliveryId: string, event: NotifiedEvent): void {
      const place = { channel_id: channel.id, delivery_id: deliveryId, run_id: event.run_id ?? null };
      if (event.kind === "permission_requested") {
        const { request_id, deadline } = event.data;
        questions.ask({ ...place, kind: "permission", subject_id: request_id }, deadline);
      }
      const approval = approvalOf(event);
      if (approval) questions.ask({ ...place, kind: "step", subject_id: approval.id }, approval.deadline);
    },
    /**
     * Closes the questions that the event has settled. Call in the transaction that advances the position in the event
     * log.
     */
    follow(questions: Questions, event: ClosingEvent): void {
      const open =
        event.kind === "permission_resolved"
          ? questions.open({ subject_id: event.data.request_id })
          : event.run_id === undefined
            ? []
            : questions.open({ run_id: event.run_id });
      for (const question of open) {
        const outcome = questions.outcomeOf(question);
        if (outcome !== undefined) questions.close(question, outcome);
      }
    },
    /** @returns the id of the sent message. @throws Problem. */
    sendTo(
      channel: ChannelRow,
      { id, message }: { id: string; message: NotificationMessage },
      { buttons, outcome }: { buttons: readonly Button[]; outcome: string | null },
      signal: AbortSignal,
    ): Promise<string> {
      const outgoing: OutgoingMessage = { key: id, text: textOf(message, outcome), buttons };
      return useMessenger(channel.id, (port, chat) => port.send(chat, outgoing, signal));
    },
  };
}
