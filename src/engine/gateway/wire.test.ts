/** The three wire protocols: requests as programs send them, replies as programs read them. */
import { describe, expect, test } from "bun:test";
import type { ModelReply } from "../model.ts";
import { chat } from "./chat.ts";
import { messages } from "./messages.ts";
import { responses } from "./responses.ts";
import { ownToolName, renameTools } from "./scripted-tools.ts";
import type { WireProtocol } from "./wire.ts";

const TOOL = { name: "look", description: "Looks.", parameters: { type: "object", properties: {} } };
const { name, description, parameters } = TOOL;

/** The same conversation in each protocol. */
const REQUESTS: [WireProtocol, Record<string, unknown>][] = [
  [
    chat,
    {
      messages: [
        { role: "system", content: "Be terse." },
        { role: "user", content: [{ type: "text", text: "Hi" }] },
        {
          ...{ role: "assistant", content: "I look." },
          tool_calls: [{ id: "c1", type: "function", function: { name: "look", arguments: '{"at":1}' } }],
        },
        { role: "tool", tool_call_id: "c1", content: "a wall" },
      ],
      tools: [{ type: "function", function: TOOL }],
      max_tokens: 7,
    },
  ],
  [
    responses,
    {
      instructions: "Be terse.",
      input: [
        { role: "user", content: [{ type: "input_text", text: "Hi" }] },
        { type: "reasoning", encrypted_content: "opaque" },
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "I look." }] },
        { type: "function_call", call_id: "c1", name: "look", arguments: '{"at":1}' },
        { type: "function_call_output", call_id: "c1", output: "a wall" },
      ],
      tools: [{ type: "function", ...TOOL }, { type: "web_search" }],
      max_output_tokens: 7,
    },
  ],
  [
    messages,
    {
      system: [{ type: "text", text: "Be terse." }],
      messages: [
        { role: "user", content: "Hi" },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "…" },
            { type: "text", text: "I look." },
            { type: "tool_use", id: "c1", name: "look", input: { at: 1 } },
          ],
        },
        {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: "c1", content: [{ type: "text", text: "a wall" }] }],
        },
      ],
      tools: [
        { name, description, input_schema: parameters },
        { type: "web_search_20250305", name: "web_search" },
      ],
      max_tokens: 7,
    },
  ],
];

const REPLY: ModelReply = {
  parts: [
    { type: "thinking", text: "hm" },
    { type: "text", text: "Now this." },
    { type: "tool_call", call_id: "c2", tool: "look", input: { at: 2 } },
  ],
  ...{ finish: "tool_calls", cost_usd: 0, cost_source: "table", key_source: "none", provider: "demo", model: "m" },
  ...{ duration_ms: 1, time_to_first_token_ms: 1, attempts: 1 },
  usage: { input_tokens: 10, output_tokens: 5, cache_read_tokens: 2, cache_write_tokens: 0, reasoning_tokens: 1 },
};

describe.each(REQUESTS.map(([protocol, body]) => [protocol.name, protocol, body] as const))(
  "%s",
  (_, protocol, body) => {
    test("a request is read into the engine's words", () => {
      const wire = protocol.read({ ...body, model: "m", stream: true });
      expect(wire).toMatchObject({ model: "m", stream: true });
      expect(wire.request).toEqual({
        system: "Be terse.",
        messages: [
          { role: "user", parts: [{ type: "text", text: "Hi" }] },
          {
            role: "assistant",
            parts: [
              { type: "text", text: "I look." },
              { type: "tool_call", call_id: "c1", tool: "look", input: { at: 1 } },
            ],
          },
          { role: "tool", results: [{ call_id: "c1", tool: "look", ok: true, output: "a wall" }] },
        ],
        tools: [TOOL],
        maxOutputTokens: 7,
      });
    });

    test("what is no request of it is read as little, and throws nothing", () => {
      for (const odd of [{}, { messages: 5, input: {} }, { messages: [null, 1, { content: {} }], input: [[], {}] }])
        expect(protocol.read(odd).request.tools).toEqual([]);
    });

    test("a reply has its words once, its call and its counts, in a stream and whole", () => {
      const writer = protocol.writer({ model: "m" });
      const stream = writer.thinking("hm") + writer.text("Now ") + writer.text("this.") + writer.end(REPLY);
      for (const line of stream.split("\n"))
        if (line.startsWith("data: {")) expect(() => JSON.parse(line.slice(6))).not.toThrow();
      for (const text of [stream, JSON.stringify(protocol.whole({ model: "m" }, REPLY))]) {
        expect(text).toContain('"c2"');
        expect(text).toMatch(/"(completion|output)_tokens":5/);
      }
      expect(stream).toMatch(/Now [\s\S]*this\./);
    });

    test("a used-up budget is an error that its clients do not try again", () => {
      const { status, body: said } = protocol.failure({ kind: "quota", message: "The run budget is used up." });
      expect([status, JSON.stringify(said)]).toEqual(
        protocol === messages
          ? [402, expect.stringContaining("billing_error")]
          : [429, expect.stringContaining("insufficient_quota")],
      );
    });
  },
);

test("a tool in a space of its own keeps both its names", () => {
  const tools = [{ type: "namespace", name: "mcp__skep", tools: [{ type: "function", ...TOOL }] }];
  const wire = responses.read({ input: "Hi", tools });
  expect(wire.request.tools.map((tool) => tool.name)).toEqual(["mcp__skep__look"]);
  const call = { type: "tool_call" as const, call_id: "c", tool: "mcp__skep__look", input: {} };
  const text = JSON.stringify(responses.whole(wire, { ...REPLY, parts: [call] }));
  expect(text).toContain('"namespace":"mcp__skep","name":"look"');
});

test.each([
  ["skep_complete", "complete"],
  ["mcp__skep__complete", "complete"],
  ["skep.code_graph_query", "code_graph_query"],
  ["skeptical", undefined],
  ["complete", undefined],
])("%s is Skep's %s", (given, own) => expect(ownToolName(given)).toBe(own));

test("the scripted model calls Skep's tools by their own names, any other model by the program's", () => {
  const body = { messages: [], tools: [{ type: "function", function: { ...TOOL, name: "skep_complete" } }] };
  const scripted = renameTools(chat.read(body), "demo/scripted");
  expect([scripted.request.tools[0]?.name, scripted.nameOf("complete")]).toEqual(["complete", "skep_complete"]);
  expect(renameTools(chat.read(body), "openai/gpt-5").request.tools[0]?.name).toBe("skep_complete");
});
