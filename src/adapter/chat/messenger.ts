/**
 * Messengers: services through which a person is asked and answers. All connections are made from here, so it works behind
 * a router. Whatever comes in was written by strangers: an adapter reads no more of it than this says.
 */
import type { AddressGuard } from "../address-guard.ts";
import type { OpenGuarded } from "../guarded-fetch.ts";

/** A button, or what stands for it where a messenger has none. */
export interface MessageButton {
  label: string;
  answer: "yes" | "no";
  /** Comes back when the button is pressed. At most 64 characters. */
  token: string;
}

export interface OutgoingMessage {
  /** The same for each attempt, where the messenger can refuse what it has already. */
  key: string;
  text: string;
  buttons: readonly MessageButton[];
  /** Answers another message, where the messenger shows that. */
  replyTo?: string | undefined;
}

interface IncomingBase {
  /** Unique among what this messenger sends; the same when it is sent again. */
  id: string;
  chat: string;
  sender: string;
}

/** A button was pressed. */
export interface Press extends IncomingBase {
  kind: "press";
  /** The message that holds the button. */
  message: string;
  token: string;
  /** What `confirm` needs. */
  handle: string;
}

/** An answer by a sign, where a messenger has no buttons. */
export interface Reaction extends IncomingBase {
  kind: "reaction";
  message: string;
  answer: "yes" | "no";
}

interface IncomingText extends IncomingBase {
  kind: "text";
  senderName: string;
  text: string;
  /** The message that it answers. */
  replyTo: string | undefined;
}

/** Somebody wants the bot in a chat. */
interface Invite extends IncomingBase {
  kind: "invite";
}

export type Incoming = Press | Reaction | IncomingText | Invite;

/** @param cursor where to continue after a restart; kept with the effects of what came in. */
export type TakeIncoming = (batch: readonly Incoming[], cursor: string | null) => void;

export interface Messenger {
  /** The most characters of a message. */
  readonly maxCharacters: number;
  /** The bot's name, and a check of its token. @throws Problem. */
  check(signal: AbortSignal): Promise<string>;
  /** @returns the message's id in its chat. @throws Problem, 4xx when another attempt cannot help. */
  send(chat: string, message: OutgoingMessage, signal: AbortSignal): Promise<string>;
  /** Gives a message another text and takes its buttons away. A message that is gone is no error. @throws Problem. */
  edit(chat: string, message: string, text: string, signal: AbortSignal): Promise<void>;
  /** Tells the person who pressed a button, and nobody else, what came of it. @throws Problem. */
  confirm(press: Press, text: string, signal: AbortSignal): Promise<void>;
  /** @throws Problem. */
  join(chat: string, signal: AbortSignal): Promise<void>;
  /**
   * Receives until the signal aborts. What `take` throws ends it: the batch comes again the next time.
   * @param connected called when it is known to work.
   * @throws Problem, 4xx when an operator has to change something.
   */
  listen(cursor: string | null, take: TakeIncoming, connected: () => void, signal: AbortSignal): Promise<void>;
}

export interface MessengerDeps {
  request: OpenGuarded;
  resolve: AddressGuard["resolve"];
  userAgent: string;
}

/** At most so many characters, the last one a sign that more is left out. */
export function cutText(text: string, most: number): string {
  const characters = [...text];
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join("")}…`;
}
