import { afterAll, expect, test } from "bun:test";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { systemClock } from "../core/clock.ts";
import { rawConnection } from "../testing/raw-connection.ts";
import { createBodies } from "./body.ts";
import { listen } from "./server.ts";

const STREAM_HEADERS = { "Content-Type": "text/event-stream; charset=utf-8" };
let stream: ReadableStreamDefaultController<Uint8Array>;
const untaken = Promise.withResolvers<void>();
const server = listen({
  gate: async ({ url, signal }) => {
    if (url.endsWith("/large")) signal.addEventListener("abort", () => untaken.resolve());
    if (url.endsWith("/throws")) throw new Error("a secret of the inside");
    if (!url.endsWith("/stream")) return new Response("x".repeat(url.endsWith("/large") ? 20_000_000 : 1));
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        stream = controller;
      },
    });
    return new Response(body, { headers: STREAM_HEADERS });
  },
  bodies: createBodies(systemClock, tmpdir()),
  host: "127.0.0.1",
  port: 0,
  endStreams() {},
  keepAliveMs: 2_000,
});
afterAll(() => server.stop());
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: ${new URL(server.url).host}\r\n\r\n`;

test("a connection that stalls is closed: after an answer, in a second head, before the answer is taken; a stream is not", async () => {
  const ask = async (path: string) => {
    const connection = await rawConnection(server);
    await connection.send(get(path));
    return connection;
  };
  const [idle, dripping, streaming] = [await ask("/"), await ask("/"), await ask("/stream")];
  // This client never reads its answer.
  const deaf = new Socket().connect(server.port, "127.0.0.1", () => deaf.write(get("/large")));
  deaf.on("error", () => {});
  const drip = setInterval(() => void dripping.send("G"), 200);
  expect([await idle.readUntilClose(), await dripping.readUntilClose()].map((text) => text.slice(9, 12))).toEqual([
    "200",
    "200",
  ]);
  clearInterval(drip);
  await untaken.promise;
  deaf.destroy();
  expect(streaming.isOpen).toBe(true);
  stream.enqueue(new TextEncoder().encode("data: still here\n\n"));
  await streaming.until(/still here/);
  streaming.destroy();
}, 300_000);

test("whatever is thrown in front of the application is a problem that names nothing", async () => {
  const connection = await rawConnection(server);
  await connection.send(get("/throws"));
  const text = await connection.until(/"request_id".*\}/);
  connection.destroy();
  expect(text).toStartWith("HTTP/1.1 500");
  expect(text).toContain("application/problem+json");
  expect(text).not.toContain("inside");
});
