/**
 * Messengers: services that carry questions to a person and the answers back. Skep opens all connections, so it also
 * works behind a router. All incoming content is untrusted: an adapter reads no more of it than these types hold.
 */
import type { AddressGuard } from "../address-guard.ts";
import type { OpenGuarded } from "../guarded-fetch.ts";

/** A button, or the sign that replaces it in a messenger without buttons. */
export interface MessageButton {
  label: string;
  answer: "yes" | "no";
  /** Comes back when the button is pressed. At most 64 characters. */
  token: string;
}

export interface OutgoingMessage {
  /** The same for each attempt, so that a messenger that supports it drops duplicates. */
  key: string;
  text: string;
  buttons: readonly MessageButton[];
  /** The message that this one answers, if the messenger can show that. */
  replyTo?: string | undefined;
}

interface IncomingBase {
  /** Unique among the messages of this messenger, and the same when a message is delivered again. */
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

/** An answer by a reaction, in a messenger without buttons. */
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

/** An invitation of the bot to a chat. */
interface Invite extends IncomingBase {
  kind: "invite";
}

export type Incoming = Press | Reaction | IncomingText | Invite;

/** @param cursor where to continue after a restart. It is stored together with the effects of the batch. */
export type TakeIncoming = (batch: readonly Incoming[], cursor: string | null) => void;

export interface Messenger {
  /** The most characters of a message. */
  readonly maxCharacters: number;
  /** Checks the token. @returns the bot's name. @throws Problem. */
  check(signal: AbortSignal): Promise<string>;
  /** @returns the message's id in its chat. @throws Problem, 4xx when another attempt cannot help. */
  send(chat: string, message: OutgoingMessage, signal: AbortSignal): Promise<string>;
  /**
   * Replaces a message's text and removes its buttons. A message that no longer exists is no error. @throws Problem.
   */
  edit(chat: string, message: string, text: string, signal: AbortSignal): Promise<void>;
  /** Tells the person who pressed a button, and only that person, the result. @throws Problem. */
  confirm(press: Press, text: string, signal: AbortSignal): Promise<void>;
  /** Accepts an invitation to a chat, in messengers that need that. @throws Problem. */
  join(chat: string, signal: AbortSignal): Promise<void>;
  /**
   * Receives until the signal aborts. If `take` throws, receiving ends, and the same batch comes again the next time.
   * @param onConnected called when the connection is known to work.
   * @throws Problem, 4xx when an operator has to change something.
   */
  listen(cursor: string | null, take: TakeIncoming, onConnected: () => void, signal: AbortSignal): Promise<void>;
}

export interface MessengerDeps {
  request: OpenGuarded;
  resolve: AddressGuard["resolve"];
  userAgent: string;
}

/** Cuts a text to at most `most` characters; the last one is then "…". */
export function cutText(text: string, most: number): string {
  const characters = [...text];
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join("")}…`;
}
