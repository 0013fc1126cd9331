/**
 * Discord by its REST API and its gateway (https://docs.discord.com/developers/events/gateway): hello, heartbeat,
 * identify or resume.
 * The cursor holds the session and its sequence number. After a restart the session is resumed, and Discord sends the
 * missed messages.
 */
import { Problem } from "../../core/errors.ts";
import { isObject, membersOf, numberIn, textIn } from "../../core/is-object.ts";
import { readJson } from "../../core/json-reader.ts";
import { createAskChat, idIn, refusalOf, unlessGone } from "./ask.ts";
import { cutText, type Incoming, type Messenger, type MessengerDeps, type TakeIncoming } from "./messenger.ts";
import { type OpenSocket, openWebSocket } from "./web-socket.ts";

const NAME = "Discord";
export const DISCORD_SERVER = "https://discord.com";
const API = "/api/v10";
const MAX_CHARACTERS = 1_900;
const PAYLOAD_BYTES = 4 * 1024 * 1024;
/**
 * Messages of servers, and direct messages. Without the privileged intent for contents, Discord sends the text only of
 * direct messages and of messages that mention the bot.
 */
const INTENTS = (1 << 9) | (1 << 12);
const HEARTBEAT_MS = { least: 1_000, most: 120_000 };
/** Close codes after which connecting again cannot help: authentication, shards, intents. */
const FINAL_CODES: readonly number[] = [4004, 4010, 4011, 4012, 4013, 4014];
const Op = { dispatch: 0, heartbeat: 1, identify: 2, resume: 6, reconnect: 7, invalid: 9, hello: 10, ack: 11 } as const;
const ID = /^\d{1,20}$/;

interface DiscordAccess {
  server?: string | undefined;
  token: string;
}

interface GatewaySession {
  id: string;
  url: string;
  seq: number;
}

export function openDiscord(deps: MessengerDeps, { server = DISCORD_SERVER, token }: DiscordAccess): Messenger {
  const ask = createAskChat(NAME, deps, (body) => {
    const seconds = numberIn(body, "retry_after");
    return seconds === undefined ? undefined : seconds * 1_000;
  });
  const call = async (
    method: "GET" | "POST" | "PATCH",
    path: string,
    body: Record<string, unknown> | undefined,
    signal: AbortSignal,
  ): Promise<Record<string, unknown>> => {
    const request = { method, url: `${server}${API}${path}`, token: `Bot ${token}` };
    const answer = await ask(body === undefined ? request : { ...request, body }, signal);
    if (answer.status < 200 || answer.status > 299) throw refusalOf(NAME, answer.status, answer.body["message"]);
    return answer.body;
  };
  const quiet = { allowed_mentions: { parse: [] } };
  return {
    maxCharacters: MAX_CHARACTERS,
    check: async (signal) => textIn(await call("GET", "/users/@me", undefined, signal), "username") ?? "bot",
    async send(chat, { key, text, buttons, replyTo }, signal) {
      const components = buttons.map(({ label, answer, token: custom_id }) => ({
        type: 2,
        style: answer === "yes" ? 3 : 4,
        label,
        custom_id,
      }));
      const body = {
        content: cutText(text, MAX_CHARACTERS),
        nonce: key.slice(-25),
        enforce_nonce: true,
        ...quiet,
        ...(components.length === 0 ? {} : { components: [{ type: 1, components }] }),
        ...(replyTo === undefined ? {} : { message_reference: { message_id: replyTo, fail_if_not_exists: false } }),
      };
      const id = idIn(await call("POST", `/channels/${requireSegment(chat)}/messages`, body, signal), "id");
      if (id === undefined) throw new Problem(502, "messenger_answer", "Discord named no message.");
      return id;
    },
    async edit(chat, message, text, signal) {
      const body = { content: cutText(text, MAX_CHARACTERS), components: [], ...quiet };
      const edited = call(
        "PATCH",
        `/channels/${requireSegment(chat)}/messages/${requireSegment(message)}`,
        body,
        signal,
      );
      await unlessGone(edited, /Unknown Message/);
    },
    async confirm({ handle }, text, signal) {
      const [id = "", secret = ""] = handle.split("/");
      const data = { content: cutText(text, MAX_CHARACTERS), flags: 64, ...quiet };
      await call(
        "POST",
        `/interactions/${requireSegment(id)}/${requireSegment(secret)}/callback`,
        { type: 4, data },
        signal,
      );
    },
    join: async () => {},
    async listen(cursor, take, onConnected, signal) {
      let session = readCursor(cursor);
      while (!signal.aborted) {
        const gateway = session?.url ?? textIn(await call("GET", "/gateway/bot", undefined, signal), "url") ?? "";
        session = await runGateway(deps, { gateway, token, session, take, onConnected, signal });
      }
    },
  };
}

/** @throws Problem when the text cannot be one segment of a path. */
function requireSegment(text: string): string {
  if (!/^[A-Za-z0-9_-]{1,400}$/.test(text)) throw new Problem(422, "messenger_refused", "Discord has no such place.");
  return text;
}

function readCursor(cursor: string | null): GatewaySession | undefined {
  const value = cursor === null ? undefined : membersOf(readJson(cursor));
  const [id, url, seq] = [textIn(value, "id"), textIn(value, "url"), numberIn(value, "seq")];
  return id === undefined || url === undefined || seq === undefined ? undefined : { id, url, seq };
}

interface GatewayRun {
  gateway: string;
  token: string;
  session: GatewaySession | undefined;
  take: TakeIncoming;
  onConnected(): void;
  signal: AbortSignal;
}

/**
 * Runs one connection until it ends. @returns the session to resume; undefined when a new one is needed. @throws
 * Problem.
 */
async function runGateway(deps: MessengerDeps, run: GatewayRun): Promise<GatewaySession | undefined> {
  const { token, take, onConnected, signal } = run;
  let session = run.session;
  let beat: ReturnType<typeof setInterval> | undefined;
  let isAnswered = true;
  let isAsked = false;
  const say = ({ send }: OpenSocket, op: number, d: unknown) => send(JSON.stringify({ op, d }));
  const sayBeat = (on: OpenSocket) => say(on, Op.heartbeat, session?.seq ?? null);
  function greet(on: OpenSocket, hello: unknown): void {
    const asked = numberIn(hello, "heartbeat_interval") ?? HEARTBEAT_MS.most;
    const every = Math.min(Math.max(asked, HEARTBEAT_MS.least), HEARTBEAT_MS.most);
    clearInterval(beat);
    beat = setInterval(() => {
      // The last heartbeat was not acknowledged, so the connection is dead even if TCP has not noticed.
      if (!isAnswered) return on.close();
      isAnswered = false;
      sayBeat(on);
    }, every);
    const properties = { os: process.platform, browser: "skep", device: "skep" };
    if (session) say(on, Op.resume, { token, session_id: session.id, seq: session.seq });
    else say(on, Op.identify, { token, intents: INTENTS, properties });
  }
  function dispatch(name: unknown, seq: number | undefined, data: unknown): void {
    if (name === "READY") {
      const [id, url] = [textIn(data, "session_id"), textIn(data, "resume_gateway_url")];
      session = id !== undefined && url !== undefined ? { id, url, seq: seq ?? 0 } : undefined;
      onConnected();
    } else if (name === "RESUMED") onConnected();
    if (session && seq !== undefined) session = { ...session, seq };
    const incoming = readDispatch(name, data);
    const cursor = session ? JSON.stringify(session) : null;
    if (incoming || name === "READY") take(incoming ? [incoming] : [], cursor);
  }
  const socket = await openWebSocket(`${run.gateway.replace(/\/$/, "")}/?v=10&encoding=json`, {
    ...deps,
    signal,
    silenceMs: HEARTBEAT_MS.most * 2,
    maxBytes: PAYLOAD_BYTES,
    onText(text, on) {
      const { op, d, s, t } = membersOf(readJson(text));
      if (op === Op.hello) greet(on, d);
      else if (op === Op.dispatch) dispatch(t, typeof s === "number" ? s : undefined, d);
      else if (op === Op.heartbeat) sayBeat(on);
      else if (op === Op.ack) isAnswered = true;
      else if (op === Op.reconnect) {
        isAsked = true;
        on.close();
      } else if (op === Op.invalid) {
        isAsked = true;
        if (d !== true) session = undefined;
        on.close();
      }
    },
  });
  const code = await socket.closed.finally(() => clearInterval(beat));
  signal.throwIfAborted();
  if (FINAL_CODES.includes(code)) throw refusalOf(NAME, code === 4004 ? 401 : 403, `code ${code}`);
  if (!isAsked) {
    take([], session ? JSON.stringify(session) : null);
    throw new Problem(502, "messenger_cut", "Discord's connection was cut.");
  }
  return session;
}

function readDispatch(name: unknown, data: unknown): Incoming | undefined {
  if (!isObject(data)) return undefined;
  const [id, chat] = [idIn(data, "id"), idIn(data, "channel_id")];
  if (!id || !chat || !ID.test(id) || !ID.test(chat)) return undefined;
  if (name === "INTERACTION_CREATE" && data["type"] === 3) {
    const sender = idIn(data["user"], "id") ?? idIn(membersOf(data["member"])["user"], "id");
    const message = idIn(data["message"], "id");
    const [token, secret] = [textIn(data["data"], "custom_id"), textIn(data, "token")];
    if (!sender || !message || !token || !secret) return undefined;
    return { kind: "press", id, chat, sender, message, token, handle: `${id}/${secret}` };
  }
  const author = membersOf(data["author"]);
  const [sender, text] = [idIn(author, "id"), textIn(data, "content")];
  if (name !== "MESSAGE_CREATE" || author["bot"] === true || !sender || text === undefined) return undefined;
  const senderName = textIn(author, "username") ?? sender;
  // In servers, the bot sees the text only if it is mentioned. The mention is not part of what the person says.
  const said = text.replace(/^<@!?\d{1,20}>\s*/, "");
  const replyTo = idIn(data["message_reference"], "message_id");
  return { kind: "text", id, chat, sender, senderName, text: said, replyTo };
}
