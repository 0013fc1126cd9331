/**
 * A call to a tool server that floods ends at its time limit: the flood blocks neither the timer nor the event loop.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newId } from "../../core/ids.ts";
import { membersOf } from "../../core/is-object.ts";
import { BUN, ODD_SERVER } from "../../testing/mcp/image.ts";
import { startWebServer, type WebServer } from "../../testing/mcp/web-server.ts";
import { createProcessToolServers } from "../sandbox/process/tool-servers.ts";
import { type Connection, connectServer, type Target } from "./client.ts";
import { createHttpFetch } from "./http-fetch.ts";

setDefaultTimeout(300_000);

/**
 * The flood never ends, so a call that waited for its end would wait forever. The tests show that the call ends at this
 * limit.
 */
const LIMIT_MS = 1_000;
const BYTES = 4 * 1024 * 1024;
const notice = (method: string, params: object) => JSON.stringify({ jsonrpc: "2.0", method, params });
const LOG = notice("notifications/message", { level: "info", data: "x" });
const UNASKED = JSON.stringify({ jsonrpc: "2.0", id: 99_999_999, result: {} });
const never = new AbortController().signal;

const folder = mkdtempSync(join(tmpdir(), "skep-mcp-flood-"));
const open: Connection[] = [];
/** The text that the HTTP server repeats until the reader disconnects. */
let piece = "";
let web: WebServer;
beforeAll(() => {
  web = startWebServer({
    async answer(request) {
      const asked: unknown = await request
        .clone()
        .json()
        .catch(() => undefined);
      if (membersOf(asked)["method"] !== "tools/call") return undefined;
      const block = new TextEncoder().encode(piece.repeat(Math.ceil((256 * 1024) / piece.length)));
      const flood = new ReadableStream<Uint8Array>({
        async pull(controller) {
          await new Promise(setImmediate);
          controller.enqueue(block);
        },
      });
      return new Response(flood, { headers: { "Content-Type": "text/event-stream" } });
    },
  });
});
afterAll(async () => {
  await Promise.all(open.map((one) => one.close()));
  await web.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function connect(target: Target): Promise<Connection> {
  const connection = await connectServer(target, {
    // So long that only the limit of the call itself ends it.
    timeoutMs: 240_000,
    maxMessageBytes: BYTES,
    maxNoiseBytes: Number.POSITIVE_INFINITY,
    signal: never,
    onLog() {},
    onToolsChanged() {},
  });
  open.push(connection);
  return connection;
}
const overPipe = () => {
  const spec = { server: newId("job"), command: BUN, args: [ODD_SERVER], env: {}, folder };
  const servers = createProcessToolServers({ instanceId: newId("instance"), allowHostShell: true });
  return connect({
    transport: "stdio",
    open: (events, signal) => servers.open({ ...spec, network: "none", memoryMb: 256 }, events, signal),
  });
};
const overHttp = () =>
  connect({
    transport: "http",
    url: web.url,
    headers: {},
    fetch: createHttpFetch({
      resolve: async () => ({ address: "127.0.0.1", family: 4 }),
      userAgent: "skep",
      maxBytes: BYTES,
      timeoutMs: 240_000,
      onLog() {},
    }),
  });

/** Calls a tool that floods with this text. @returns the code of the error that ended the call. */
async function callFlood(connection: Connection, text: string, timeoutMs = LIMIT_MS) {
  piece = text;
  const definition = { name: "flood", inputSchema: { type: "object" } };
  const problem: unknown = await connection
    .callTool(definition, { piece: text }, { signal: never, timeoutMs, onProgress() {} })
    .catch((error: unknown) => error);
  return membersOf(problem)["code"];
}

describe("a call ends at its limit while the tool server writes without end", () => {
  test.each([
    ["line feeds", "\n"],
    ["messages of its log", `${LOG}\n`],
    ["answers to what nobody asked", `${UNASKED}\n`],
    ["lines that are no message", "noise\n"],
    ["one line", "noise"],
  ])("%s, on a pipe", async (_what, text) => {
    const code = await callFlood(await overPipe(), text);
    expect(code).toBe("mcp_timeout");
  });

  test.each([
    ["line feeds", "\n"],
    ["returns", "\r"],
    ["comments", ": x\n"],
    ["messages of its log", `data: ${LOG}\n\n`],
    ["answers to what nobody asked", `data: ${UNASKED}\n\n`],
    ["one line", "data"],
  ])("%s, over HTTP", async (_what, text) => {
    const code = await callFlood(await overHttp(), text);
    // A stream without messages may also be given up for its number of bytes.
    expect(["mcp_timeout", "mcp_call_failed", "mcp_call_refused"]).toContain(String(code));
  });

  test("signs of progress, however many", async () => {
    const progress = notice("notifications/progress", { progressToken: 1, progress: 1, message: "x" });
    const code = await callFlood(await overPipe(), `${progress}\n`, 100);
    expect(code).toBe("mcp_timeout");
  });
});
