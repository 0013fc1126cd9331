/**
 * What is sent to notification channels. Each event that a channel wants becomes a row and a job, in the same
 * transaction that advances the position in the event log. So no event is missed or queued twice, whatever happens to
 * the server. The message itself may be sent twice; it then has the same id.
 */
import { type Static, Type as t } from "@sinclair/typebox";
import { HOUR_MS, toTimestamp } from "../../core/clock.ts";
import { isProblem, Problem, messageOf as wordsOf } from "../../core/errors.ts";
import type { EventOf } from "../../core/events.ts";
import { newId } from "../../core/ids.ts";
import { defineJob } from "../../core/jobs.ts";
import { LIMITS } from "../../core/limits.ts";
import type { ProjectRoles } from "../../core/ownership.ts";
import type { Caller } from "../../http/caller.ts";
import { type ListAnswer, listById, type Page } from "../../http/list.ts";
import type { EventLog } from "../../store/event-log.ts";
import { removeOld } from "../../store/remove-old.ts";
import { users } from "../../store/tables/accounts.ts";
import {
  notificationChannels as channelTable,
  notificationPosition as positionTable,
  notificationDeliveries as table,
} from "../../store/tables/notification-channels.ts";
import type { Core } from "../feature.ts";
import type { Jobs } from "../jobs/service.ts";
import { permissionRequested } from "../permissions/events.ts";
import { approvalRequested, RUN_ENDS, runWaiting } from "../runs/events.ts";
import { type Asking, CLOSING } from "./asking.ts";
import { isWanted, messageOf, type NotifiedEvent, testMessage } from "./message.ts";
import type { NotificationDelivery, NotificationMessage } from "./model.ts";
import type { Questions } from "./questions.ts";
import type { ChannelRow, Channels } from "./service.ts";
import { GONE, sendTo, type Wire } from "./wire.ts";

const NOTIFIED = [...RUN_ENDS, runWaiting, approvalRequested, permissionRequested] as const;
/** Event kinds that are read from the log. Run ends are in both lists. */
export const LOOKED_AT = [...new Set([...NOTIFIED, ...CLOSING])];
type LookedAt = EventOf<(typeof LOOKED_AT)[number]>;
type ClosingEvent = EventOf<(typeof CLOSING)[number]>;

const isNotified = (event: LookedAt): event is NotifiedEvent => NOTIFIED.some(({ kind }) => kind === event.kind);
const isClosing = (event: LookedAt): event is ClosingEvent => CLOSING.some(({ kind }) => kind === event.kind);

export type Deliveries = ReturnType<typeof createDeliveries>;

interface DeliveriesDeps extends Pick<Core, "store" | "clock" | "masking"> {
  eventLog: Pick<EventLog, "read" | "readOf" | "lastId">;
  access: ProjectRoles;
  jobs: Pick<Jobs, "enqueue">;
  channels: Pick<Channels, "rowFor" | "targetOf" | "drop">;
  asking: Asking;
  questions: Questions;
  wire: Wire;
  /** Address to which the buttons of ntfy messages report; undefined when this server has no public address. */
  answersAt: string | undefined;
  /** Address of a run's page; null when this server has no public address. */
  pageOf(runId: string): string | null;
  /** Address of the page that lists everything that waits for a person; null like `pageOf`. */
  inboxPage(): string | null;
}

type Row = typeof table.$inferSelect;

const EVENTS_AT_ONCE = 100;
const ATTEMPTS = 6;
const PARALLEL = 4;
const Payload = t.Object({ delivery_id: t.String(), channel_id: t.String() });

const present = ({ event_id: _, ...row }: Row): NotificationDelivery => row;

export function createDeliveries(deps: DeliveriesDeps) {
  const { store, clock, eventLog, jobs, channels } = deps;
  const [rows, positions] = [store.rows(table), store.rows(positionTable)];
  const send = createSender(deps);
  const readNow = () => toTimestamp(clock.now());
  const job = createJob(deps, send);

  const readPosition = (): number | undefined => positions.find()?.event_id;
  const movePosition = (event_id: number): void => positions.put({ id: 1, event_id }, ["id"]);
  const isFull = (channelId: string): boolean => {
    const lately = ["created_at > ?", toTimestamp(clock.now() - HOUR_MS)] as const;
    return rows.count({ channel_id: channelId }, lately) >= LIMITS.notificationsPerHour;
  };
  const newRow = (channel: ChannelRow, event: string, message: NotificationMessage): Row => ({
    id: newId("notificationDelivery"),
    channel_id: channel.id,
    event_id: null,
    event,
    run_id: null,
    message,
    state: "queued",
    attempts: 0,
    error: null,
    created_at: readNow(),
    finished_at: null,
  });

  function queue(channel: ChannelRow, event: NotifiedEvent): void {
    if (isFull(channel.id)) {
      const last_error = `More than ${LIMITS.notificationsPerHour} notifications in an hour: the rest is left out.`;
      store.rows(channelTable).update({ last_error }, { id: channel.id });
      return;
    }
    const message = messageOf(event, aboutOf(deps, event), deps.masking.text);
    const row: Row = { ...newRow(channel, event.kind, message), event_id: event.id, run_id: event.run_id ?? null };
    if (!rows.insertIfNew(row)) return;
    if (deps.asking.asks(channel.id)) deps.asking.ask(deps.questions, channel, row.id, event);
    const options = { subject: channel.name, userId: channel.owner_id ?? undefined, key: row.id };
    jobs.enqueue(job, { delivery_id: row.id, channel_id: channel.id }, options);
  }

  return {
    job,
    /** Queues deliveries for the events of the log that were not handled yet. */
    look(): void {
      for (let more = true; more; ) {
        more = store.write(() => {
          const last = eventLog.lastId();
          const from = readPosition();
          const events = eventLog.readOf(LOOKED_AT, from ?? last, EVENTS_AT_ONCE);
          for (const event of events) {
            if (isNotified(event)) for (const channel of listChannels(deps, event)) queue(channel, event);
            if (isClosing(event)) deps.asking.follow(deps.questions, event);
          }
          const isAll = events.length < EVENTS_AT_ONCE;
          // When all were read, the position moves to the newest event of any kind, so that the next look does not read
          // the others again.
          const to = isAll ? last : events.at(-1)!.id;
          if (to !== from) movePosition(to);
          return !isAll;
        });
      }
    },
    /** The deliveries of a channel, newest first. @throws Problem 404. */
    list(channelId: string, page: Page, caller: Caller): ListAnswer<NotificationDelivery> {
      const { id } = channels.rowFor(channelId, caller);
      return listById(rows.page([{ channel_id: id }], page), page, present);
    },
    /** Sends a test message at once, with one attempt. @returns the finished delivery. @throws Problem 404, 429. */
    async test(channelId: string, caller: Caller, signal: AbortSignal): Promise<NotificationDelivery> {
      const channel = channels.rowFor(channelId, caller);
      if (isFull(channel.id))
        throw new Problem(
          429,
          "too_many_notifications",
          `A channel takes ${LIMITS.notificationsPerHour} notifications an hour. Try again later.`,
        );
      // Stored as failed from the start: if the server dies meanwhile, no delivery seems to be under way.
      const cut: Row = { ...newRow(channel, "test", testMessage(deps.pageOf(""))), state: "failed", attempts: 1 };
      cut.error = "The server stopped meanwhile.";
      store.write(() => rows.insert(cut));
      const error = await send(channel, cut, signal).then(
        () => null,
        (thrown) => deps.masking.text(wordsOf(thrown)).slice(0, 500),
      );
      const ended = { state: error === null ? "sent" : "failed", error, finished_at: readNow() } as const;
      store.write(() => {
        rows.update(ended, { id: cut.id });
        markChannel(deps, channel.id, error);
      });
      return present({ ...cut, ...ended });
    },
    prune: (before: number): boolean =>
      removeOld(store, "notification_deliveries", "created_at < ?", toTimestamp(before)),
  };
}

/** The channels to notify of an event: they are switched on, may know of the event, and want it. */
function listChannels({ store, access, asking }: DeliveriesDeps, event: NotifiedEvent): ChannelRow[] {
  const people = store.rows(users);
  return store
    .rows(channelTable)
    .list([{ enabled: true }])
    .filter((channel) => {
      const { owner_id, whose, project_id, triggers } = channel;
      const owner = owner_id === null ? undefined : people.find({ id: owner_id });
      if (owner_id !== null && !owner?.active) return false;
      const role = owner?.role;
      const { project_id: of } = event;
      if (of !== undefined && owner_id !== null && role !== "admin" && access.roleOf(owner_id, of) === null)
        return false;
      const isTheirs = whose === "mine" ? (event.user_id ?? null) === owner_id : owner_id === null || role === "admin";
      if (!isTheirs || (project_id !== null && project_id !== event.project_id)) return false;
      const asks = asking.asks(channel.id);
      return (asks || channel.kind !== "messenger") && isWanted(event.kind, triggers, asks);
    });
}

function aboutOf({ store, eventLog, asking, pageOf, inboxPage }: DeliveriesDeps, event: NotifiedEvent) {
  const { kind, run_id = "" } = event;
  const approval = asking.approvalOf(event);
  const effects = approval && { yes: approval.if_approved.says, no: approval.if_refused.says };
  const run = store
    .statement<{ task: string; project: string | null }>(
      "SELECT task_description AS task, project_name AS project FROM runs WHERE id = ?",
    )
    .get(run_id);
  const asked =
    kind === "run_waiting"
      ? eventLog.read(0, 1_000, { run_id, kinds: [approvalRequested.kind] }).at(-1)?.data["message"]
      : undefined;
  const question = typeof asked === "string" ? asked : undefined;
  const url = kind === "permission_requested" ? inboxPage() : pageOf(run_id);
  const pipeline = approval?.pipeline_id ?? null;
  return { task: run?.task ?? "", project: run?.project ?? undefined, question, effects, pipeline, url };
}

type Send = (channel: ChannelRow, row: Row, signal: AbortSignal) => Promise<void>;

/**
 * Sends one delivery. While it does, the channel's token and keys are masked in whatever the receiver or a library
 * answers.
 */
const createSender =
  ({ store, clock, masking, channels, asking, questions, answersAt, wire }: DeliveriesDeps): Send =>
  async (channel, row, signal) => {
    const question = questions.of(row.id);
    const canAsk = question?.outcome === null && (channel.kind === "messenger" || answersAt !== undefined);
    const buttons = question && canAsk ? questions.arm(question) : [];
    if (channel.kind === "messenger") {
      const message = await asking.sendTo(channel, row, { buttons, outcome: question?.outcome ?? null }, signal);
      if (question) store.write(() => questions.noteMessage(question.id, message));
      return;
    }
    const actions = buttons.length > 0 && answersAt !== undefined ? { at: answersAt, all: buttons } : undefined;
    const target = channels.targetOf(channel);
    const ends = [target.token, target.secret, target.auth].map((value) => value && masking.add("notification", value));
    try {
      await sendTo(wire, { kind: channel.kind, target, now: clock.now() }, { ...row, buttons: actions }, signal);
    } catch (error) {
      // The browser's subscription is gone. Its channel is removed with its deliveries; the device subscribes again.
      if (isProblem(error) && error.code === GONE) channels.drop(channel.id);
      throw error;
    } finally {
      for (const end of ends) if (end) end();
    }
  };

function markChannel({ store, clock }: DeliveriesDeps, id: string, error: string | null): void {
  const change = error === null ? { last_error: null, last_sent_at: toTimestamp(clock.now()) } : { last_error: error };
  store.rows(channelTable).update(change, { id });
}

function createJob(deps: DeliveriesDeps, send: Send) {
  const { store, clock, masking } = deps;
  const [rows, channels] = [store.rows(table), store.rows(channelTable)];
  return defineJob(
    "notify",
    Payload,
    async ({ delivery_id, channel_id }: Static<typeof Payload>, { attempt, signal }) => {
      const row = rows.find({ id: delivery_id });
      const channel = channels.find({ id: channel_id });
      if (!row || !channel || row.state === "sent") return {};
      if (!channel.enabled) throw new Problem(409, "channel_off", "The channel was switched off.");
      store.write(() => rows.update({ attempts: attempt }, { id: delivery_id }));
      try {
        await send(channel, row, signal);
      } catch (error) {
        if (signal.aborted) throw error;
        const said = masking.text(wordsOf(error)).slice(0, 500);
        store.write(() => {
          rows.update({ error: said }, { id: delivery_id });
          markChannel(deps, channel.id, said);
        });
        throw error;
      }
      store.write(() => {
        const sent = { state: "sent", error: null, finished_at: toTimestamp(clock.now()) } as const;
        rows.update(sent, { id: delivery_id });
        markChannel(deps, channel.id, null);
      });
      return {};
    },
    {
      parallel: PARALLEL,
      attempts: ATTEMPTS,
      outward: true,
      // Sends a channel's deliveries in order. A receiver that hangs delays only its own channel.
      exclusive: ({ channel_id }) => channel_id,
      onEnd({ payload, state, error }) {
        const row = rows.find({ id: payload.delivery_id });
        if (row?.state !== "queued") return;
        const ended = {
          state: state === "cancelled" ? "cancelled" : "failed",
          error: error?.message ?? row.error,
        } as const;
        const finished_at = toTimestamp(clock.now());
        rows.update({ ...ended, finished_at }, { id: row.id });
      },
    },
  );
}
