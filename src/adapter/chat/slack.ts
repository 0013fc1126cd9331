/**
 * Slack by its Web API and Socket Mode (https://docs.slack.dev/apis/events-api/using-socket-mode): the bot opens the
 * connection. An envelope is acknowledged once its content is stored; until then Slack sends it again.
 */
import { Problem } from "../../core/errors.ts";
import { listIn, membersOf, textIn } from "../../core/is-object.ts";
import { readJson } from "../../core/json-reader.ts";
import { createAskChat, refusalOf, unlessGone } from "./ask.ts";
import { cutText, type Incoming, type Messenger, type MessengerDeps } from "./messenger.ts";
import { openWebSocket } from "./web-socket.ts";

const NAME = "Slack";
export const SLACK_SERVER = "https://slack.com";
const MAX_CHARACTERS = 2_900;
const ENVELOPE_BYTES = 1024 * 1024;
/** Slack pings every few seconds, so a connection silent for this long is dead. */
const SILENCE_MS = 90_000;
const FINAL = /^(not_authed|invalid_auth|account_inactive|token_revoked|token_expired|not_allowed_token_type)$/;

interface SlackAccess {
  server?: string | undefined;
  /** xoxb-…: writes messages. */
  token: string;
  /** xapp-…, with connections:write: opens the socket. */
  appToken: string;
}

export function openSlack(deps: MessengerDeps, { server = SLACK_SERVER, token, appToken }: SlackAccess): Messenger {
  const ask = createAskChat(NAME, deps, () => undefined);
  async function call(method: string, body: Record<string, unknown>, signal: AbortSignal, by = token) {
    const url = `${server}/api/${method}`;
    const { status, body: answer } = await ask({ method: "POST", url, token: `Bearer ${by}`, body }, signal);
    if (status === 200 && answer["ok"] === true) return answer;
    const said = textIn(answer, "error") ?? "";
    throw refusalOf(NAME, FINAL.test(said) ? 401 : status === 200 ? 400 : status, said);
  }
  const toSection = (text: string) => ({ type: "section", text: { type: "plain_text", text, emoji: false } });
  return {
    maxCharacters: MAX_CHARACTERS,
    check: async (signal) => textIn(await call("auth.test", {}, signal), "user") ?? "bot",
    async send(chat, message, signal) {
      const text = cutText(message.text, MAX_CHARACTERS);
      const elements = message.buttons.map(({ label, answer, token: value }) => ({
        type: "button",
        text: { type: "plain_text", text: label, emoji: false },
        style: answer === "yes" ? "primary" : "danger",
        action_id: `skep_${answer}`,
        value,
      }));
      const actions = elements.length === 0 ? [] : [{ type: "actions", elements }];
      const thread = message.replyTo === undefined ? {} : { thread_ts: message.replyTo };
      const body = { channel: chat, text, blocks: [toSection(text), ...actions], unfurl_links: false, ...thread };
      const id = textIn(await call("chat.postMessage", body, signal), "ts");
      if (id === undefined) throw new Problem(502, "messenger_answer", "Slack named no message.");
      return id;
    },
    async edit(chat, message, given, signal) {
      const text = cutText(given, MAX_CHARACTERS);
      const edited = call("chat.update", { channel: chat, ts: message, text, blocks: [toSection(text)] }, signal);
      await unlessGone(edited, /message_not_found|cant_update_message/);
    },
    async confirm({ chat, sender }, text, signal) {
      await call("chat.postEphemeral", { channel: chat, user: sender, text: cutText(text, MAX_CHARACTERS) }, signal);
    },
    join: async () => {},
    async listen(_cursor, take, connected, signal) {
      while (!signal.aborted) {
        let isRenewal = false;
        const address = textIn(await call("apps.connections.open", {}, signal, appToken), "url") ?? "";
        const socket = await openWebSocket(address, {
          ...deps,
          signal,
          silenceMs: SILENCE_MS,
          maxBytes: ENVELOPE_BYTES,
          onText(text, { send, close }) {
            const envelope = membersOf(readJson(text));
            if (envelope["type"] === "hello") return connected();
            // Slack asks to renew the connection now and then.
            if (envelope["type"] === "disconnect") {
              isRenewal = true;
              return close();
            }
            const id = textIn(envelope, "envelope_id");
            if (id === undefined) return;
            const incoming = readEnvelope(id, envelope);
            if (incoming) take([incoming], null);
            send(JSON.stringify({ envelope_id: id }));
          },
        });
        await socket.closed;
        signal.throwIfAborted();
        if (!isRenewal) throw new Problem(502, "messenger_cut", "Slack's connection was cut.");
      }
    },
  };
}

function readEnvelope(envelope: string, value: Record<string, unknown>): Incoming | undefined {
  const payload = membersOf(value["payload"]);
  if (value["type"] === "interactive") return readAction(envelope, payload);
  if (value["type"] === "slash_commands") return readSlashCommand(envelope, payload);
  if (value["type"] !== "events_api") return undefined;
  const event = membersOf(payload["event"]);
  // Messages of bots (this one too) have a `bot_id`; edits, joins and the like have a `subtype`.
  if (event["type"] !== "message" || event["bot_id"] !== undefined || event["subtype"] !== undefined) return undefined;
  const [sender, chat, text] = [textIn(event, "user"), textIn(event, "channel"), textIn(event, "text")];
  if (!sender || !chat || text === undefined) return undefined;
  const thread = textIn(event, "thread_ts");
  const replyTo = thread === textIn(event, "ts") ? undefined : thread;
  const id = textIn(payload, "event_id") ?? envelope;
  return { kind: "text", id, chat, sender, senderName: sender, text, replyTo };
}

/** Slack itself handles a text that begins with a slash. The app's own commands arrive in this form. */
function readSlashCommand(envelope: string, payload: Record<string, unknown>): Incoming | undefined {
  const [sender, chat] = [textIn(payload, "user_id"), textIn(payload, "channel_id")];
  const [command, rest] = [textIn(payload, "command"), textIn(payload, "text") ?? ""];
  if (!sender || !chat || !command) return undefined;
  const senderName = textIn(payload, "user_name") ?? sender;
  return { kind: "text", id: envelope, chat, sender, senderName, text: `${command} ${rest}`, replyTo: undefined };
}

function readAction(envelope: string, payload: Record<string, unknown>): Incoming | undefined {
  if (payload["type"] !== "block_actions") return undefined;
  const container = membersOf(payload["container"]);
  const [action] = listIn(payload, "actions");
  const [sender, chat] = [textIn(payload["user"], "id"), textIn(payload["channel"], "id")];
  const [message, token] = [textIn(container, "message_ts"), textIn(action, "value")];
  if (!sender || !chat || !message || !token) return undefined;
  return { kind: "press", id: envelope, chat, sender, message, token, handle: "" };
}
