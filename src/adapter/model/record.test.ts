import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { appendFile, mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../core/clock.ts";
import { newId } from "../../core/ids.ts";
import { createMasker } from "../../core/masking.ts";
import type { ModelMessage, ModelPort, ModelRequest } from "../../engine/model.ts";
import { createModelServer, reply } from "../../testing/model-server.ts";
import { createCatalogue } from "./catalogue.ts";
import { createModelPort } from "./model-port.ts";
import { createRecorder, createReplay } from "./record.ts";

const KEY = "sk-canary-0123456789abcdef";
const prices = createCatalogue({ clock: systemClock });
let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "skep-cassette-"));
});
afterAll(() => rm(root, { recursive: true }));

const request = (content: string, more: Partial<ModelRequest> = {}): ModelRequest => ({
  model: "custom-lab/m",
  system: `Run ${newId("run")} at ${new Date().toISOString()}.`,
  messages: [{ role: "user", parts: [{ type: "text", text: content }] }],
  tools: [{ name: "ls", description: "lists", parameters: { type: "object" } }],
  thinkingLevel: "off",
  scope: { agentId: "scribe", stepId: "greet", sessionId: newId("session") },
  signal: new AbortController().signal,
  ...more,
});

/** Records a cassette of the requests that `play` makes to a test server. */
async function cassette(name: string, play: (port: ModelPort, next: (text: string) => void) => Promise<void>) {
  const path = join(root, name);
  const server = await createModelServer();
  const port = createModelPort({
    keys: { resolve: () => ({ apiKey: KEY, source: "user", baseUrl: server.origin }) },
    prices,
    clock: systemClock,
    scripted: { call: () => Promise.reject(new Error("no")) },
    limits: { attempts: 1 },
  });
  const recorder = createRecorder({ port, path, masker: createMasker({ TOKEN: "granted-secret-1" }) });
  await play(recorder, (text) => server.next(reply({ text })));
  await recorder.flush();
  await server.stop();
  return { path, replay: await createReplay({ path, clock: systemClock, info: { info: prices.describeModel } }) };
}

const text = (parts: { type: string; text?: string }[]) => parts.map((part) => part.text ?? "").join("");

describe("record and replay", () => {
  test("a recorded call plays back without a network, in another run, at another time, and costs nothing", async () => {
    const { replay } = await cassette("a.jsonl", async (port, next) => {
      next("Hello there");
      await port.call(request("hi"));
    });
    const shown: string[] = [];
    const answer = await replay.call(request("hi", { onText: (piece) => void shown.push(piece) }));
    expect(answer).toMatchObject({ finish: "stop", model: "custom-lab/m", cost_usd: 0, key_source: "none" });
    expect(text(answer.parts)).toBe("Hello there");
    expect(shown.join("")).toBe("Hello there");
  });

  test("the same request made twice gets its replies in order, whatever comes between", async () => {
    const { replay } = await cassette("b.jsonl", async (port, next) => {
      for (const [said, answered] of [
        ["again", "one"],
        ["other", "two"],
        ["again", "three"],
      ] as const) {
        next(answered);
        await port.call(request(said));
      }
    });
    expect(text((await replay.call(request("again"))).parts)).toBe("one");
    expect(text((await replay.call(request("again"))).parts)).toBe("three");
    expect(text((await replay.call(request("other"))).parts)).toBe("two");
    expect(text((await replay.call(request("again"))).parts)).toBe("three");
  });

  test("ids of tool calls and provider data do not matter, outputs of tools do", async () => {
    const history = (call_id: string, output: string): ModelMessage[] => [
      { role: "user", parts: [{ type: "text", text: "hi" }] },
      { role: "assistant", parts: [{ type: "tool_call", call_id, tool: "ls", input: { path: "." } }] },
      { role: "tool", results: [{ call_id, tool: "ls", ok: true, output }] },
    ];
    const { replay } = await cassette("c.jsonl", async (port, next) => {
      next("seen");
      await port.call(request("", { messages: history("call_1", "README.md") }));
    });
    const same = await replay.call(request("", { messages: history("call_2", "README.md") }));
    expect(text(same.parts)).toBe("seen");
    const other = await replay.call(request("", { messages: history("call_2", "LICENSE") }));
    expect(other).toMatchObject({ finish: "error", error: { code: "replay_miss", retryable: false } });
    expect(other.error!.message).toContain("message 3 (tool) differs");
    expect(other.error!.message).toContain("README.md");
    expect(other.error!.message).toContain("LICENSE");
    expect(other.error!.message).toContain("turn 2 of agent scribe, step greet");
  });

  test("a miss names the model, the tools or the system prompt when these differ", async () => {
    const { replay } = await cassette("d.jsonl", (port) => port.call(request("hi")).then(() => {}));
    const miss = async (more: Partial<ModelRequest>) => (await replay.call(request("hi", more))).error!.message;
    expect(await miss({ model: "custom-lab/other" })).toContain("the model differs");
    expect(await miss({ tools: [] })).toContain("the tools differ");
    expect(await miss({ system: "Be kind." })).toContain("the system prompt differs");
  });

  test("the cassette holds no key and no granted secret, and only its owner may read it", async () => {
    const { path } = await cassette("e.jsonl", async (port, next) => {
      next("it is granted-secret-1");
      await port.call(request("what is granted-secret-1?"));
    });
    const written = await readFile(path, "utf8");
    expect(written).not.toContain(KEY);
    expect(written).not.toContain("granted-secret-1");
    expect(written).toContain("[secret:TOKEN]");
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test("a cassette cut by a kill plays what is whole; a file of something else is refused with the line", async () => {
    const { path } = await cassette("f.jsonl", (port) => port.call(request("hi")).then(() => {}));
    await appendFile(path, '{"v":1,"requ');
    const cut = await createReplay({ path, clock: systemClock, info: { info: prices.describeModel } });
    expect((await cut.call(request("hi"))).finish).toBe("stop");
    await appendFile(path, "\n{}\n");
    expect(createReplay({ path, clock: systemClock, info: { info: prices.describeModel } })).rejects.toThrow("line 3");
  });

  test("a cassette that cannot be written does not fail the call", async () => {
    const warned: string[] = [];
    const inner = (await cassette("g.jsonl", (port) => port.call(request("hi")).then(() => {}))).replay;
    const log = { warn: (_: unknown, message: string) => void warned.push(message) };
    const recorder = createRecorder({ port: inner, path: join(root, "missing", "x.jsonl"), log });
    expect((await recorder.call(request("hi"))).finish).toBe("stop");
    await recorder.flush();
    expect(warned.length).toBe(1);
  });
});
