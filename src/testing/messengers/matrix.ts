/**
 * A fake Matrix server: https://spec.matrix.org/latest/client-server-api. Its buttons are reactions below a message.
 */
import { bodyOf, createBell, createFakeParts, type FakeMessenger, objectOf } from "./fake.ts";

const TOKEN = "syt_canary_matrix_62fe";
const ME = "@skep:example.test";

export function openFakeMatrix(): FakeMessenger {
  const parts = createFakeParts();
  const bell = createBell();
  const events: { chat: string; event: Record<string, unknown> }[] = [];
  const known = new Map<string, string>();
  const signs = new Map<string, { label: string; token: string }[]>();
  let isRepeating = false;
  let isCut = false;
  const add = (chat: string, event: Record<string, unknown>) => {
    events.push({ chat, event: { event_id: `$e${events.length}`, ...event } });
    bell.ring();
  };
  const roomsOf = (some: typeof events) => {
    const join: Record<string, { timeline: { events: Record<string, unknown>[] } }> = {};
    for (const { chat, event } of some) {
      join[chat] ??= { timeline: { events: [] } };
      join[chat].timeline.events.push(event);
    }
    return join;
  };
  async function sync(since: string | null, signal: AbortSignal): Promise<Response> {
    for (;;) {
      if (isCut) {
        isCut = false;
        return new Response("cut", { status: 502 });
      }
      const from = since === null ? 0 : Number(since.slice(1));
      const found = isRepeating ? [...events].reverse() : events.slice(from);
      const isAgain = isRepeating;
      isRepeating = false;
      if (isAgain || since === null || found.length > 0 || signal.aborted)
        return Response.json({ next_batch: `s${events.length}`, rooms: { join: roomsOf(found) } });
      await bell.wait(signal);
    }
  }
  const http = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const url = new URL(request.url);
      if (request.headers.get("authorization") !== `Bearer ${TOKEN}`)
        return Response.json({ errcode: "M_UNKNOWN_TOKEN", error: "Unknown token" }, { status: 401 });
      const path = url.pathname.replace("/_matrix/client/v3", "");
      if (path === "/account/whoami") return Response.json({ user_id: ME });
      if (path === "/sync") return sync(url.searchParams.get("since"), request.signal);
      const [, , room = "", , type = "", key = ""] = path.split("/").map(decodeURIComponent);
      const body = await bodyOf(request);
      const wait = parts.takeBusy();
      if (wait !== undefined)
        return Response.json({ errcode: "M_LIMIT_EXCEEDED", retry_after_ms: wait * 1_000 }, { status: 429 });
      const relation = objectOf(body["m.relates_to"]);
      if (type === "m.reaction") {
        const token = String(relation["key"]);
        signs.get(String(relation["event_id"]))?.push({ label: token, token });
        return Response.json({ event_id: `$r${key}` });
      }
      const id = known.get(key) ?? `$m${known.size}`;
      // The same transaction key means the same event.
      if (known.has(key)) return Response.json({ event_id: id });
      known.set(key, id);
      if (relation["rel_type"] === "m.replace") {
        const text = String(objectOf(body["m.new_content"])["body"]);
        parts.edited.put({ chat: room, message: String(relation["event_id"]), text });
        return Response.json({ event_id: id });
      }
      const buttons: { label: string; token: string }[] = [];
      signs.set(id, buttons);
      const reply = objectOf(relation["m.in_reply_to"])["event_id"];
      const replyTo = reply === undefined ? undefined : String(reply);
      parts.sent.put({ id, chat: room, text: String(body["body"]), buttons, replyTo });
      return Response.json({ event_id: id });
    },
  });
  return {
    ...parts,
    kind: "matrix",
    access: { server: `http://127.0.0.1:${http.port}`, token: TOKEN },
    say(who, body, replyTo) {
      const relates = replyTo === undefined ? {} : { "m.relates_to": { "m.in_reply_to": { event_id: replyTo } } };
      const content = { msgtype: "m.text", body, ...relates };
      add(who.chat, { type: "m.room.message", sender: who.sender, content });
    },
    press(who, message, key) {
      const relation = { rel_type: "m.annotation", event_id: message, key };
      add(who.chat, { type: "m.reaction", sender: who.sender, content: { "m.relates_to": relation } });
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
