/** Summaries on request, and titles that a model writes, on a server with the scripted model. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { temporaryFolder } from "../../testing/command.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { Job } from "../jobs/model.ts";
import type { ChatDetail, ChatSession } from "./model.ts";

setDefaultTimeout(300_000);

/**
 * The second reply calls a tool; the summary must keep the call together with its result. The first reply also serves
 * as summary and title.
 */
const SCRIPT = `version: 1
default:
  - { text: "**Bells of brass.**" }
  - { text: "Looking.", tool_calls: [{ tool: ls, input: { path: "." } }] }
  - { text: "Nothing there." }
  - { text: "As I said." }
`;

let server: TestServer;
const folder = temporaryFolder();
beforeAll(async () => {
  const script = join(folder.path, "script.yml");
  writeFileSync(script, SCRIPT);
  server = await startServer({ env: { DEMO_SCRIPT: script } });
});
afterAll(async () => {
  await server.remove();
  folder.remove();
});

const call = async <T = ChatSession>(method: string, path: string, body?: object) =>
  server.request<T & { code: string }>(method, `/v1/chat/sessions${path}`, { body });
const begin = async () => (await call("POST", "", { agent_id: "scribe" })).body.id;
const say = (id: string, message: string) => call<string>("POST", `/${id}/message?stream=true`, { message });
const messagesOf = async (id: string) => (await call<ChatDetail>("GET", `/${id}`)).body.messages;
const exportChat = async (id: string) => (await call<ChatDetail>("GET", `/${id}/export?format=json`)).body;
async function waitForEnd(job: Job): Promise<Job> {
  const { body } = await server.request<Job>("GET", `/v1/jobs/${job.id}`);
  if (body.state !== "queued" && body.state !== "running") return body;
  await Bun.sleep(50);
  return waitForEnd(job);
}
async function compactChat(id: string): Promise<void> {
  const answer = await call<Job>("POST", `/${id}/compact`);
  expect(answer.status).toBe(202);
  expect(answer.headers.get("location")).toBe(`/v1/jobs/${answer.body.id}`);
  expect((await waitForEnd(answer.body)).state).toBe("succeeded");
}

test("a summary is one row that points at what it covers; every message stays as it was, in the export too", async () => {
  const id = await begin();
  await say(id, "What rings?");
  await say(id, "Look.");
  const before = await exportChat(id);
  await compactChat(id);
  const after = await exportChat(id);
  expect(JSON.stringify(after.messages.slice(0, -1))).toBe(JSON.stringify(before.messages));
  expect(after.messages.at(-1)).toMatchObject({
    role: "system",
    content: "**Bells of brass.**",
    summary_to: before.messages.length - 1,
    withdrawn: false,
  });
  expect(
    (await call("POST", `/${id}/compact`).then(({ body }) => waitForEnd(body as unknown as Job))).error,
  ).toMatchObject({
    code: "nothing_to_compact",
  });
  await say(id, "And then?");
  expect((await messagesOf(id)).at(-1)).toMatchObject({ role: "assistant" });
  const calls = await server.request<{ items: { purpose: string }[] }>("GET", `/v1/llm-calls?session_id=${id}`);
  expect(calls.body.items.filter(({ purpose }) => purpose === "summary")).toHaveLength(1);
});

test("what a reply cost is at its last message alone, on every page of the chat", async () => {
  const id = await begin();
  await say(id, "What rings?");
  await say(id, "Look.");
  const db = new Database(join(server.data, "skep.db"));
  db.prepare(
    "UPDATE executions SET cost_nano = 1500000, calls_without_price = 1 WHERE session_id = ? AND turns > 1",
  ).run(id);
  db.close();
  const costs = (messages: ChatDetail["messages"]) =>
    messages.flatMap(({ role, content, reply_cost_usd: cost, reply_calls_without_price: unpriced }) =>
      role === "assistant" ? [[content, cost, unpriced]] : [],
    );
  const whole = [
    ["**Bells of brass.**", 0, 0],
    ["Looking.", undefined, undefined],
    ["Nothing there.", 0.0015, 1],
  ];
  expect(costs(await messagesOf(id))).toEqual(whole);
  const { messages } = (await call<ChatDetail>("GET", `/${id}?before=4&limit=4`)).body;
  expect(costs(messages)).toEqual(whole.slice(0, 2));
});

test("rewinding to before a summary takes it back too, and a fork from there has none", async () => {
  const id = await begin();
  await say(id, "What rings?");
  await say(id, "Look.");
  await compactChat(id);
  const [first, reply] = await messagesOf(id);
  const fork = (await call("POST", `/${id}/fork`, { message_id: reply!.id })).body.id;
  expect((await messagesOf(fork)).map(({ role }) => role)).toEqual(["user", "assistant"]);
  const whole = (await call("POST", `/${id}/fork`, { message_id: (await messagesOf(id)).at(-1)!.id })).body.id;
  expect((await messagesOf(whole)).at(-1)).toMatchObject({ role: "system" });
  await say(whole, "Continue.");
  expect((await call("POST", `/${id}/rewind`, { message_id: first!.id })).status).toBe(200);
  expect((await messagesOf(id)).every(({ withdrawn }) => withdrawn)).toBe(true);
  await say(id, "Again.");
  expect((await messagesOf(id)).at(-1)).toMatchObject({ content: "**Bells of brass.**", withdrawn: false });
});

test("the meter shows what the next request will hold: less after a summary, nothing known after messages are taken back", async () => {
  const id = await begin();
  const readUsed = async () => (await call("GET", `/${id}`)).body.context.used;
  await say(id, `What rings? ${"Ding dong. ".repeat(2_000)}`);
  const before = (await readUsed())!;
  await compactChat(id);
  const after = (await readUsed())!;
  expect(after).toBeGreaterThan(0);
  expect(after).toBeLessThan(before - 2_000);
  await say(id, "And then?");
  // The model's own count for the next request is near the estimate.
  expect(Math.abs((await readUsed())! - after)).toBeLessThan(after / 2);
  await call("POST", `/${id}/rewind`, { message_id: (await messagesOf(id)).at(-1)!.id });
  expect(await readUsed()).toBeNull();
});

test("a fork is summarised before anything was said in it", async () => {
  const id = await begin();
  await say(id, "What rings?");
  const last = (await messagesOf(id)).at(-1)!;
  const fork = (await call("POST", `/${id}/fork`, { message_id: last.id })).body.id;
  await compactChat(fork);
  const messages = await messagesOf(fork);
  expect(messages.at(-1)).toMatchObject({ role: "system", summary_to: 1 });
  await say(fork, "Continue.");
  expect((await call("GET", `/${fork}`)).body).toMatchObject({ status: "ready", message_count: messages.length + 2 });
});

test("there is nothing to summarise in a chat without a reply, and none for one that has ended", async () => {
  const id = await begin();
  expect(await call("POST", `/${id}/compact`)).toMatchObject({ status: 409, body: { code: "nothing_to_compact" } });
  await call("DELETE", `/${id}`);
  expect(await call("POST", `/${id}/compact`)).toMatchObject({ status: 409, body: { code: "session_ended" } });
  expect((await call("POST", "/sess_00000000000000000000000000/compact")).status).toBe(404);
});

test("with a model for summaries the first turn gives the chat a title; one of a person's stays", async () => {
  const changed = await server.request("PUT", "/v1/settings", { body: { models: { summary: "demo/scripted" } } });
  expect(changed.status).toBe(200);
  const waitForTitle = async (id: string) => {
    const { items } = (await server.request<{ items: Job[] }>("GET", "/v1/jobs")).body;
    const job = items.find(({ kind, result }) => kind === "title_chat" && result !== undefined);
    if (job) await waitForEnd(job);
    return (await call("GET", `/${id}`)).body.title;
  };
  const id = await begin();
  await say(id, "What rings?");
  expect(await waitForTitle(id)).toBe("Bells of brass");
  const own = (await call("POST", "", { agent_id: "scribe", title: "Mine" })).body.id;
  await say(own, "What rings?");
  expect(await waitForTitle(own)).toBe("Mine");
});
