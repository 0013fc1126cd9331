/** The gateway's wire protocols: requests as programs send them, and replies as programs read them. */
import { describe, expect, test } from "bun:test";
import type { ModelReply } from "../model.ts";
import { boundBody, boundHeaders } from "./bounds.ts";
import { chat } from "./chat.ts";
import { GENERATION_BOUNDS, gemini, geminiCallIn } from "./gemini.ts";
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
          role: "assistant",
          content: "I look.",
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
  [
    gemini,
    {
      systemInstruction: { parts: [{ text: "Be terse." }] },
      contents: [
        { role: "user", parts: [{ text: "Hi" }] },
        {
          role: "model",
          parts: [
            { text: "…", thought: true },
            { text: "I look." },
            { functionCall: { id: "c1", name, args: { at: 1 } } },
          ],
        },
        { role: "user", parts: [{ functionResponse: { name, response: { output: "a wall" } } }] },
      ],
      tools: [{ functionDeclarations: [{ name, description, parameters: { type: "OBJECT", properties: {} } }] }],
      generationConfig: { maxOutputTokens: 7 },
    },
  ],
];

const REPLY: ModelReply = {
  parts: [
    { type: "thinking", text: "hm" },
    { type: "text", text: "Now this." },
    { type: "tool_call", call_id: "c2", tool: "look", input: { at: 2 } },
  ],
  finish: "tool_calls",
  cost_usd: 0,
  cost_source: "table",
  key_source: "none",
  provider: "demo",
  model: "m",
  duration_ms: 1,
  time_to_first_token_ms: 1,
  attempts: 1,
  usage: { input_tokens: 10, output_tokens: 5, cache_read_tokens: 2, cache_write_tokens: 0, reasoning_tokens: 1 },
};

describe.each(REQUESTS.map(([protocol, body]) => [protocol.name, protocol, body] as const))(
  "%s",
  (_, protocol, body) => {
    test("a request is read into the engine's words", () => {
      const wire = protocol.read({ ...body, model: "m", stream: true });
      // Gemini has both in the URL.
      if (protocol !== gemini) expect(wire).toMatchObject({ model: "m", stream: true });
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
        expect(text).toMatch(/"(completion|output)_tokens":5|"candidatesTokenCount":4,"thoughtsTokenCount":1/);
      }
      expect(stream).toMatch(/Now [\s\S]*this\./);
    });

    test("a used-up budget is an error that its clients do not try again", () => {
      const { status, body: said } = protocol.failure({ kind: "quota", message: "The run budget is used up." });
      expect([status, JSON.stringify(said)]).toEqual(
        protocol === messages
          ? [402, expect.stringContaining("billing_error")]
          : [429, expect.stringMatching(/insufficient_quota|RESOURCE_EXHAUSTED/)],
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

const LONG = { type: "text", text: "a", cache_control: { type: "ephemeral", ttl: "1h" } };
test.each([
  [true, { system: [LONG] }],
  [true, { tools: [{ name: "look", input_schema: {}, cache_control: LONG.cache_control }] }],
  [true, { messages: [{ role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: [LONG] }] }] }],
  [false, { system: [{ ...LONG, cache_control: { type: "ephemeral", ttl: "5m" } }] }],
  [false, { messages: [{ role: "user", content: '"cache_control":{"ttl":"1h"}' }] }],
])("whether the prompt is kept for an hour, at its price: %s", (expected, body) =>
  expect(messages.read(body).cachesForHour).toBe(expected),
);

describe("a request goes around neither the budget nor the model", () => {
  const URL_IMAGE = "https://example.com/i.png";
  const user = (...content: object[]) => [{ role: "user", content }];
  const parts = (...given: object[]) => ({ contents: [{ role: "user", parts: given }] });
  const REFUSED: [WireProtocol, string, Record<string, unknown>][] = [
    [chat, "`n`", { n: 2 }],
    [chat, "`best_of`", { best_of: 5 }],
    [chat, "`service_tier`", { service_tier: "priority" }],
    [chat, "`web_search_options`", { web_search_options: {} }],
    [chat, "`models`", { models: ["openai/o1-pro"] }],
    [chat, "`plugins`", { plugins: [{ id: "web" }] }],
    [chat, "`store`", { store: true }],
    [chat, "`modalities`", { modalities: ["text", "audio"] }],
    [chat, "web_search", { tools: [{ type: "web_search" }] }],
    [chat, "`image_url`", { messages: user({ type: "image_url", image_url: { url: URL_IMAGE } }) }],
    [chat, "`file_id`", { messages: user({ type: "file", file: { file_id: "file-1" } }) }],
    [chat, "`file_data`", { messages: user({ type: "file", file: { file_data: "https://example.com/a.pdf" } }) }],
    ...["previous_response_id", "conversation", "prompt"].map(
      (name): [WireProtocol, string, Record<string, unknown>] => [responses, `\`${name}\``, { [name]: "x" }],
    ),
    [responses, "`background`", { background: true }],
    [responses, "`service_tier`", { service_tier: "priority" }],
    ...[
      "web_search",
      "file_search",
      "code_interpreter",
      "image_generation",
      "mcp",
      "computer_use_preview",
      "shell",
    ].map((type): [WireProtocol, string, Record<string, unknown>] => [responses, type, { tools: [{ type }] }]),
    [responses, "namespace", { tools: [{ type: "namespace", name: "n", tools: [{ type: "web_search" }] }] }],
    [responses, "`image_url`", { input: user({ type: "input_image", image_url: URL_IMAGE }) }],
    [responses, "`file_url`", { input: user({ type: "input_file", file_url: URL_IMAGE }) }],
    [responses, "`item_reference`", { input: [{ type: "item_reference", id: "rs_1" }] }],
    [
      responses,
      "`image_url`",
      {
        input: [
          { type: "function_call_output", call_id: "c", output: [{ type: "input_image", image_url: URL_IMAGE }] },
        ],
      },
    ],
    [messages, "`service_tier`", { service_tier: "priority" }],
    [messages, "`speed`", { speed: "fast" }],
    [messages, "`inference_geo`", { inference_geo: "us" }],
    [messages, "`mcp_servers`", { mcp_servers: [{ type: "url", url: URL_IMAGE }] }],
    [messages, "`container`", { container: "c_1" }],
    ...["web_search_20250305", "web_fetch_20250910", "code_execution_20250825", "mcp_toolset"].map(
      (type): [WireProtocol, string, Record<string, unknown>] => [messages, type, { tools: [{ type, name: "x" }] }],
    ),
    [messages, "`source`", { messages: user({ type: "image", source: { type: "url", url: URL_IMAGE } }) }],
    [messages, "`source`", { messages: user({ type: "document", source: { type: "file", file_id: "f" } }) }],
    [messages, "`container_upload`", { messages: user({ type: "container_upload", file_id: "f" }) }],
    [
      messages,
      "`source`",
      {
        messages: user({ type: "tool_result", content: [{ type: "image", source: { type: "url", url: URL_IMAGE } }] }),
      },
    ],
    [gemini, "`cachedContent`", { cachedContent: "cachedContents/1" }],
    [gemini, "`serviceTier`", { serviceTier: "priority" }],
    ...["googleSearch", "urlContext", "codeExecution", "fileSearch", "google_search"].map(
      (name): [WireProtocol, string, Record<string, unknown>] => [gemini, name, { tools: [{ [name]: {} }] }],
    ),
    [gemini, "`fileUri`", parts({ fileData: { fileUri: "gs://bucket/x" } })],
    [gemini, "`file_uri`", parts({ file_data: { file_uri: URL_IMAGE } })],
    [gemini, "`fileUri`", parts({ functionResponse: { name: "f", parts: [{ fileData: { fileUri: URL_IMAGE } }] } })],
  ];
  test.each(REFUSED.map(([protocol, what, body]) => [protocol.name, what, protocol, body] as const))(
    "%s: %s is refused",
    (_, what, protocol, body) => {
      expect(() => boundBody(body, protocol.bounds)).toThrow(what);
    },
  );

  test("several replies, and other things than words, are refused in Gemini's settings, too", () => {
    const refused = [{ candidateCount: 2 }, { responseModalities: ["IMAGE"] }, { speechConfig: {} }];
    for (const settings of refused) expect(() => boundBody(settings, GENERATION_BOUNDS)).toThrow("would go around");
  });

  test("what programs send every day passes, and what nobody knows is left out", () => {
    const data = "data:image/png;base64,AAAA";
    const call = { type: "function", id: "c", function: { name: "open", arguments: '{"file_id":"mine"}' } };
    const said = [...user({ type: "image_url", image_url: { url: data } }), { role: "assistant", tool_calls: [call] }];
    const body = { messages: said, n: 1, service_tier: "auto", store: false, next_years_feature: { costs: "much" } };
    expect(boundBody(body, chat.bounds)).toEqual({ messages: said });
    const input = { url: "https://example.com", file_id: "mine", source: { type: "url" } };
    const used = { messages: [{ role: "assistant", content: [{ type: "tool_use", id: "c", name: "open", input }] }] };
    expect(boundBody(used, messages.bounds)).toEqual(used);
    const answered = parts({ functionResponse: { name: "open", response: { fileUri: "mine" } } });
    expect(boundBody(answered, gemini.bounds)).toEqual(answered);
    const tools = [
      { type: "function", name: "f" },
      { type: "custom" },
      { type: "shell", environment: { type: "local" } },
    ];
    expect(boundBody({ tools }, responses.bounds)).toEqual({ tools });
  });

  test("features that cost more or act by themselves are not asked for in headers", () => {
    const given = "claude-code-20250219, context-1m-2025-08-07,mcp-client-2025-04-04,interleaved-thinking-2025-05-14";
    const headers = { "anthropic-beta": given, "anthropic-version": "2023-06-01", "openai-beta": "assistants=v2" };
    expect(boundHeaders(new Headers({ ...headers, "x-forwarded-host": "e" }))).toEqual({
      "anthropic-version": "2023-06-01",
      "anthropic-beta": "claude-code-20250219,interleaved-thinking-2025-05-14",
    });
  });

  test.each([
    ["/v1beta/models/gemini-2.5-pro:generateContent", { model: "gemini-2.5-pro", method: "generate" }],
    ["/v1beta/models/openai%2Fgpt-5:streamGenerateContent?alt=sse", { model: "openai/gpt-5", method: "stream" }],
    ["/v1beta/models/m:streamGenerateContent", undefined],
    ["/v1beta/models/m:batchGenerateContent", undefined],
    ["/v1beta/cachedContents", undefined],
    ["/v1beta/models/%ff:generateContent", undefined],
  ])("the address %s", (path, call) => {
    expect(geminiCallIn(new URL(path, "http://gateway"))).toEqual(call as ReturnType<typeof geminiCallIn>);
  });
});
