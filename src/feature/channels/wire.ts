/**
 * The requests to each kind of receiver: JSON for ntfy, Gotify and Apprise, a webhook signed as in Standard Webhooks
 * (https://www.standardwebhooks.com), and a plain-text mail.
 */
import { createHmac } from "node:crypto";
import { Problem } from "../../core/errors.ts";
import type { ChannelKind, NotificationMessage } from "./model.ts";
import type { Button } from "./questions.ts";

/** The address and credentials of a receiver. They are sealed at rest. */
export interface Target {
  url?: string | undefined;
  token?: string | undefined;
  secret?: string | undefined;
  to?: string | undefined;
  /** Keys of a browser's push subscription. */
  p256dh?: string | undefined;
  auth?: string | undefined;
}

export interface Wire {
  /** Sends one POST and does not follow redirects. @returns the status of the response. @throws Problem. */
  post(
    url: string,
    request: { headers: Record<string, string>; body: string | Uint8Array },
    signal: AbortSignal,
  ): Promise<number>;
  push: PushPort;
  /** @throws Problem 409 `mail_not_set_up`, 422 when the mail is refused for good, 502. */
  mail(mail: { to: string; subject: string; text: string; id: string }, signal: AbortSignal): Promise<void>;
}

/** Web Push. */
interface PushPort {
  maxBytes: number;
  encrypt(text: string, keys: { p256dh: string; auth: string }): Uint8Array;
  authorization(endpoint: string, now: number): string;
}

/** The code of the error when a push service says that a subscription has ended. */
export const GONE = "subscription_gone";

interface Delivery {
  /** Stays the same for each attempt. */
  id: string;
  event: string;
  run_id: string | null;
  message: NotificationMessage;
  /** Time of the event, RFC 3339. */
  created_at: string;
  /** The buttons of an ntfy message, and the address to which they report. */
  buttons?: { at: string; all: readonly Button[] } | undefined;
}

/** @throws Problem 4xx when another attempt cannot succeed. */
export async function sendTo(
  wire: Wire,
  { kind, target, now }: { kind: ChannelKind; target: Target; now: number },
  delivery: Delivery,
  signal: AbortSignal,
): Promise<void> {
  const { id, message } = delivery;
  if (kind === "mail") {
    const text = [message.text, ...(message.url ? [message.url] : [])].join("\n\n");
    return wire.mail({ to: target.to ?? "", subject: message.title, text, id }, signal);
  }
  const request =
    kind === "push" ? pushRequest(wire.push, target, delivery, now) : requestOf(kind, target, delivery, now);
  const status = await wire.post(request.url, request, signal);
  if (status >= 200 && status < 300) return;
  if (kind === "push" && (status === 404 || status === 410))
    throw new Problem(410, GONE, "The browser does not take notifications any more; its channel was removed.");
  const passing = status >= 500 || status === 408 || status === 425 || status === 429;
  const why = status >= 300 && status < 400 ? ", a redirect, which is not followed. Give the address it leads to" : "";
  throw new Problem(passing ? 502 : 422, "receiver_refused", `The receiver answered ${status}${why}.`);
}

/** A push message. The text is cut to what one message holds; `path` leads to the page about the notification. */
function pushRequest(push: PushPort, target: Target, { id, message }: Delivery, now: number) {
  const { url = "", p256dh = "", auth = "" } = target;
  const page = message.url === null ? "" : new URL(message.url).pathname;
  const toPayload = (text: string) => JSON.stringify({ id, title: message.title, text, path: page });
  let text = message.text;
  while (Buffer.byteLength(toPayload(text)) > push.maxBytes)
    text = [...text].slice(0, Math.floor([...text].length / 2)).join("");
  const urgency = message.status === "waiting" || message.status === "failed" ? "high" : "normal";
  const headers = {
    Authorization: push.authorization(url, now),
    "Content-Type": "application/octet-stream",
    "Content-Encoding": "aes128gcm",
    TTL: "86400",
    Urgency: urgency,
  };
  return { url, headers, body: push.encrypt(toPayload(text), { p256dh, auth }) };
}

function requestOf(kind: ChannelKind, target: Target, delivery: Delivery, now: number) {
  if (kind === "ntfy") return ntfyRequest(target, delivery);
  if (kind === "gotify") return gotifyRequest(target, delivery.message);
  if (kind === "apprise") return appriseRequest(target, delivery.message);
  return webhookRequest(target, delivery, now);
}

/**
 * Splits a topic's address into the address to which JSON is posted, and the topic. @returns undefined when it names no
 * topic.
 */
export function topicOf(url: string): { server: string; topic: string } | undefined {
  const [, path = "", topic] = /^(.*)\/([A-Za-z0-9_-]{1,64})\/?$/.exec(new URL(url).pathname) ?? [];
  return topic === undefined ? undefined : { server: `${new URL(url).origin}${path}/`, topic };
}

function ntfyRequest({ url = "", token }: Target, { message, buttons }: Delivery) {
  const { title, text, url: click, status } = message;
  // The token goes into the body, so that it appears in no log of addresses.
  const actions = buttons?.all.map(({ label, token: button }) => ({
    action: "http",
    label,
    url: buttons.at,
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ token: button }),
    clear: true,
  }));
  const { server, topic } = topicOf(url)!;
  const priority = status === "waiting" || status === "failed" ? 4 : 3;
  const headers: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  return {
    url: server,
    headers,
    body: JSON.stringify({ topic, title, message: text, priority, actions, ...(click ? { click } : {}) }),
  };
}

/** https://gotify.net/api-docs: messages with a high priority make a sound. */
function gotifyRequest({ url = "", token = "" }: Target, { title, text, url: click, status }: NotificationMessage) {
  const priority = status === "waiting" || status === "failed" ? 8 : 5;
  const extras = click ? { extras: { "client::notification": { click: { url: click } } } } : {};
  return {
    url: `${url.replace(/\/$/, "")}/message`,
    headers: { "X-Gotify-Key": token },
    body: JSON.stringify({ title, message: text, priority, ...extras }),
  };
}

const APPRISE_TYPES: Readonly<Record<string, string>> = {
  waiting: "warning",
  failed: "failure",
  succeeded: "success",
};

/**
 * For Apprise's API server (https://github.com/caronc/apprise-api), which sends to the services stored under the key in
 * the address.
 */
function appriseRequest({ url = "" }: Target, { title, text, url: page, status }: NotificationMessage) {
  const body = page ? `${text}\n\n${page}` : text;
  const type = APPRISE_TYPES[status] ?? "info";
  return { url, headers: {}, body: JSON.stringify({ title, body, type, format: "text" }) };
}

function webhookRequest({ url = "", secret = "" }: Target, delivery: Delivery, now: number) {
  const { id, event, run_id, message, created_at } = delivery;
  const body = JSON.stringify({ type: event, timestamp: created_at, data: { run_id, ...message } });
  const seconds = String(Math.floor(now / 1_000));
  const signature = createHmac("sha256", keyOf(secret)).update(`${id}.${seconds}.${body}`).digest("base64");
  const headers = { "webhook-id": id, "webhook-timestamp": seconds, "webhook-signature": `v1,${signature}` };
  return { url, headers, body };
}

/** The part after `whsec_` is base64; any other text is used as the key itself. */
const keyOf = (secret: string): Buffer =>
  secret.startsWith("whsec_") ? Buffer.from(secret.slice(6), "base64") : Buffer.from(secret);
