import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Account, makeUser, setupAdmin } from "../../testing/accounts.ts";
import { framesOf, framesUntil } from "../../testing/event-reader.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import { makeSlowAgent, SLOW, slowAgentScript } from "../../testing/slow-agent.ts";
import type { ChatDetail, ChatSession, QueuedMessage } from "./model.ts";

const slow = slowAgentScript();
let server: TestServer;
let a: Account;
let b: Account;
beforeAll(async () => {
  server = await startServer({ env: { AUTH_ENABLED: "true", ...slow.env } });
  const admin = await setupAdmin(server);
  await makeSlowAgent(server, admin.token);
  a = await makeUser(server, admin, "a@example.test");
  b = await makeUser(server, admin, "b@example.test");
});
afterAll(async () => {
  await server.remove();
  slow.remove();
});

const call = <T = ChatSession>(method: string, path: string, body?: object, who = a) =>
  server.request<T & { code: string }>(method, `/v1/chat/sessions${path}`, { body, token: who.token });
const begin = async (fields: object = {}, who = a) =>
  (await call("POST", "", { agent_id: "scribe", ...fields }, who)).body;
/** Sends a message and reads the turn's events to their end. */
async function say(id: string, message: string, fields: object = {}): Promise<string> {
  const answer = await call<string>("POST", `/${id}/message?stream=true`, { message, ...fields });
  expect(answer.status).toBe(200);
  return answer.body as unknown as string;
}
/** Stops a reply of the slow agent after its first words. */
async function stopReply(id: string): Promise<void> {
  const frames = framesOf(server, `/v1/events/stream?session_id=${id}&after=0`, a.token);
  await framesUntil(frames, ({ event }) => event === "agent_output");
  expect((await call("POST", `/${id}/stop`)).status).toBe(200);
}
const kindsOf = (stream: string) => [...stream.matchAll(/^event: (\w+)$/gm)].map(([, kind]) => kind);
const detail = async (id: string, query = "") => (await call<ChatDetail>("GET", `/${id}${query}`)).body;

describe("chat", () => {
  test("a message is answered; the stream holds the turn from start to end, and the chat both messages", async () => {
    const made = await call("POST", "", { agent_id: "scribe" });
    expect(made.status).toBe(201);
    expect(made.headers.get("location")).toBe(`/v1/chat/sessions/${made.body.id}`);
    expect(made.body).toMatchObject({
      agent_id: "scribe",
      status: "ready",
      message_count: 0,
      title: null,
      model: "demo/scripted",
      cost_usd: 0,
    });
    const stream = await say(made.body.id, "What is this?\nTell me.");
    const kinds = kindsOf(stream);
    expect(kinds).toContain("turn_started");
    expect(kinds).toContain("agent_output");
    expect(kinds.at(-1)).toBe("turn_ended");
    const chat = await detail(made.body.id);
    expect(chat).toMatchObject({ status: "ready", title: "What is this?", earlier: false });
    expect(chat.messages[0]).toMatchObject({
      seq: 0,
      role: "user",
      content: "What is this?\nTell me.",
      withdrawn: false,
    });
    expect(chat.messages.at(-1)).toMatchObject({ role: "assistant" });
    expect(chat.messages.at(-1)!.content).not.toBe("");
    expect(chat.messages.map(({ seq }) => seq)).toEqual(chat.messages.map((_, at) => at));
    expect(chat.context.used).toBeGreaterThan(0);
  });

  test("without stream the message is accepted, and its reply can be followed by the session's events", async () => {
    const { id } = await begin();
    const sent = await call<{ message_id: string; session_id: string }>("POST", `/${id}/message`, { message: "Hello" });
    expect(sent).toMatchObject({ status: 202, body: { session_id: id, status: "queued" } });
    const stream = await fetch(`${server.url}/v1/events/stream?session_id=${id}`, {
      headers: { Authorization: `Bearer ${a.token}` },
    });
    let text = "";
    for await (const chunk of stream.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      if (text.includes("event: turn_ended")) break;
    }
    expect(text).toContain(sent.body.message_id);
  });

  test("while it answers, what was said so far is in the chat, and the stream continues after it without loss", async () => {
    const { id } = await begin();
    await call("POST", `/${id}/message`, { message: "Hello" });
    const leave = new AbortController();
    const follow = async (after: number, until: string) => {
      const stream = await fetch(`${server.url}/v1/events/stream?session_id=${id}&after=${after}`, {
        headers: { Authorization: `Bearer ${a.token}` },
        signal: leave.signal,
      });
      let text = "";
      for await (const chunk of stream.body!.pipeThrough(new TextDecoderStream())) {
        text += chunk;
        if (text.includes(until)) break;
      }
      return text;
    };
    await follow(0, "event: agent_output");
    const { reply, messages } = await detail(id);
    const rest = await follow(reply.last_event_id, "event: turn_ended");
    leave.abort();
    const later = [...rest.matchAll(/^data: (.*"kind":"agent_output".*)$/gm)].map(([, data]) => JSON.parse(data!).data);
    const whole = await detail(id);
    const joinReplies = (from: ChatDetail["messages"]) =>
      from.flatMap(({ role, content }) => (role === "assistant" ? [content] : [])).join("");
    const streamed = later.filter(({ call_id }) => call_id === undefined).map(({ text }) => text);
    expect((joinReplies(messages) + reply.text + streamed.join("")).replaceAll(/\s/g, "")).toBe(
      joinReplies(whole.messages).replaceAll(/\s/g, ""),
    );
    expect(whole.reply).toMatchObject({ text: "", thinking: "" });
  });

  test("messages to a busy agent wait; they are listed, changed and withdrawn", async () => {
    const { id } = await begin({ agent_id: SLOW });
    await call("POST", `/${id}/message`, { message: "one" });
    const two = (await call<{ message_id: string }>("POST", `/${id}/message`, { message: "two" })).body.message_id;
    const three = (await call<{ message_id: string }>("POST", `/${id}/message`, { message: "three" })).body.message_id;
    const waiting = await call<{ items: QueuedMessage[] }>("GET", `/${id}/queue`);
    expect(waiting.body.items.map(({ content }) => content).slice(-2)).toEqual(["two", "three"]);
    expect((await call<QueuedMessage>("PUT", `/${id}/queue/${two}`, { message: "TWO" })).body.content).toBe("TWO");
    expect((await call("DELETE", `/${id}/queue/${three}`)).status).toBe(204);
    expect((await call("DELETE", `/${id}/queue/${three}`)).status).toBe(404);
    await stopReply(id);
    await say(id, "last");
    const said = (await detail(id)).messages.filter(({ role }) => role === "user").map(({ content }) => content);
    expect(said).toEqual(["one", "TWO", "last"]);
  });

  test("a reply is stopped with what was said kept, and the chat continues", async () => {
    const { id } = await begin({ agent_id: SLOW });
    await call("POST", `/${id}/message`, { message: "Tell a long story" });
    await stopReply(id);
    const kinds = kindsOf(await say(id, "And now?"));
    expect(kinds.at(-1)).toBe("turn_ended");
    expect((await detail(id)).status).toBe("ready");
  });

  test("is taken back to a message, forked at one, and exported whole either way", async () => {
    const { id } = await begin({ title: "Names" });
    await say(id, "first");
    await say(id, "second");
    const before = await detail(id);
    const second = before.messages.find(({ content }) => content === "second")!;
    const fork = await call("POST", `/${id}/fork`, { message_id: second.id });
    expect(fork).toMatchObject({ status: 201, body: { title: "Names (fork)", message_count: second.seq + 1 } });
    const copied = await detail(fork.body.id);
    expect(copied.messages.map(({ content }) => content)).toEqual(
      before.messages.slice(0, second.seq + 1).map(({ content }) => content),
    );
    expect((await call("POST", `/${id}/rewind`, { message_id: second.id })).status).toBe(200);
    const after = await detail(id);
    expect(after.messages.filter(({ withdrawn }) => withdrawn).map(({ seq }) => seq)).toEqual(
      before.messages.slice(second.seq).map(({ seq }) => seq),
    );
    const json = await call<ChatDetail>("GET", `/${id}/export?format=json`);
    expect(json.body.messages).toHaveLength(after.messages.length);
    const markdown = await call<string>("GET", `/${id}/export`);
    expect(markdown.headers.get("content-disposition")).toContain(`${id}.md`);
    expect(markdown.body as unknown as string).toContain("taken back");
    expect((await call("POST", `/${id}/rewind`, { message_id: "msg_none" })).status).toBe(404);
    await say(fork.body.id, "third");
  });

  test("pages back through its messages, and changes title and model", async () => {
    const { id } = await begin();
    for (const text of ["a", "b"]) await say(id, text);
    const all = await detail(id);
    const last = await detail(id, "?limit=1");
    expect(last).toMatchObject({ earlier: true, messages: [{ seq: all.message_count - 1 }] });
    const earlier = await detail(id, `?limit=1&before=${all.message_count - 1}`);
    expect(earlier.messages[0]!.seq).toBe(all.message_count - 2);
    expect((await call("PUT", `/${id}`, { title: "T", model: "ollama/qwen3" })).body).toMatchObject({
      title: "T",
      model: "ollama/qwen3",
    });
    expect((await call("PUT", `/${id}`, { model: "nobody/knows" })).status).toBe(422);
    expect((await call("PUT", `/${id}`, { model: null })).body.model).toBe("demo/scripted");
  });

  test("ends with its history kept, takes no more messages, and is purged when asked", async () => {
    const { id } = await begin();
    await say(id, "Hello");
    expect((await call("DELETE", `/${id}`)).status).toBe(204);
    expect(await detail(id)).toMatchObject({ status: "ended" });
    expect(await call("POST", `/${id}/message`, { message: "Still?" })).toMatchObject({ status: 409 });
    const ids = async (query: string) =>
      (await call<{ items: ChatSession[] }>("GET", query)).body.items.map((one) => one.id);
    expect(await ids("")).not.toContain(id);
    expect(await ids("?status=ended")).toContain(id);
    expect((await call("DELETE", `/${id}?purge=true`)).status).toBe(204);
    expect((await call("GET", `/${id}`)).status).toBe(404);
  });

  test("is refused at the field that is wrong", async () => {
    expect((await call("POST", "", { agent_id: "nobody-here" })).status).toBe(404);
    expect((await call("POST", "", { agent_id: "scribe", project_id: "proj_none" })).status).toBe(422);
    expect((await call("POST", "", { agent_id: "scribe", model: "nobody/knows" })).status).toBe(422);
    const { id } = await begin();
    expect((await call("POST", `/${id}/message`, { message: "" })).status).toBe(422);
    expect((await call("POST", `/${id}/message`, { message: "x", attachment_ids: ["att_none"] })).status).toBe(422);
    expect((await call("POST", `/${id}/message`, { message: "x", mode: "shout" })).status).toBe(422);
  });

  test("is its owner's alone: another user, sharing the agent, neither reads nor lists nor ends it", async () => {
    const { id } = await begin();
    await say(id, "private-canary");
    const message_id = (await detail(id)).messages[0]!.id;
    const asked: [string, string, object?][] = [
      ["GET", `/${id}`],
      ["PUT", `/${id}`, { title: "x" }],
      ["POST", `/${id}/message`, { message: "x" }],
      ["POST", `/${id}/stop`],
      ["POST", `/${id}/rewind`, { message_id }],
      ["POST", `/${id}/fork`, { message_id }],
      ["GET", `/${id}/export`],
      ["GET", `/${id}/queue`],
      ["DELETE", `/${id}`],
    ];
    for (const [method, path, body] of asked)
      expect([path, (await call(method, path, body, b)).status]).toEqual([path, 404]);
    expect(JSON.stringify((await call("GET", "?status=all", undefined, b)).body)).not.toContain(id);
    const own = await begin({}, b);
    const fork = await call("POST", `/${own.id}/fork`, { message_id }, b);
    expect(fork.status).toBe(404);
  });
});
