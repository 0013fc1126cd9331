/**
 * Matrix by the client-server API (https://spec.matrix.org/latest/client-server-api): sync, messages, reactions. Matrix
 * has no buttons: a person reacts with one of two signs, or replies. Encrypted rooms are not read.
 */
import { Problem } from "../../core/errors.ts";
import { entriesOfObject, listIn, membersOf, numberIn, textIn } from "../../core/is-object.ts";
import { createAskChat, refusalOf } from "./ask.ts";
import { cutText, type Incoming, type Messenger, type MessengerDeps } from "./messenger.ts";

const NAME = "Matrix";
const API = "/_matrix/client/v3";
const MAX_CHARACTERS = 8_000;
const POLL_MS = 25_000;
const EVENTS_AT_ONCE = 20;
const ROOMS_AT_ONCE = 200;
const YES = ["✅", "👍", "✔️", "✔"];
const NO = ["❌", "👎", "✖️", "✖"];
const FILTER = JSON.stringify({
  presence: { types: [] },
  account_data: { types: [] },
  room: {
    timeline: { types: ["m.room.message", "m.reaction"], limit: EVENTS_AT_ONCE },
    state: { types: [] },
    ephemeral: { types: [] },
    account_data: { types: [] },
  },
});

interface MatrixAccess {
  server: string;
  token: string;
}

export function openMatrix(deps: MessengerDeps, { server, token }: MatrixAccess): Messenger {
  const ask = createAskChat(NAME, deps, (body) => numberIn(body, "retry_after_ms"));
  let self: string | undefined;
  async function call(
    method: "GET" | "POST" | "PUT",
    path: string,
    body: Record<string, unknown> | undefined,
    signal: AbortSignal,
    timeoutMs?: number,
  ) {
    const request = { method, url: `${server}${API}${path}`, token: `Bearer ${token}` };
    const limit = timeoutMs === undefined ? {} : { timeoutMs };
    const answer = await ask({ ...request, ...limit, ...(body === undefined ? {} : { body }) }, signal);
    if (answer.status !== 200) throw refusalOf(NAME, answer.status, answer.body["error"]);
    return answer.body;
  }
  async function whoAmI(signal: AbortSignal): Promise<string> {
    self ??= textIn(await call("GET", "/account/whoami", undefined, signal), "user_id");
    if (self === undefined) throw new Problem(502, "messenger_answer", "Matrix named no account.");
    return self;
  }
  /** Sends an event. The server stores events with the same key only once. */
  async function put(chat: string, type: string, key: string, content: Record<string, unknown>, signal: AbortSignal) {
    const path = `/rooms/${encodeURIComponent(chat)}/send/${type}/${encodeURIComponent(key)}`;
    const id = textIn(await call("PUT", path, content, signal), "event_id");
    if (id === undefined) throw new Problem(502, "messenger_answer", "Matrix named no message.");
    return id;
  }
  return {
    maxCharacters: MAX_CHARACTERS,
    check: whoAmI,
    async send(chat, { key, text, buttons, replyTo }, signal) {
      const signs = buttons.map(({ label, answer }) => `${signOf(answer)} ${label}`);
      const hint = signs.length === 0 ? [] : [`React: ${signs.join(", ")}. Or reply yes, or no and why.`];
      const body = [cutText(text, MAX_CHARACTERS), ...hint].join("\n\n");
      const relates = replyTo === undefined ? {} : { "m.relates_to": { "m.in_reply_to": { event_id: replyTo } } };
      const message = await put(chat, "m.room.message", key, { msgtype: "m.text", body, ...relates }, signal);
      for (const { answer } of buttons) {
        const content = { "m.relates_to": { rel_type: "m.annotation", event_id: message, key: signOf(answer) } };
        await put(chat, "m.reaction", `${key}-${answer}`, content, signal);
      }
      return message;
    },
    async edit(chat, message, given, signal) {
      const body = cutText(given, MAX_CHARACTERS);
      const content = {
        msgtype: "m.text",
        body: `* ${body}`,
        "m.new_content": { msgtype: "m.text", body },
        "m.relates_to": { rel_type: "m.replace", event_id: message },
      };
      await put(chat, "m.room.message", `edit-${message.slice(-60)}`, content, signal);
    },
    confirm: async () => {},
    async join(chat, signal) {
      await call("POST", `/join/${encodeURIComponent(chat)}`, {}, signal);
    },
    async listen(cursor, take, connected, signal) {
      const me = await whoAmI(signal);
      let since = cursor;
      while (!signal.aborted) {
        const query = new URLSearchParams({ filter: FILTER, timeout: String(since === null ? 0 : POLL_MS) });
        if (since !== null) query.set("since", since);
        const answer = await call("GET", `/sync?${query}`, undefined, signal, POLL_MS + 15_000);
        const next = textIn(answer, "next_batch");
        if (next === undefined) throw new Problem(502, "messenger_answer", "Matrix did not say where to continue.");
        connected();
        // Messages from before the bot was set up are not meant for it.
        take(since === null ? [] : readSync(answer, me), next);
        since = next;
      }
    },
  };
}

const signOf = (answer: "yes" | "no"): string => (answer === "yes" ? YES[0]! : NO[0]!);

function readSync(answer: Record<string, unknown>, me: string): Incoming[] {
  const rooms = membersOf(answer["rooms"]);
  const batch: Incoming[] = [];
  for (const [chat, room] of entriesOfObject(rooms["join"]).slice(0, ROOMS_AT_ONCE))
    for (const event of listIn(membersOf(room)["timeline"], "events").slice(0, EVENTS_AT_ONCE * 2)) {
      const incoming = readEvent(chat, event);
      if (incoming && incoming.sender !== me) batch.push(incoming);
    }
  for (const [chat, room] of entriesOfObject(rooms["invite"]).slice(0, ROOMS_AT_ONCE)) {
    const events = listIn(membersOf(room)["invite_state"], "events");
    const mine = events.find((event) => textIn(event, "state_key") === me && textIn(event, "type") === "m.room.member");
    const sender = textIn(mine, "sender");
    if (sender !== undefined) batch.push({ kind: "invite", id: `invite-${chat}-${sender}`, chat, sender });
  }
  return batch;
}

function readEvent(chat: string, event: unknown): Incoming | undefined {
  const [type, id, sender] = [textIn(event, "type"), textIn(event, "event_id"), textIn(event, "sender")];
  if (!id || !sender) return undefined;
  const content = membersOf(membersOf(event)["content"]);
  const relation = membersOf(content["m.relates_to"]);
  if (type === "m.reaction") {
    const [message, key] = [textIn(relation, "event_id"), textIn(relation, "key")];
    const answer = YES.includes(key ?? "") ? "yes" : NO.includes(key ?? "") ? "no" : undefined;
    if (relation["rel_type"] !== "m.annotation" || !message || !answer) return undefined;
    return { kind: "reaction", id, chat, sender, message, answer };
  }
  const body = textIn(content, "body");
  if (type !== "m.room.message" || content["msgtype"] !== "m.text" || body === undefined) return undefined;
  // An edit of an earlier message is ignored.
  if (relation["rel_type"] === "m.replace") return undefined;
  const replyTo = textIn(relation["m.in_reply_to"], "event_id");
  const text = replyTo === undefined ? body : withoutQuotation(body);
  return { kind: "text", id, chat, sender, senderName: sender, text, replyTo };
}

/** Older clients quote the message that they reply to, in lines that begin with `> `. */
function withoutQuotation(body: string): string {
  const lines = body.split("\n");
  const first = lines.findIndex((line) => !line.startsWith("> "));
  return first <= 0 ? body : lines.slice(first).join("\n").trim();
}
