/**
 * The server for the protocol's conformance suite: its tools, resources and prompts, with a new object for each
 * request.
 */
import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  fromJsonSchema,
  inputRequired,
  McpServer,
  ResourceTemplate,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { pushingTools } from "./conformance-asking.ts";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";
const codec = createRequestStateCodec<{ round: number }>({ key: new Uint8Array(32).fill(7) });
const text = (value: string) => ({ type: "text" as const, text: value });
const image = { type: "image" as const, data: PNG, mimeType: "image/png" };
const resource = (uri: string, mimeType: string, value: string) => ({
  type: "resource" as const,
  resource: { uri, mimeType, text: value },
});
const ask = (message: string, name: string, type: "string" | "boolean" = "string") => {
  const properties = { [name]: type === "string" ? { type: "string" as const } : { type: "boolean" as const } };
  return inputRequired.elicit({ message, requestedSchema: { type: "object", properties, required: [name] } });
};
const sample = (question: string, maxTokens: number) =>
  inputRequired.createMessage({ messages: [{ role: "user", content: text(question) }], maxTokens });
const nothing = fromJsonSchema<Record<string, never>>({ type: "object", properties: {} });
const pause = () => new Promise((wake) => setTimeout(wake, 50));

export function conformanceServer(): McpServer {
  const server = new McpServer(
    { name: "conformance", version: "1" },
    {
      capabilities: { logging: {}, completions: {}, resources: { subscribe: true } },
      requestState: { verify: codec.verify },
    },
  );
  plainTools(server);
  askingTools(server);
  pushingTools(server);
  things(server);
  return server;
}

function plainTools(server: McpServer): void {
  const tool = (name: string, content: readonly object[]) =>
    server.registerTool(name, { description: name, inputSchema: nothing }, () => ({ content: content as never }));
  tool("test_simple_text", [text("This is a simple text response for testing.")]);
  tool("test_image_content", [image]);
  tool("test_audio_content", [{ type: "audio", data: WAV, mimeType: "audio/wav" }]);
  tool("test_embedded_resource", [
    resource("test://embedded-resource", "text/plain", "This is an embedded resource content."),
  ]);
  tool("test_multiple_content_types", [
    text("Multiple content types test:"),
    image,
    resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
  ]);
  server.registerTool("test_error_handling", { description: "Fails.", inputSchema: nothing }, () => {
    throw new Error("This tool intentionally returns an error for testing");
  });
  server.registerTool("test_tool_with_logging", { description: "Logs.", inputSchema: nothing }, async (_, ctx) => {
    for (const line of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
      await ctx.mcpReq.log("info", line);
      await pause();
    }
    return { content: [text("done")] };
  });
  server.registerTool("test_tool_with_progress", { description: "Progress.", inputSchema: nothing }, async (_, ctx) => {
    const { progressToken } = (ctx.mcpReq._meta ?? {}) as { progressToken?: string };
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined)
        await ctx.mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total: 100 } });
      await pause();
    }
    return { content: [text("done")] };
  });
  server.registerTool(
    "test_logging_tool",
    { description: "Logs where it is asked for.", inputSchema: nothing },
    async (_, ctx) => {
      await ctx.mcpReq.log("info", "logged");
      return { content: [text("logged")] };
    },
  );
}

/** Tools that ask the client before they answer. Only the newer revision supports this. */
function askingTools(server: McpServer): void {
  const register = (name: string, requests: () => Record<string, ReturnType<typeof ask>>, withState = false) =>
    server.registerTool(name, { description: name, inputSchema: nothing }, async (_, ctx) => {
      const answers = (ctx.mcpReq.inputResponses ?? {}) as Record<string, unknown>;
      const wanted = requests();
      if (Object.keys(wanted).every((key) => isAnswer(answers[key])))
        return { content: [text(`state-ok ${JSON.stringify(answers)}`)] };
      const requestState = withState ? { requestState: await codec.mint({ round: 1 }, ctx) } : {};
      return inputRequired({ inputRequests: wanted, ...requestState });
    });
  register("test_input_required_result_elicitation", () => ({ user_name: ask("What is your name?", "name") }));
  register("test_input_required_result_sampling", () => ({
    capital_question: sample("What is the capital of France?", 100),
  }));
  register("test_input_required_result_list_roots", () => ({ client_roots: inputRequired.listRoots() }));
  register(
    "test_input_required_result_request_state",
    () => ({ confirm: ask("Please confirm", "ok", "boolean") }),
    true,
  );
  register(
    "test_input_required_result_tampered_state",
    () => ({ confirm: ask("Please confirm", "ok", "boolean") }),
    true,
  );
  register(
    "test_input_required_result_multiple_inputs",
    () => ({
      user_name: ask("What is your name?", "name"),
      greeting: sample("Generate a greeting", 50),
      client_roots: inputRequired.listRoots(),
    }),
    true,
  );
  capabilityTools(server);
  const rounds = "test_input_required_result_multi_round";
  server.registerTool(rounds, { description: rounds, inputSchema: nothing }, async (_, ctx) => {
    const round = ctx.mcpReq.requestState<{ round: number }>()?.round ?? 0;
    const answered = Object.keys(ctx.mcpReq.inputResponses ?? {}).length > 0;
    if (round === 2 && answered) return { content: [text("both answered")] };
    const next = round === 1 && answered ? 2 : 1;
    const question =
      next === 1 ? ask("Step 1: What is your name?", "name") : ask("Step 2: What is your favorite color?", "color");
    return inputRequired({
      inputRequests: { [`step${next}`]: question },
      requestState: await codec.mint({ round: next }, ctx),
    });
  });
  server.registerPrompt("test_input_required_result_prompt", { description: "Asks." }, (ctx) => {
    const given = acceptedContent(ctx.mcpReq.inputResponses, "user_context");
    if (!given)
      return inputRequired({ inputRequests: { user_context: ask("What context should the prompt use?", "context") } });
    return { messages: [{ role: "user", content: text(`In the context ${String(given["context"])}`) }] };
  });
}

type Capabilities = { elicitation?: object; sampling?: object };
const capabilitiesOf = (ctx: ServerContext): Capabilities =>
  ((ctx.mcpReq.envelope as Record<string, unknown> | undefined)?.[CLIENT_CAPABILITIES_META_KEY] ?? {}) as Capabilities;

/** Tools whose behavior depends on the client's declared capabilities. */
function capabilityTools(server: McpServer): void {
  const tool = (
    name: string,
    run: (ctx: ServerContext) => ReturnType<typeof inputRequired> | Promise<ReturnType<typeof inputRequired>>,
  ) => server.registerTool(name, { description: name, inputSchema: nothing }, (_, ctx) => run(ctx));
  tool("test_input_required_result_capabilities", (ctx) => {
    const { elicitation, sampling } = capabilitiesOf(ctx);
    return inputRequired({
      inputRequests: {
        ...(elicitation ? { user_name: ask("What is your name?", "name") } : {}),
        ...(sampling ? { question: sample("What is the capital of France?", 100) } : {}),
      },
    });
  });
  // The client has not declared this capability; the library has to notice that.
  tool("test_missing_capability", () => inputRequired({ inputRequests: { question: sample("Why?", 10) } }));
  tool("test_streaming_elicitation", async (ctx) => {
    const { progressToken } = (ctx.mcpReq._meta ?? {}) as { progressToken?: string };
    if (progressToken !== undefined)
      await ctx.mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress: 1, total: 2 } });
    return inputRequired({ inputRequests: { user_name: ask("What is your name?", "name") } });
  });
}

const isAnswer = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  ["action", "roots", "role"].some((member) => Object.hasOwn(value, member));

function things(server: McpServer): void {
  const meta = (mimeType: string) => ({ description: "A thing.", mimeType });
  server.registerResource("static-text", "test://static-text", meta("text/plain"), ({ href: uri }) => ({
    contents: [{ uri, mimeType: "text/plain", text: "This is the content of the static text resource." }],
  }));
  server.registerResource("static-binary", "test://static-binary", meta("image/png"), ({ href: uri }) => ({
    contents: [{ uri, mimeType: "image/png", blob: PNG }],
  }));
  const template = new ResourceTemplate("test://template/{id}/data", { list: undefined });
  server.registerResource("template", template, meta("application/json"), ({ href: uri }, { id }) => ({
    contents: [
      {
        uri,
        mimeType: "application/json",
        text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
      },
    ],
  }));
  server.registerPrompt("test_simple_prompt", { description: "Simple." }, () => ({
    messages: [{ role: "user", content: text("This is a simple prompt for testing.") }],
  }));
  const two = fromJsonSchema<{ arg1: string; arg2: string }>({
    type: "object",
    properties: { arg1: { type: "string" }, arg2: { type: "string" } },
    required: ["arg1", "arg2"],
  });
  server.registerPrompt("test_prompt_with_arguments", { description: "Two.", argsSchema: two }, ({ arg1, arg2 }) => ({
    messages: [{ role: "user", content: text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`) }],
  }));
  const one = fromJsonSchema<{ resourceUri: string }>({
    type: "object",
    properties: { resourceUri: { type: "string" } },
    required: ["resourceUri"],
  });
  server.registerPrompt(
    "test_prompt_with_embedded_resource",
    { description: "One.", argsSchema: one },
    ({ resourceUri }) => ({
      messages: [
        { role: "user", content: resource(resourceUri, "text/plain", "Embedded resource content for testing.") },
        { role: "user", content: text("Please process the embedded resource above.") },
      ],
    }),
  );
  server.registerPrompt("test_prompt_with_image", { description: "An image." }, () => ({
    messages: [
      { role: "user", content: image },
      { role: "user", content: text("Please analyze the image above.") },
    ],
  }));
  server.server.setRequestHandler("resources/subscribe", () => ({}));
  server.server.setRequestHandler("resources/unsubscribe", () => ({}));
  server.server.setRequestHandler("completion/complete", () => ({
    completion: { values: ["paris", "park"], total: 2, hasMore: false },
  }));
}
