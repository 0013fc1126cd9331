/** Telegram's Bot API (https://core.telegram.org/bots/api), read by long polling. Texts are sent without markup. */
import { Problem } from "../../core/errors.ts";
import { membersOf, numberIn, textIn } from "../../core/is-object.ts";
import { createAskChat, idIn, refusalOf, unlessGone } from "./ask.ts";
import { cutText, type Incoming, type Messenger, type MessengerDeps } from "./messenger.ts";

const NAME = "Telegram";
export const TELEGRAM_SERVER = "https://api.telegram.org";
const POLL_SECONDS = 25;
const UPDATES_AT_ONCE = 50;
/** Telegram allows 4,096 UTF-16 units in a message. */
const MAX_CHARACTERS = 3_500;
const CONFIRM_CHARACTERS = 200;

export function openTelegram(deps: MessengerDeps, { server = TELEGRAM_SERVER, token }: TelegramAccess): Messenger {
  const ask = createAskChat(NAME, deps, (body) => {
    const seconds = numberIn(body["parameters"], "retry_after");
    return seconds === undefined ? undefined : seconds * 1_000;
  });
  async function call(method: string, body: Record<string, unknown>, signal: AbortSignal, timeoutMs?: number) {
    const url = `${server}/bot${token}/${method}`;
    const limit = timeoutMs === undefined ? {} : { timeoutMs };
    const answer = await ask({ method: "POST", url, body, ...limit }, signal);
    if (answer.status === 200 && answer.body["ok"] === true) return answer.body["result"];
    if (answer.status === 404) throw refusalOf(NAME, 401, "unknown token");
    if (answer.status === 409)
      throw new Problem(
        409,
        "messenger_conflict",
        "Another program reads this bot's messages, or a webhook is set. Give the bot to Skep alone.",
      );
    throw refusalOf(NAME, answer.status, answer.body["description"]);
  }
  return {
    maxCharacters: MAX_CHARACTERS,
    check: async (signal) => textIn(await call("getMe", {}, signal), "username") ?? "bot",
    async send(chat, { text, buttons, replyTo }, signal) {
      const keys = buttons.map(({ label, token: data }) => ({ text: label, callback_data: data }));
      const reply = replyTo === undefined ? {} : { message_id: Number(replyTo), allow_sending_without_reply: true };
      const sent = await call(
        "sendMessage",
        {
          chat_id: chat,
          text: cutText(text, MAX_CHARACTERS),
          link_preview_options: { is_disabled: true },
          ...(replyTo === undefined ? {} : { reply_parameters: reply }),
          ...(keys.length === 0 ? {} : { reply_markup: { inline_keyboard: [keys] } }),
        },
        signal,
      );
      const id = idIn(sent, "message_id");
      if (id === undefined) throw new Problem(502, "messenger_answer", "Telegram named no message.");
      return id;
    },
    async edit(chat, message, text, signal) {
      const body = { chat_id: chat, message_id: Number(message), text: cutText(text, MAX_CHARACTERS) };
      await unlessGone(call("editMessageText", body, signal), /not modified|not found|can't be edited/);
    },
    async confirm({ handle }, text, signal) {
      const body = { callback_query_id: handle, text: cutText(text, CONFIRM_CHARACTERS) };
      await call("answerCallbackQuery", body, signal);
    },
    join: async () => {},
    async listen(cursor, take, connected, signal) {
      let offset = Number(cursor ?? 0);
      // The first poll returns at once, so that people see whether the connection works.
      let timeout = 0;
      while (!signal.aborted) {
        const question = {
          offset,
          timeout,
          limit: UPDATES_AT_ONCE,
          allowed_updates: ["message", "callback_query"],
        };
        const updates = await call("getUpdates", question, signal, (POLL_SECONDS + 15) * 1_000);
        connected();
        timeout = POLL_SECONDS;
        const batch: Incoming[] = [];
        for (const update of Array.isArray(updates) ? updates.slice(0, UPDATES_AT_ONCE) : []) {
          const id = numberIn(update, "update_id");
          if (id === undefined || !Number.isSafeInteger(id)) continue;
          offset = Math.max(offset, id + 1);
          const incoming = readUpdate(id, update);
          if (incoming) batch.push(incoming);
        }
        take(batch, String(offset));
      }
    },
  };
}

interface TelegramAccess {
  server?: string | undefined;
  token: string;
}

function readUpdate(update: number, value: unknown): Incoming | undefined {
  const { callback_query, message } = membersOf(value);
  const id = String(update);
  if (callback_query !== undefined) {
    const query = membersOf(callback_query);
    const held = membersOf(query["message"]);
    const [sender, chat, in_] = [idIn(query["from"], "id"), idIn(held["chat"], "id"), idIn(held, "message_id")];
    const [token, handle] = [textIn(query, "data"), textIn(query, "id")];
    if (!sender || !chat || !in_ || !token || !handle) return undefined;
    return { kind: "press", id, chat, sender, message: in_, token, handle };
  }
  const { from, chat: where, text, reply_to_message } = membersOf(message);
  const [sender, chat] = [idIn(from, "id"), idIn(where, "id")];
  if (!sender || !chat || typeof text !== "string") return undefined;
  const senderName = textIn(from, "username") ?? textIn(from, "first_name") ?? sender;
  return { kind: "text", id, chat, sender, senderName, text, replyTo: idIn(reply_to_message, "message_id") };
}
