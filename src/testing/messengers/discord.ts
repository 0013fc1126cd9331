/**
 * A fake of Discord: REST and gateway. It keeps events that a session has not seen
 * (https://docs.discord.com/developers/events/gateway).
 */
import type { ServerWebSocket } from "bun";
import { bodyOf, createFakeParts, type FakeMessenger, listOf, objectOf } from "./fake.ts";

const TOKEN = "canary-discord-token-51ab";
const SESSION = "fake-session";

export function openFakeDiscord(): FakeMessenger {
  const parts = createFakeParts();
  const sockets = new Set<ServerWebSocket<undefined>>();
  const events: { op: 0; s: number; t: string; d: Record<string, unknown> }[] = [];
  let nextId = 9_000_000_000;
  const idOf = () => String(nextId++);
  const add = (t: string, d: Record<string, unknown>) => {
    const event = { op: 0 as const, s: events.length + 2, t, d };
    events.push(event);
    for (const socket of sockets) socket.send(JSON.stringify(event));
  };
  const http = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request, server): Promise<Response | undefined> {
      const path = new URL(request.url).pathname;
      const gateway = `ws://127.0.0.1:${server.port}/gateway`;
      if (path.startsWith("/gateway")) return server.upgrade(request) ? undefined : new Response(null, { status: 400 });
      const [, , , area, first = "", , last] = path.split("/");
      if (area !== "interactions" && request.headers.get("authorization") !== `Bot ${TOKEN}`)
        return Response.json({ message: "401: Unauthorized" }, { status: 401 });
      if (!/^DiscordBot \(/.test(request.headers.get("user-agent") ?? "")) return new Response(null, { status: 403 });
      if (area === "users") return Response.json({ id: "1", username: "skep" });
      if (area === "gateway") return Response.json({ url: gateway, shards: 1 });
      const body = await bodyOf(request);
      if (area === "interactions") {
        parts.told.put(String(objectOf(body["data"])["content"]));
        return new Response(null, { status: 204 });
      }
      const wait = parts.takeBusy();
      if (wait !== undefined) return Response.json({ message: "rate limited", retry_after: wait }, { status: 429 });
      const text = String(body["content"]);
      if (request.method === "PATCH") {
        if (listOf(body["components"]).length > 0) return Response.json({ message: "buttons" }, { status: 400 });
        parts.edited.put({ chat: first, message: String(last), text });
        return Response.json({ id: last });
      }
      const id = idOf();
      const [row] = listOf(body["components"]);
      const buttons = listOf(row?.["components"]).map((one) => ({
        label: String(one["label"]),
        token: String(one["custom_id"]),
      }));
      const reply = objectOf(body["message_reference"])["message_id"];
      parts.sent.put({ id, chat: first, text, buttons, replyTo: reply === undefined ? undefined : String(reply) });
      return Response.json({ id, channel_id: first });
    },
    websocket: {
      open(socket) {
        socket.send(JSON.stringify({ op: 10, d: { heartbeat_interval: 1_000 } }));
      },
      message(socket, data) {
        const { op, d } = objectOf(JSON.parse(String(data)));
        const asked = objectOf(d);
        if (op === 1) socket.send(JSON.stringify({ op: 11 }));
        if (op !== 2 && op !== 6) return;
        if (asked["token"] !== TOKEN) return socket.close(4004, "Authentication failed.");
        sockets.add(socket);
        if (op === 2) {
          const resume_gateway_url = `ws://127.0.0.1:${http.port}/gateway`;
          const ready = { session_id: SESSION, resume_gateway_url, user: { id: "1" } };
          socket.send(JSON.stringify({ op: 0, s: 1, t: "READY", d: ready }));
          return;
        }
        if (asked["session_id"] !== SESSION) return void socket.send(JSON.stringify({ op: 9, d: false }));
        for (const event of events) if (event.s > Number(asked["seq"])) socket.send(JSON.stringify(event));
        socket.send(JSON.stringify({ op: 0, s: events.length + 1, t: "RESUMED", d: {} }));
      },
      close(socket) {
        sockets.delete(socket);
      },
    },
  });
  return {
    ...parts,
    kind: "discord",
    access: { server: `http://127.0.0.1:${http.port}`, token: TOKEN },
    say(who, content, replyTo) {
      const reply = replyTo === undefined ? {} : { message_reference: { message_id: replyTo } };
      const author = { id: who.sender, username: `person${who.sender}` };
      add("MESSAGE_CREATE", { id: idOf(), channel_id: who.chat, author, content, ...reply });
    },
    press(who, message, custom_id) {
      add("INTERACTION_CREATE", {
        id: idOf(),
        token: "interaction-token",
        type: 3,
        channel_id: who.chat,
        message: { id: message },
        user: { id: who.sender },
        data: { custom_id, component_type: 2 },
      });
    },
    repeat() {
      for (const socket of sockets) for (const one of [...events].reverse()) socket.send(JSON.stringify(one));
    },
    cut() {
      for (const socket of sockets) socket.terminate();
    },
    close: () => http.stop(true),
  };
}
