/**
 * A49: bytes, depth, lines, values and events from outside are bounded. What tool servers, model providers, requests
 * and files send delays nobody else, takes little memory, and costs only the call that asked for it.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { mcpServerWhen } from "../mcp/wait.ts";
import { startWebServer, type WebServer } from "../mcp/web-server.ts";
import { MiB, one, type StallRig, stallRig } from "./stall-rig.ts";

setDefaultTimeout(300_000);

const MEMORY_BYTES = 300 * MiB;
const lists = (count: number) => `[${"[],".repeat(count)}[]]`;
const json = (body: string) => new Response(body, { headers: { "Content-Type": "application/json" } });
/** A tool server's answers, by the text of the call. */
const ANSWERS: Record<string, { answer(id: unknown): Response; says: RegExp }> = {
  "8 MB of line feeds before the answer": { answer: (id) => events("\n".repeat(8 * MiB), id), says: /> done/ },
  "8 MB of returns before the answer": { answer: (id) => events("\r".repeat(8 * MiB), id), says: /> done/ },
  "8 MB of both before the answer": { answer: (id) => events("\r\n".repeat(4 * MiB), id), says: /> done/ },
  "8 MB of comments before the answer": { answer: (id) => events(": x\n".repeat(2 * MiB), id), says: /> done/ },
  "100,000 messages of its log before the answer": {
    answer: (id) => events(notices("notifications/message", { level: "info", data: "x" }), id),
    says: /> done/,
  },
  "100,000 signs of progress before the answer": {
    answer: (id) => events(notices("notifications/progress", { progressToken: id, progress: 1, message: "x" }), id),
    says: /> done/,
  },
  "100,000 answers to what nobody asked": {
    answer: (id) => events('data: {"jsonrpc":"2.0","id":99999999,"result":{}}\n\n'.repeat(100_000), id),
    says: /> done/,
  },
  "a million lists": {
    answer: (id) =>
      json(`{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":{"a":${lists(MiB)}}}}`),
    says: /The server's answer is made of more than 100000 values/,
  },
  "100,000 lists in one another": {
    answer: (id) => json(`{"jsonrpc":"2.0","id":${id},"result":${"[".repeat(100_000)}${"]".repeat(100_000)}}`),
    says: /The server's answer is nested more than 200 levels deep/,
  },
  "6 MB": {
    answer: (id) =>
      json(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"${"x".repeat(6 * MiB)}"}]}}`),
    says: /The server's answer is longer than 4194304 bytes/,
  },
  "an event of 6 MB": {
    answer: (id) => events(`data: {"jsonrpc":"2.0","id":${id},"result":"${"x".repeat(6 * MiB)}"}\n\n`, id),
    says: /more than the 4194304 that a message may have/,
  },
  "2 million line breaks": {
    answer: (id) =>
      json(
        `{"jsonrpc":"2.0","id":${id},"result":{"resultType":"complete","content":[{"type":"text","text":"a${"\\n".repeat(2_000_000)}b"}]}}`,
      ),
    says: /web answers/,
  },
  "half a message": {
    answer: (id) => json(`{"jsonrpc":"2.0","id":${id},"result":`),
    says: /The server's answer is not JSON/,
  },
  "a result that is none": {
    answer: (id) => json(`{"jsonrpc":"2.0","id":${id},"result":{"resultType":"complete","content":5}}`),
    says: /say gave an answer that the protocol does not allow; it was dropped/,
  },
};
const notices = (method: string, params: object) =>
  `data: ${JSON.stringify({ jsonrpc: "2.0", method, params })}\n\n`.repeat(100_000);
const createResult = (id: unknown) =>
  `data: ${JSON.stringify({ jsonrpc: "2.0", id, result: { resultType: "complete", content: [{ type: "text", text: "done" }] } })}\n\n`;
/** An answer as an event stream, preceded by this text. */
const events = (before: string, id: unknown) =>
  new Response(`${before}\n\n${createResult(id)}`, { headers: { "Content-Type": "text/event-stream" } });

let rig: StallRig;
let web: WebServer;
beforeAll(async () => {
  web = startWebServer({
    async answer(request) {
      const { method, id, params } = (await request
        .clone()
        .json()
        .catch(() => ({}))) as { method?: string; id?: unknown; params?: { arguments?: { text?: string } } };
      return method === "tools/call" ? ANSWERS[params?.arguments?.text ?? ""]?.answer(id) : undefined;
    },
  });
  rig = await stallRig();
  await rig.must("POST", "/v1/mcp", { id: "web", transport: "http", url: web.url, agents: ["*"], timeout_ms: 120_000 });
  await mcpServerWhen(rig.server, "web", ({ status }) => status === "running");
  await rig.play({ name: "warm up", calls: one("web__say", { text: "half a message" }), says: /./ });
});
afterAll(async () => {
  await rig?.stop();
  await web?.stop();
});

/** The server's peak memory so far, in bytes. */
const mostMemory = (): number =>
  Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${rig.server.pid}/status`, "utf8"))?.[1]) * 1_024;

describe("a tool server that answers with", () => {
  test.each(Object.entries(ANSWERS))("%s holds up nobody", async (text, { says }) => {
    await rig.expectNoStall({ name: text, calls: one("web__say", { text }), says });
  });

  test("any of these keeps its connection, and so do its other tools", async () => {
    const connected = web.asked.length;
    const { output } = await rig.play({ name: "after", calls: one("web__say", { text: "hello" }), says: /./ });
    expect(output).toContain("> hello");
    // One request for the call shows that it did not reconnect.
    expect(web.asked.length - connected).toBe(1);
    expect((await rig.server.request<{ status: string }>("GET", "/v1/mcp/web")).body.status).toBe("running");
  });
});

describe("a model that calls with", () => {
  test.each([
    ["300,000 lists", `{"path":${lists(300_000)}}`, /not \(arguments made of more than 100000 values\)/],
    [
      "200,000 lists in one another",
      `{"path":${"[".repeat(200_000)}${"]".repeat(200_000)}}`,
      /not \(arguments nested more than 200 levels deep\)/,
    ],
  ])("%s holds up nobody, and is told so in a sentence", async (name, input, says) => {
    await rig.expectNoStall({ name, calls: one("read", input), says });
  });

  test.each([
    ["a line of 300 MB", "x".repeat(MiB), 300],
    ["300 MB of line feeds", "\n".repeat(MiB), 300],
  ])("%s takes little memory", async (_what, piece, times) => {
    let sent = 0;
    const flood = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () =>
        new Response(
          new ReadableStream({
            start: (controller) => controller.enqueue("data: "),
            pull(controller) {
              if (sent++ < times) controller.enqueue(piece);
              else controller.close();
            },
          }),
          { headers: { "Content-Type": "text/event-stream" } },
        ),
    });
    try {
      await rig.must("PUT", "/v1/settings/providers/custom-flood", {
        base_url: `http://127.0.0.1:${flood.port}/v1`,
        models: [{ id: "m", input_usd_per_mtok: 0, output_usd_per_mtok: 0, context_window: 1_000_000 }],
      });
      const agent = `flooded-${sent}-${times}-${piece.charCodeAt(0)}`;
      await rig.must("POST", "/v1/agents", { id: agent, prompt: "You work.", model: "custom-flood/m" });
      const before = mostMemory();
      const steps = [{ id: "work", agent, input: "Do it." }];
      await rig.must("POST", "/v1/pipelines", { id: agent, name: agent, steps });
      const { id } = await rig.must("POST", "/v1/runs", { pipeline_id: agent, task_description: "go" });
      await (await fetch(`${rig.server.url}/v1/events/stream?run_id=${id}&after=0`)).text();
      expect(sent).toBeGreaterThan(0);
      expect(mostMemory() - before).toBeLessThan(MEMORY_BYTES);
    } finally {
      await flood.stop(true);
    }
  });
});

describe("a request with", () => {
  test.each([
    ["300,000 lists", `{"name":${lists(300_000)}}`, "made of more than 100000 values"],
    ["a megabyte of brackets", `{"name":${"[".repeat(500_000)}`, "nested more than 200 levels deep"],
  ])("%s is refused with what is too much", async (name, body, fault) => {
    for (const path of ["/v1/pipelines/validate", "/v1/agents", "/v1/runs"]) {
      const headers = { "Content-Type": "application/json" };
      const send = () => fetch(rig.server.url + path, { method: "POST", headers, body });
      expect(await (await send()).json()).toMatchObject({
        code: "too_much_json",
        detail: expect.stringContaining(fault),
      });
      await rig.requestWithoutStall(`${name} to ${path}`, send);
    }
  });

  test.each(["[a]", "{a: b}", "[]", "a: b\n", "\n", "\t\n", "- ", "? a\n", "--- a\n", "a: |\n x\n", '"a" ', "# c\n"])(
    "YAML of %j, twelve times at once, waits its turn",
    async (piece) => {
      const source = piece.repeat(Math.floor(198_000 / piece.length));
      const send = () => rig.server.request("POST", "/v1/pipelines/validate", { body: { source } });
      await rig.requestWithoutStall(JSON.stringify(piece), async () => {
        const answers = await Promise.all(Array.from({ length: 12 }, send));
        return { status: Math.max(...answers.map(({ status }) => status)) };
      });
    },
  );
});
