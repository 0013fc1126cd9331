/**
 * Models whose servers do not support tools: the tools are described in the text, and the calls are read from the
 * reply's text.
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { systemClock } from "../../core/clock.ts";
import type { ModelMessage, ModelReply, PassedOn } from "../../engine/model.ts";
import {
  CANARY_KEY,
  CHAT,
  createPortFixture,
  OLLAMA,
  type PortFixture,
  requestFor,
} from "../../testing/model-cases.ts";
import { type Behaviour, type RecordedRequest, reply } from "../../testing/model-server.ts";
import { createCatalogue } from "./catalogue.ts";
import { createModelPort } from "./model-port.ts";

let fixture: PortFixture;
beforeEach(async () => {
  fixture = await createPortFixture();
});
afterEach(() => fixture.server.stop());

const CALL = 'I write it.\n<tool_call>\n{"name": "write", "arguments": {"path": "a.txt"}}\n</tool_call>';
const WRITE = { type: "tool_call", tool: "write", input: { path: "a.txt" } };
const bodyOf = ({ body }: RecordedRequest) =>
  body as { messages: { role: string; content: unknown }[]; tools?: unknown };
/** A server that does not support tools: it refuses requests with tools, and passes text through. */
const toolless =
  (status: number, message: string) =>
  (request: RecordedRequest): Behaviour =>
    bodyOf(request).tools === undefined
      ? reply({ text: CALL })
      : { kind: "status", status, body: request.path === "/api/chat" ? { error: message } : { error: { message } } };

describe("a server that refuses tools", () => {
  test.each([
    ["Ollama", OLLAMA, 400, "registry.ollama.ai/library/gemma:latest does not support tools"],
    ["OpenRouter", CHAT, 404, "No endpoints found that support tool use. Try disabling write."],
    ["vLLM", CHAT, 400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'],
    ["llama.cpp", CHAT, 500, "tools param requires --jinja flag"],
    ["Groq", CHAT, 400, "`tool calling` is not supported with this model"],
  ])("%s: is asked again with them in the text, and with that alone from then on", async (_, one, status, message) => {
    fixture.server.answerBy(toolless(status, message));
    const port = fixture.port(one);
    for (const attempts of [2, 1]) {
      const answer = await port.call(requestFor(one));
      expect(answer).toMatchObject({ finish: "tool_calls", attempts, parts: [{ text: "I write it." }, WRITE] });
    }
    expect(fixture.server.requests).toHaveLength(3);
    const [system] = bodyOf(fixture.server.requests.at(-1)!).messages;
    expect(system).toMatchObject({ role: "system", content: expect.stringContaining('"name":"write"') });
  });

  test("a refusal of anything else is no reason to ask again", async () => {
    fixture.server.next({ kind: "status", status: 400, body: { error: { message: "the tools are broken" } } });
    expect(await fixture.call(CHAT)).toMatchObject({ finish: "error", attempts: 1, error: { code: "provider_error" } });
  });
});

const lab = (tools: boolean) =>
  createModelPort({
    keys: {
      resolve: async () => ({ apiKey: CANARY_KEY, source: "instance", baseUrl: `${fixture.server.origin}/v1` }),
    },
    prices: createCatalogue({ clock: systemClock, overrides: () => [{ id: "m1", tools }] }),
    clock: systemClock,
    scripted: { call: () => Promise.reject(new Error("not scripted")) },
    limits: { attempts: 2, backoffMs: 1, backoffMaxMs: 1 },
  });

describe("a model that was set to take none", () => {
  test("is never sent any, and reads of its earlier calls in words, in turns", async () => {
    fixture.server.next(reply({ text: CALL }));
    const messages: ModelMessage[] = [
      { role: "user", parts: [{ type: "text", text: "Hi" }] },
      { role: "assistant", parts: [{ type: "tool_call", call_id: "c1", tool: "write", input: { path: "b" } }] },
      { role: "tool", results: [{ call_id: "c1", tool: "write", ok: false, output: "no room" }] },
      { role: "user", parts: [{ type: "text", text: "And now?" }] },
    ];
    const answer = await lab(false).call(requestFor(CHAT, { messages }));
    expect(answer).toMatchObject({ finish: "tool_calls", attempts: 1, parts: [{ type: "text" }, WRITE] });
    const body = bodyOf(fixture.server.requests[0]!);
    expect(body.tools).toBeUndefined();
    expect(body.messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "user"]);
    expect(JSON.stringify(body.messages[2])).toContain('<tool_call>\\n{\\"name\\":\\"write\\"');
    expect(JSON.stringify(body.messages[3])).toMatch(/write failed:\\nno room.*And now\?/);
  });

  const pass = async (port: ReturnType<typeof lab>): Promise<PassedOn | ModelReply | undefined> => {
    const { signal } = new AbortController();
    const body = { messages: [{ role: "user", content: "Hi" }], tools: [{ type: "function" }] };
    return port.pass?.({ protocol: "chat", model: CHAT.model, body, headers: {}, signal });
  };

  test("is asked in Skep's own words for an external agent, too", async () => {
    expect(await pass(lab(false))).toBeUndefined();
    expect(fixture.server.requests).toEqual([]);
  });

  test("an external agent's request that its server refuses for its tools is made in Skep's own words", async () => {
    fixture.server.answerBy(toolless(400, "m1 does not support tools"));
    const port = lab(true);
    expect(await pass(port)).toBeUndefined();
    expect(fixture.server.requests).toHaveLength(1);
    expect(await port.call(requestFor(CHAT))).toMatchObject({ attempts: 1, parts: [{ type: "text" }, WRITE] });
  });
});
