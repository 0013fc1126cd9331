/**
 * Reads what people send to the bots. Each bot has one reader, until the bot is changed or the server stops. Incoming
 * messages, their effects and the read position are one transaction, so that nothing takes effect twice, even after a
 * crash.
 */
import type { Incoming, Messenger } from "../../adapter/chat/messenger.ts";
import { DAY_MS, toTimestamp } from "../../core/clock.ts";
import { isProblem, messageOf } from "../../core/errors.ts";
import type { Masking } from "../../core/masking.ts";
import type { Standby } from "../../store/identity.ts";
import { removeOld } from "../../store/remove-old.ts";
import { messengerUpdates, messengers as table } from "../../store/tables/messengers.ts";
import type { Core } from "../feature.ts";
import type { Messengers } from "./service.ts";

/**
 * Handles an incoming message. Called once for each, inside the transaction, so it may only use SQL.
 * @returns what is done after the commit, if anything.
 */
export type Handle = (
  messengerId: string,
  incoming: Incoming,
) => ((port: Messenger, signal: AbortSignal) => Promise<void>) | undefined;

interface PollerDeps extends Pick<Core, "store" | "clock" | "log"> {
  masking: Pick<Masking, "text">;
  standby: Pick<Standby, "whenActive">;
  messengers: Pick<Messengers, "listEnabled" | "open" | "find">;
  pause(ms: number, signal: AbortSignal): Promise<void>;
}

type State = "connected" | "connecting" | "failed";

interface Reader {
  stop: AbortController;
  done: Promise<void>;
}

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;
/** Pause after an error that only an operator can fix. */
const FINAL_WAIT_MS = 5 * 60_000;
const AFTERWARDS_MAX = 100;
const KEEP_UPDATES_MS = 8 * DAY_MS;
const ERROR_CHARACTERS = 500;

export type Poller = ReturnType<typeof createPoller>;

export function createPoller({ store, clock, log, masking, standby, messengers, pause }: PollerDeps) {
  const rows = store.rows(table);
  const updates = store.rows(messengerUpdates);
  const readers = new Map<string, Reader>();
  const states = new Map<string, State>();
  let handle: Handle | undefined;
  let forgetStandby: (() => void) | undefined;
  let isRunning = false;

  function noteError(id: string, error: unknown): void {
    const last_error = error === null ? null : masking.text(messageOf(error)).slice(0, ERROR_CHARACTERS);
    const known = rows.find({ id });
    if (known && known.last_error !== last_error) store.write(() => rows.update({ last_error }, { id }));
  }
  function noteAccount(id: string, account: string): void {
    const shown = account.slice(0, 200);
    if (rows.find({ id })?.account !== shown) store.write(() => rows.update({ account: shown }, { id }));
  }
  /**
   * Handles a batch in one transaction.
   * @returns replies to send afterwards; a crash loses them. A message that must be sent has a row (`questions.ts`).
   */
  function take(id: string, batch: readonly Incoming[], cursor: string | null) {
    const at = toTimestamp(clock.now());
    const afterwards: NonNullable<ReturnType<Handle>>[] = [];
    store.write(() => {
      for (const incoming of batch) {
        if (!updates.insertIfNew({ id: `${id}:${incoming.id.slice(0, 300)}`, messenger_id: id, at })) continue;
        const act = handle?.(id, incoming);
        if (act && afterwards.length < AFTERWARDS_MAX) afterwards.push(act);
      }
      if (cursor !== null) rows.update({ cursor }, { id });
    });
    return afterwards;
  }
  async function readOnce(id: string, signal: AbortSignal, onConnected: () => void): Promise<void> {
    const { port, end } = messengers.open(id);
    try {
      noteAccount(id, await port.check(signal));
      let telling = Promise.resolve();
      await port.listen(
        messengers.find(id).cursor,
        (batch, cursor) => {
          for (const act of take(id, batch, cursor))
            telling = telling
              .then(() => act(port, signal))
              .catch((error) => {
                if (!signal.aborted)
                  log.warn({ why: messageOf(error) }, "a person was not told what came of an answer");
              });
        },
        onConnected,
        signal,
      );
    } finally {
      end();
    }
  }
  async function read(id: string, signal: AbortSignal): Promise<void> {
    let wait = FIRST_WAIT_MS;
    while (!signal.aborted) {
      try {
        states.set(id, "connecting");
        await readOnce(id, signal, () => {
          wait = FIRST_WAIT_MS;
          if (states.get(id) === "connected") return;
          states.set(id, "connected");
          noteError(id, null);
        });
      } catch (error) {
        if (signal.aborted) return;
        states.set(id, "failed");
        noteError(id, error);
        const isFinal = isProblem(error) && error.status < 500;
        if (!isProblem(error)) log.error({ why: masking.text(messageOf(error)) }, "a messenger could not be read");
        await pause(isFinal ? FINAL_WAIT_MS : wait, signal).catch(() => {});
        wait = Math.min(wait * 2, LONGEST_WAIT_MS);
      }
    }
  }
  async function stopReader(id: string): Promise<void> {
    const reader = readers.get(id);
    if (!reader) return;
    readers.delete(id);
    reader.stop.abort();
    await reader.done;
    if (!readers.has(id)) states.delete(id);
  }
  function startReader(id: string, after: Promise<void>): void {
    const stop = new AbortController();
    readers.set(id, { stop, done: after.then(() => read(id, stop.signal)) });
  }
  /**
   * Restarts a bot's reader with the stored settings. It begins only after an earlier reader has ended, because two
   * readers would take each other's messages.
   */
  function renew(id: string): void {
    if (!isRunning) return;
    const before = readers.get(id)?.done ?? Promise.resolve();
    const stopped = stopReader(id);
    if (rows.find({ id })?.enabled)
      startReader(
        id,
        Promise.all([before, stopped]).then(() => {}),
      );
  }

  return {
    stateOf: (id: string): State => states.get(id) ?? "connecting",
    own(act: Handle): void {
      handle = act;
    },
    renew,
    start(): void {
      forgetStandby = standby.whenActive(() => {
        isRunning = true;
        for (const { id } of messengers.listEnabled()) if (!readers.has(id)) startReader(id, Promise.resolve());
      });
    },
    async stop(): Promise<void> {
      forgetStandby?.();
      isRunning = false;
      await Promise.all([...readers.keys()].map(stopReader));
    },
    /** Forgets messages that messengers do not send again. They repeat messages of up to a day. */
    prune: (): boolean => removeOld(store, "messenger_updates", "at < ?", toTimestamp(clock.now() - KEEP_UPDATES_MS)),
    failing: () => messengers.listEnabled().filter(({ id }) => states.get(id) === "failed"),
  };
}
