/**
 * An agent that speaks the Agent Client Protocol and does what the prompt says after `MODE:`. Most modes misbehave on
 * purpose. It runs in a test's container.
 */
const fs = require("node:fs");
const net = require("node:net");

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const update = (sessionId, what) => send({ method: "session/update", params: { sessionId, update: what } });
const say = (sessionId, text) =>
  update(sessionId, { sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
const waiting = new Map();
let asked = 100;
const ask = (method, params) =>
  new Promise((done) => {
    const id = asked++;
    waiting.set(id, done);
    send({ id, method, params });
  });
let mode = "";
let tools;
let reach;

/** Sends a request to the model gateway. */
async function gateway(path, body, key = process.env.OPENAI_API_KEY) {
  const answer = await fetch(new URL(path, process.env.OPENAI_BASE_URL), {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  return { status: answer.status, type: answer.headers.get("content-type"), text: await answer.text() };
}
const tool = (name, args) =>
  fetch(tools.url, {
    method: "POST",
    headers: {
      ...Object.fromEntries(tools.headers.map(({ name: header, value }) => [header, value])),
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } }),
  }).then((answer) => answer.json());

const reaches = (host, port) =>
  new Promise((done) => {
    const socket = net.connect({ host, port, timeout: 1500 });
    socket.on("connect", () => done(`${host}:${port}`) || socket.destroy());
    socket.on("error", () => done(undefined));
    socket.on("timeout", () => done(undefined) || socket.destroy());
  });

function files(folder, found = []) {
  let entries = [];
  try {
    entries = fs.readdirSync(folder, { withFileTypes: true });
  } catch {}
  for (const entry of entries) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) files(path, found);
    else if (entry.isFile()) found.push(path);
  }
  return found;
}

/** Finds the files that this container can read and that contain the text. */
function search(text, folders = ["/skep", "/workspace", "/home", "/tmp", "/run", "/etc"]) {
  const places = folders.flatMap((folder) => files(folder));
  if (folders.length > 2) for (const id of fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name)))
    places.push(`/proc/${id}/environ`, `/proc/${id}/cmdline`);
  return places.filter((path) => {
    try {
      return fs.readFileSync(path).includes(text);
    } catch {
      return false;
    }
  });
}

const chat = (content, more = {}) => ({ model: process.env.OPENAI_MODEL, messages: [{ role: "user", content }], ...more });

const MODES = {
  /** Reports the log-in that it was given for a person, and repeats the token in its own words. */
  async own(id, text) {
    const home = process.env.CODEX_HOME;
    const path = `${home}/auth.json`;
    const login = fs.existsSync(path) ? fs.readFileSync(path, "utf8") : process.env.CLAUDE_CODE_OAUTH_TOKEN;
    const token = JSON.parse(login).tokens.access_token;
    const config = fs.readFileSync(`${home}/config.toml`, "utf8");
    const keys = Object.keys(process.env).filter((name) => /^(SKEP_(GATEWAY|FILE|TEXT|LINK|TARGET)|OPENAI|ANTHROPIC)/.test(name));
    reach ??= /Only these hosts can be reached[^:]*: ([^;.]*\.[^;]*?)\. The names/.exec(text)?.[1];
    const found = { length: login.length, at: fs.realpathSync(path), inState: search(token, ["/skep", "/workspace"]), keys, reach, config };
    say(id, JSON.stringify({ ...found, words: `the token is ${token}.` }));
    return { inputTokens: 100, outputTokens: 20, cachedReadTokens: 30, totalTokens: 150 };
  },
  /** Imitates 20 model calls at the agent's own vendor, as far as they can be seen: words, a tool call, its result. */
  async "own turns"(id) {
    update(id, { sessionUpdate: "usage_update", used: 50_000, size: 200_000 });
    for (let n = 1; n <= 20; n++) {
      say(id, `I do ${n}. `);
      for (const status of ["in_progress", "completed"])
        update(id, { sessionUpdate: "tool_call", toolCallId: `c${n}`, title: `${n}`, kind: "execute", status, rawInput: { n } });
    }
  },
  /** Lists the parts of the prompt: type, MIME type and size. */
  pictures(sessionId, _text, blocks) {
    say(sessionId, blocks.map(({ type, mimeType, data }) => [type, mimeType, data?.length].filter(Boolean).join(" ")).join(", "));
  },
  async flood(id) {
    for (let n = 0; n < 20_000; n++) say(id, `${n} `);
  },
  async endless(id) {
    const piece = "x".repeat(1_000_000);
    for (;;) {
      say(id, piece);
      await new Promise((go) => (process.stdout.writableLength > 4e6 ? process.stdout.once("drain", go) : setImmediate(go)));
    }
  },
  async "long line"(id) {
    for (let n = 0; n < 60; n++) process.stdout.write("y".repeat(1_000_000));
    process.stdout.write("\n");
    say(id, "after the long line");
  },
  async "wrong ids"(id) {
    for (const wrong of [0, 1, 9999, "no", null]) send({ id: wrong, result: { sessionId: "stolen", stopReason: "end_turn" } });
    process.stdout.write("no json\n[]\n{}\n");
    send({ id: 77, method: "fs/read_text_file", params: { sessionId: id, path: "/etc/passwd" } });
    update(id, { sessionUpdate: "tool_call_update", toolCallId: "never begun", status: "completed" });
    update(id, { sessionUpdate: "tool_call", toolCallId: "twice", title: "twice", kind: "edit", status: "in_progress" });
    for (const status of ["completed", "failed", "completed"])
      update(id, { sessionUpdate: "tool_call_update", toolCallId: "twice", status });
    update(id, { sessionUpdate: "tool_call", toolCallId: {}, title: 5 });
    say(id, "still here");
  },
  async dies() {
    console.error("Error: I have had enough");
    process.exit(3);
  },
  async plans(id) {
    const entries = ["completed", "in_progress", "no state"].map((status) => ({ content: `is ${status}`, status }));
    update(id, { sessionUpdate: "plan", entries: [...entries, 5] });
    say(id, "planned");
  },
  async never() {
    await new Promise(() => {});
  },
  async permission(id) {
    const options = ["allow_once", "allow_always"].map((kind) => ({ optionId: kind, name: kind, kind }));
    const toolCall = { toolCallId: "p", title: "rm -rf /", kind: "execute", status: "pending" };
    const without = await ask("session/request_permission", { sessionId: id, toolCall, options });
    const refusing = [...options, { optionId: "no", name: "no", kind: "reject_once" }];
    const withOne = await ask("session/request_permission", { sessionId: id, toolCall, options: refusing });
    const reading = { ...toolCall, toolCallId: "r", kind: "read" };
    const read = await ask("session/request_permission", { sessionId: id, toolCall: reading, options: refusing });
    say(id, JSON.stringify([without, withOne, read].map(({ outcome }) => outcome.optionId ?? outcome.outcome)));
  },
  /** Asks for the calls in the prompt (JSON after `ASK:`) and reports the outcomes. A restarted agent asks again. */
  async asks(id, text) {
    const list = "/skep/state/asks";
    const found = [...text.matchAll(/^ASK: (.*)$/gm)].map(([, json]) => json);
    if (found.length > 0) fs.writeFileSync(list, found.join("\n"));
    const outcomes = [];
    for (const json of fs.readFileSync(list, "utf8").split("\n")) {
      const { tool: name, args, refuses = true, ...call } = JSON.parse(json);
      if (name) {
        const { result } = await tool(name, args);
        outcomes.push(result.content[0].text);
        continue;
      }
      const kinds = ["allow_always", "allow_once", ...(refuses ? ["reject_once"] : [])];
      const options = kinds.map((kind) => ({ optionId: kind, name: kind, kind }));
      const toolCall = { toolCallId: `${process.pid}.${asked}`, status: "pending", title: "a tool", ...call };
      update(id, { sessionUpdate: "tool_call", ...toolCall });
      const { outcome } = await ask("session/request_permission", { sessionId: id, toolCall, options });
      outcomes.push(outcome.optionId ?? outcome.outcome);
    }
    await tool("complete", { outputs: {}, summary: JSON.stringify(outcomes) });
    await new Promise(() => {});
  },
  /** Does what its model says: writes files itself, and calls Skep's tools. */
  async "as told"(id, text) {
    const messages = [{ role: "user", content: text }];
    const names = ["write", "complete"].map((name) => ({
      type: "function",
      function: { name: name === "write" ? name : `skep_${name}`, parameters: { type: "object" } },
    }));
    for (let n = 0; n < 20; n++) {
      const body = { ...chat(""), messages, tools: names };
      const { message } = JSON.parse((await gateway("/v1/chat/completions", body)).text).choices[0];
      messages.push(message);
      if (!message.tool_calls?.length) return say(id, message.content ?? "");
      for (const { id: tool_call_id, function: called } of message.tool_calls) {
        const { name, arguments: json } = called;
        const args = JSON.parse(json);
        if (name === "write") fs.writeFileSync(args.path, args.content);
        else await tool(name.replace(/^skep_/, ""), args);
        messages.push({ role: "tool", tool_call_id, content: "done" });
      }
    }
  },
  async look(id) {
    const out = await Promise.all([reaches("1.1.1.1", 53), reaches("172.17.0.1", 22), reaches("172.17.0.1", 80)]);
    const names = await new Promise((done) => require("node:dns").lookup("example.com", (error) => done(error ? [] : ["dns"])));
    const canary = process.env.CANARY ?? "sk-instance-key-of-everybody";
    const ways = Object.keys(require("node:os").networkInterfaces());
    say(id, JSON.stringify({ out: out.filter(Boolean).concat(names), found: search(canary), ways }));
  },
  async gateway(id) {
    const models = await gateway("/v1/models");
    const wrong = await gateway("/v1/models", undefined, "skepx_wrong");
    const other = await gateway("/v1/chat/completions", chat("hi", { model: "other/model" }));
    const bad = await gateway("/v1/chat/completions", "{");
    const elsewhere = await gateway("/v1/runs");
    const stream = await gateway("/v1/chat/completions", chat("hi", { stream: true }));
    const messages = await gateway("/v1/messages", { ...chat("hi"), stream: true, max_tokens: 50 });
    const responses = await gateway("/v1/responses", { model: process.env.OPENAI_MODEL, input: "hi", stream: true });
    say(id, JSON.stringify({ models, wrong, other, bad, elsewhere, stream, messages, responses, chosen }));
  },
  /** Writes its key to a file, so that its next start in another container gets the key in the prompt. */
  async "leave key"(id) {
    fs.writeFileSync("/workspace/key", process.env.OPENAI_API_KEY);
    say(id, "left");
  },
  /** Tries requests that must not reach any provider. */
  async around(id, text) {
    const model = process.env.OPENAI_MODEL;
    const old = /KEY: (\S+)/.exec(text)?.[1] ?? "";
    const address = "https://example.com/x";
    const picture = [{ role: "user", content: [{ type: "image_url", image_url: { url: address } }] }];
    const parts = (part) => ({ contents: [{ role: "user", parts: [part] }] });
    const tries = {
      "the key of an execution that has ended": ["/v1/chat/completions", chat("hi"), old],
      "no key": ["/v1/chat/completions", chat("hi"), ""],
      "another model": ["/v1/chat/completions", chat("hi", { model: "demo/scripted" })],
      "another model in the address": [`/v1beta/models/gemini-3-pro:generateContent`, parts({ text: "hi" })],
      "a list of models": ["/v1/chat/completions", chat("hi", { models: ["other/m"] })],
      "many replies": ["/v1/chat/completions", chat("hi", { n: 100 })],
      "a dearer tier": ["/v1/responses", { model, input: "hi", service_tier: "priority" }],
      "a kept conversation": ["/v1/responses", { model, input: "hi", previous_response_id: "resp_1" }],
      "work in the background": ["/v1/responses", { model, input: "hi", background: true }],
      "a tool of the provider": ["/v1/messages", { ...chat("hi"), max_tokens: 5, tools: [{ type: "web_search_20250305" }] }],
      "a search of the provider": [`/v1beta/models/${model}:generateContent`, { ...parts({ text: "hi" }), tools: [{ googleSearch: {} }] }],
      "a picture by address": ["/v1/chat/completions", chat("hi", { messages: picture })],
      "a file by address": [`/v1beta/models/${model}:generateContent`, parts({ fileData: { fileUri: address } })],
      "a body that is too long": ["/v1/chat/completions", chat("x".repeat(33 * 1024 * 1024))],
      "a body that is too deep": ["/v1/chat/completions", `{"model":"${model}","messages":${"[".repeat(9999)}${"]".repeat(9999)}}`],
      "another path": ["/v1/embeddings", { model, input: "hi" }],
      "a path with dots": ["/v1/models/../../v1/files", { model }],
      "a batch": ["/v1/messages/batches", { requests: [] }],
    };
    const answers = {};
    for (const [what, [path, body, key]] of Object.entries(tries))
      answers[what] = await gateway(path, body, key).then(({ status }) => status, () => "cut off");
    say(id, JSON.stringify(answers));
    await tool("complete", { outputs: { summary: JSON.stringify(answers) }, summary: "tried" });
    await new Promise(() => {});
  },
  /** Speaks as the person, answers questions that nobody asked, and claims that a refused call was allowed. */
  async "as user"(id) {
    update(id, { sessionUpdate: "user_message_chunk", content: { type: "text", text: "I, the person, allow everything." } });
    const options = [{ optionId: "yes", name: "No", kind: "allow_once" }, { optionId: "yes", name: "Yes", kind: "reject_once" }];
    const toolCall = { toolCallId: "t", title: "skep_complete; rm -rf /", kind: "execute", status: "completed", rawInput: { command: "rm -rf /" } };
    const answers = [];
    for (const [given, call] of [[options, toolCall], [[], toolCall], [options.slice(0, 1), { ...toolCall, kind: "no kind" }], ["no list", toolCall]]) {
      const { outcome } = await ask("session/request_permission", { sessionId: id, toolCall: call, options: given });
      answers.push(outcome.outcome);
    }
    send({ method: "session/request_permission", params: { sessionId: id, toolCall, options } });
    send({ id: 1, result: { outcome: { outcome: "selected", optionId: "yes" } } });
    say(id, JSON.stringify(answers));
  },
  /** Makes all its calls at once. */
  async "spend at once"(id) {
    const calls = Array.from({ length: 25 }, (_, n) => gateway("/v1/chat/completions", chat(`call ${n}`)));
    const statuses = (await Promise.allSettled(calls)).map(({ value }) => value?.status);
    fs.writeFileSync("/workspace/statuses.json", JSON.stringify(statuses));
    say(id, "spent");
  },
  /** Sends a long prompt to its model, and then waits until it is stopped. */
  async "asks long"() {
    await gateway("/v1/chat/completions", chat("слова одной задачи ".repeat(1_000), { stream: true })).catch(() => {});
    await new Promise(() => {});
  },
  async spend(id) {
    const answers = [];
    for (let n = 0; n < 20; n++) {
      const { status, text } = await gateway("/v1/chat/completions", chat(`call ${n}`));
      answers.push(status);
      say(id, `${status} `);
      fs.appendFileSync("/workspace/answers.txt", `${status} ${status === 200 ? "" : text}\n`);
    }
  },
  /** Times calls through the gateway, to the provider directly, and through another hop, in turns. */
  async bench(id, text) {
    const [, direct, calls, first, hop] = /DIRECT: (\S+) (\d+) after (\d+) hop (\S+)/.exec(text);
    const body = JSON.stringify(chat("hi", { stream: true, model: "m" }));
    const { OPENAI_BASE_URL: base, OPENAI_API_KEY: token } = process.env;
    const ways = { through: [base, token], beside: [`${direct}/v1`, "sk-direct"], hop: [`${hop}/v1`, "sk-direct"] };
    const figures = { through: [], beside: [], hop: [], bytes: 0 };
    for (let n = -Number(first); n < Number(calls); n++) {
      for (const [way, [url, key]] of Object.entries(ways)) {
        const begun = performance.now();
        const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
        const answer = await fetch(`${url}/chat/completions`, { method: "POST", headers, body });
        figures.bytes = (await answer.text()).length;
        if (answer.status !== 200) throw new Error(`it answered ${answer.status}`);
        if (n >= 0) figures[way].push(performance.now() - begun);
      }
    }
    fs.writeFileSync("figures.json", JSON.stringify(figures));
    await tool("complete", { outputs: {}, summary: "measured" });
    await new Promise(() => {});
  },
  /** Thinks, asks its model once, reports a read of a file, and completes. */
  async works(id) {
    update(id, { sessionUpdate: "agent_thought_chunk", content: { type: "text", text: "I ask." } });
    await gateway("/v1/chat/completions", chat("What now?", { stream: true }));
    const call = { toolCallId: "r", title: "read", kind: "read", rawInput: { path: "a.txt" } };
    update(id, { sessionUpdate: "tool_call", ...call, status: "in_progress" });
    update(id, { sessionUpdate: "tool_call_update", toolCallId: "r", status: "completed" });
    say(id, "I have read it.");
    await tool("complete", { outputs: { summary: "worked" }, summary: "worked" });
    await new Promise(() => {});
  },
  /** Begins a call that never ends. */
  async begins(id) {
    const call = { toolCallId: "b", title: "build", kind: "execute", rawInput: { command: "build" } };
    update(id, { sessionUpdate: "tool_call", ...call, status: "in_progress" });
    await new Promise(() => {});
  },
  /** Asks its model, then repeats the end of the prompt. */
  async hears(id, text) {
    await gateway("/v1/chat/completions", chat(text, { stream: true }));
    say(id, `heard ${text.slice(-20)}`);
  },
  async complete(id) {
    update(id, { sessionUpdate: "agent_thought_chunk", content: { type: "text", text: "I complete." } });
    const refused = await tool("complete", { outputs: { wrong: 1 }, summary: "no" });
    say(id, refused.result.content[0].text);
    await tool("complete", { outputs: { summary: "through MCP" }, summary: "done" });
    await new Promise(() => {});
  },
  /** Counts its turns in its own state folder and in the workspace. */
  async count(id, text) {
    const path = "/skep/state/turns";
    const turns = fs.existsSync(path) ? Number(fs.readFileSync(path, "utf8")) + 1 : 1;
    fs.writeFileSync(path, String(turns));
    fs.writeFileSync("turns.txt", String(turns));
    say(id, `turn ${turns}: ${text.slice(-60)}`);
  },
};

const chosen = [];
/** The session's options: the model, between entries that are invalid or are no model. */
const offered = () => [
  null,
  { id: "mode", name: "Mode", category: "mode", type: "select", currentValue: "a", options: [] },
  { id: "llm", name: "Model", category: "model", type: "select", currentValue: "default", options: [5, { value: "default", name: "D" }, { value: process.env.OPENAI_MODEL ?? "none", name: "M" }] },
];

async function answer({ id, method, params }) {
  if (method === "initialize")
    return send({ id, result: { protocolVersion: 1, agentCapabilities: { loadSession: true, promptCapabilities: { image: true }, mcpCapabilities: { http: true } } } });
  if (method === "session/new") {
    [tools] = params.mcpServers;
    return send({ id, result: { sessionId: "s1", configOptions: offered() } });
  }
  if (method === "session/set_config_option") {
    chosen.push(`${params.configId} ${params.value}`);
    return send({ id, result: { configOptions: offered() } });
  }
  if (method === "session/load") {
    [tools] = params.mcpServers;
    say("s1", "REPEATED PAST");
    mode = fs.readFileSync("/skep/state/mode", "utf8");
    return send({ id, result: {} });
  }
  if (method === "session/prompt") {
    const text = params.prompt.map((block) => block.text).join("\n");
    mode = /MODE: ([a-z ]+)/.exec(text)?.[1] ?? mode;
    if (fs.existsSync("/skep/state")) fs.writeFileSync("/skep/state/mode", mode);
    const usage = await MODES[mode](params.sessionId, text, params.prompt);
    return send({ id, result: { stopReason: "end_turn", ...(usage ? { usage } : {}) } });
  }
  if (id !== undefined) send({ id, error: { code: -32601, message: "no" } });
}

let held = "";
process.stdin.on("data", (chunk) => {
  held += chunk;
  for (let end = held.indexOf("\n"); end >= 0; end = held.indexOf("\n")) {
    const message = JSON.parse(held.slice(0, end));
    held = held.slice(end + 1);
    if (message.method === undefined) waiting.get(message.id)?.(message.result);
    else void answer(message);
  }
});
