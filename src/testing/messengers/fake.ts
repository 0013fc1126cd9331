/** What the fakes of messengers have in common. Each speaks its service's wire protocol, and has its faults. */
import { inbox } from "../receiver.ts";

interface SentButton {
  label: string;
  /** What comes back when it is pressed; of Matrix the sign. */
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
  /** What connects to it. */
  readonly access: Readonly<Record<string, unknown>>;
  /** What the bot wrote. */
  readonly sent: Inbox<SentMessage>;
  /** What it changed. */
  readonly edited: Inbox<{ chat: string; message: string; text: string }>;
  /** What it told the one who pressed a button. */
  readonly told: Inbox<string>;
  say(who: Person, text: string, replyTo?: string): void;
  /** @param message where the button is: of a forwarded message another one. */
  press(who: Person, message: string, token: string): void;
  /** Sends everything again, the newest first. */
  repeat(): void;
  /** Cuts the connections on which people's messages come. */
  cut(): void;
  /** The next request is answered with 429 and this wait. */
  beBusy(seconds: number): void;
  /** How many requests were answered so. */
  busyAnswers(): number;
  close(): Promise<void>;
}

type Inbox<T> = ReturnType<typeof inbox<T>>;

/** Counters and inboxes of a fake. */
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
    /** The wait that this request is answered with, once. */
    takeBusy(): number | undefined {
      const wait = busy;
      busy = undefined;
      if (wait !== undefined) busyAnswers++;
      return wait;
    },
  };
}

/** Whoever waits for news is woken. */
export function createBell() {
  let waiting: (() => void)[] = [];
  return {
    ring(): void {
      for (const wake of waiting.splice(0)) wake();
    },
    /** Until it rings, or the request is given up. */
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

/** Members of JSON that the server under test sent. */
export const objectOf = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : {};
export const listOf = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value.map(objectOf) : []);
export const bodyOf = async (request: Request): Promise<Record<string, unknown>> => objectOf(await request.json());
