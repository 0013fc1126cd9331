/** What the fakes of messengers share. Each speaks its service's wire protocol and imitates the service's faults. */
import { inbox } from "../receiver.ts";

interface SentButton {
  label: string;
  /** The value that pressing the button returns; in Matrix it is the reaction. */
  token: string;
}

export interface SentMessage {
  id: string;
  chat: string;
  text: string;
  buttons: SentButton[];
  replyTo: string | undefined;
}

export interface Person {
  chat: string;
  sender: string;
}

export interface FakeMessenger {
  readonly kind: "telegram" | "slack" | "discord" | "matrix";
  /** The settings with which a messenger connects to the fake. */
  readonly access: Readonly<Record<string, unknown>>;
  /** Messages that the bot wrote. */
  readonly sent: Inbox<SentMessage>;
  /** Messages that the bot changed. */
  readonly edited: Inbox<{ chat: string; message: string; text: string }>;
  /** What the bot told the person who pressed a button. */
  readonly told: Inbox<string>;
  say(who: Person, text: string, replyTo?: string): void;
  /** @param message the message with the button; for a forwarded message, that of the copy. */
  press(who: Person, message: string, token: string): void;
  /** Sends everything again, newest first. */
  repeat(): void;
  /** Cuts the connections over which people's messages arrive. */
  cut(): void;
  /** Answers the next request with 429 and this wait. */
  beBusy(seconds: number): void;
  /** How many requests were answered with 429. */
  busyAnswers(): number;
  close(): Promise<void>;
}

type Inbox<T> = ReturnType<typeof inbox<T>>;

/** Creates the counters and inboxes of a fake. */
export function createFakeParts() {
  let busy: number | undefined;
  let busyAnswers = 0;
  return {
    sent: inbox<SentMessage>(),
    edited: inbox<{ chat: string; message: string; text: string }>(),
    told: inbox<string>(),
    beBusy(seconds: number): void {
      busy = seconds;
    },
    busyAnswers: () => busyAnswers,
    /** The wait with which this request is answered, at most once. */
    takeBusy(): number | undefined {
      const wait = busy;
      busy = undefined;
      if (wait !== undefined) busyAnswers++;
      return wait;
    },
  };
}

/** Wakes everyone who waits for news. */
export function createBell() {
  let waiting: (() => void)[] = [];
  return {
    ring(): void {
      for (const wake of waiting.splice(0)) wake();
    },
    /** Waits until the bell rings or the request is aborted. */
    wait: (signal: AbortSignal): Promise<void> =>
      new Promise((wake) => {
        waiting.push(wake);
        signal.addEventListener("abort", () => {
          waiting = waiting.filter((one) => one !== wake);
          wake();
        });
      }),
  };
}

/** The members of JSON that the tested server sent. */
export const objectOf = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : {};
export const listOf = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value.map(objectOf) : []);
export const bodyOf = async (request: Request): Promise<Record<string, unknown>> => objectOf(await request.json());
