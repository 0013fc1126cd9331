/** A fake of Slack: its Web API and Socket Mode (https://docs.slack.dev/apis/events-api/using-socket-mode). */
import type { ServerWebSocket } from "bun";
import { bodyOf, createFakeParts, type FakeMessenger, listOf, objectOf } from "./fake.ts";

const TOKEN = "xoxb-canary-slack-77c1";
const APP_TOKEN = "xapp-canary-slack-90d2";

export function openFakeSlack(): FakeMessenger {
  const parts = createFakeParts();
  const sockets = new Set<ServerWebSocket<undefined>>();
  const envelopes: { envelope_id: string }[] = [];
  const unacknowledged = new Set<string>();
  let nextMessage = 1;
  const add = (type: string, payload: Record<string, unknown>) => {
    const envelope = { envelope_id: crypto.randomUUID(), type, payload, accepts_response_payload: true };
    envelopes.push(envelope);
    unacknowledged.add(envelope.envelope_id);
    for (const socket of sockets) socket.send(JSON.stringify(envelope));
  };
  const refuse = (error: string) => Response.json({ ok: false, error });
  const http = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request, server): Promise<Response | undefined> {
      const { pathname } = new URL(request.url);
      if (pathname === "/socket") return server.upgrade(request) ? undefined : new Response(null, { status: 400 });
      const method = pathname.replace("/api/", "");
      const isOpening = method === "apps.connections.open";
      if (request.headers.get("authorization") !== `Bearer ${isOpening ? APP_TOKEN : TOKEN}`)
        return refuse("invalid_auth");
      const body = await bodyOf(request);
      if (isOpening) return Response.json({ ok: true, url: `ws://127.0.0.1:${server.port}/socket?ticket=1` });
      if (method === "auth.test") return Response.json({ ok: true, user: "skep", user_id: "U0BOT" });
      const wait = parts.takeBusy();
      if (wait !== undefined)
        return Response.json(
          { ok: false, error: "ratelimited" },
          { status: 429, headers: { "Retry-After": `${wait}` } },
        );
      const [chat, text] = [String(body["channel"]), String(body["text"])];
      if (method === "chat.postMessage") {
        const id = `1700000000.${String(nextMessage++).padStart(6, "0")}`;
        const actions = listOf(body["blocks"]).find((block) => block["type"] === "actions");
        const buttons = listOf(actions?.["elements"]).map((one) => ({
          label: String(objectOf(one["text"])["text"]),
          token: String(one["value"]),
        }));
        const thread = body["thread_ts"];
        parts.sent.put({ id, chat, text, buttons, replyTo: thread === undefined ? undefined : String(thread) });
        return Response.json({ ok: true, channel: chat, ts: id });
      }
      if (method === "chat.update") {
        if (listOf(body["blocks"]).some((block) => block["type"] === "actions")) return refuse("buttons_left");
        parts.edited.put({ chat, message: String(body["ts"]), text });
        return Response.json({ ok: true });
      }
      if (method !== "chat.postEphemeral") return refuse("unknown_method");
      parts.told.put(text);
      return Response.json({ ok: true });
    },
    websocket: {
      open(socket) {
        sockets.add(socket);
        socket.send(JSON.stringify({ type: "hello", num_connections: 1 }));
        // Events that were not acknowledged are sent again on the next connection.
        for (const one of envelopes) if (unacknowledged.has(one.envelope_id)) socket.send(JSON.stringify(one));
      },
      message(_socket, data) {
        unacknowledged.delete(String(objectOf(JSON.parse(String(data)))["envelope_id"]));
      },
      close(socket) {
        sockets.delete(socket);
      },
    },
  });
  return {
    ...parts,
    kind: "slack",
    access: { server: `http://127.0.0.1:${http.port}`, token: TOKEN, app_token: APP_TOKEN },
    say(who, text, replyTo) {
      const ts = `1700000001.${String(nextMessage++).padStart(6, "0")}`;
      const thread = replyTo === undefined ? {} : { thread_ts: replyTo };
      // Slack treats a text that begins with a slash as an app's command.
      const [command = "", ...rest] = text.split(" ");
      if (command === "/run" || (command === "/stop" && replyTo === undefined))
        return add("slash_commands", {
          command,
          text: rest.join(" "),
          user_id: who.sender,
          user_name: "someone",
          channel_id: who.chat,
        });
      const event = { type: "message", user: who.sender, channel: who.chat, text, ts, ...thread };
      add("events_api", { event_id: `Ev${ts}`, event });
    },
    press(who, message, value) {
      add("interactive", {
        type: "block_actions",
        user: { id: who.sender },
        channel: { id: who.chat },
        container: { type: "message", message_ts: message, channel_id: who.chat },
        actions: [{ type: "button", action_id: "skep_yes", value }],
      });
    },
    repeat() {
      for (const socket of sockets) for (const one of [...envelopes].reverse()) socket.send(JSON.stringify(one));
    },
    cut() {
      for (const socket of sockets) socket.terminate();
    },
    close: () => http.stop(true),
  };
}
