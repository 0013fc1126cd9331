/** A fake of Telegram's Bot API: https://core.telegram.org/bots/api. */
import { bodyOf, createBell, createFakeParts, type FakeMessenger, listOf, objectOf } from "./fake.ts";

const TOKEN = "7000001:AAE-canary-telegram-3f8a";

export function openFakeTelegram(): FakeMessenger {
  const parts = createFakeParts();
  const bell = createBell();
  const updates: Record<string, unknown>[] = [];
  let nextMessage = 100;
  let isRepeating = false;
  let isCut = false;
  const add = (update: Record<string, unknown>) => {
    updates.push({ update_id: 500 + updates.length, ...update });
    bell.ring();
  };
  async function newsFor(offset: number, mayWait: boolean, signal: AbortSignal): Promise<Response> {
    for (;;) {
      if (isCut) {
        isCut = false;
        return new Response("cut", { status: 502 });
      }
      if (isRepeating) {
        isRepeating = false;
        return ok([...updates].reverse());
      }
      const found = updates.filter((update) => Number(update["update_id"]) >= offset);
      if (found.length > 0 || !mayWait || signal.aborted) return ok(found);
      await bell.wait(signal);
    }
  }
  const ok = (result: unknown) => Response.json({ ok: true, result });
  const http = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const [, bot, method] = new URL(request.url).pathname.split("/");
      if (bot !== `bot${TOKEN}`) return Response.json({ ok: false, description: "Unauthorized" }, { status: 401 });
      const body = await bodyOf(request);
      if (method === "getMe") return ok({ id: 7_000_001, is_bot: true, username: "skep_bot" });
      if (method === "getUpdates")
        return newsFor(Number(body["offset"] ?? 0), Number(body["timeout"]) > 0, request.signal);
      const wait = parts.takeBusy();
      if (wait !== undefined) {
        const refused = { ok: false, error_code: 429, description: "Too Many Requests" };
        return Response.json({ ...refused, parameters: { retry_after: wait } }, { status: 429 });
      }
      const [chat, text] = [String(body["chat_id"]), String(body["text"])];
      if (method === "sendMessage") {
        const id = nextMessage++;
        const [row] = Array.isArray(objectOf(body["reply_markup"])["inline_keyboard"])
          ? (objectOf(body["reply_markup"])["inline_keyboard"] as unknown[])
          : [];
        const buttons = listOf(row).map((one) => ({ label: String(one["text"]), token: String(one["callback_data"]) }));
        const reply = objectOf(body["reply_parameters"])["message_id"];
        parts.sent.put({
          id: String(id),
          chat,
          text,
          buttons,
          replyTo: reply === undefined ? undefined : String(reply),
        });
        return ok({ message_id: id, chat: { id: Number(chat) } });
      }
      if (method === "editMessageText") {
        if (body["reply_markup"] !== undefined) return Response.json({ ok: false }, { status: 400 });
        parts.edited.put({ chat, message: String(body["message_id"]), text });
        return ok(true);
      }
      if (method === "answerCallbackQuery") {
        parts.told.put(text);
        return ok(true);
      }
      return Response.json({ ok: false, description: "Not Found" }, { status: 404 });
    },
  });
  return {
    ...parts,
    kind: "telegram",
    access: { server: `http://127.0.0.1:${http.port}`, token: TOKEN },
    say(who, text, replyTo) {
      const reply = replyTo === undefined ? {} : { reply_to_message: { message_id: Number(replyTo) } };
      const from = { id: Number(who.sender), username: `person${who.sender}` };
      add({ message: { message_id: nextMessage++, from, chat: { id: Number(who.chat) }, text, ...reply } });
    },
    press(who, message, data) {
      const held = { message_id: Number(message), chat: { id: Number(who.chat) } };
      add({ callback_query: { id: `q${updates.length}`, from: { id: Number(who.sender) }, message: held, data } });
    },
    repeat() {
      isRepeating = true;
      bell.ring();
    },
    cut() {
      isCut = true;
      bell.ring();
    },
    close: () => http.stop(true),
  };
}
