/**
 * A picture reaches a model that accepts pictures, also with a message to an agent at work. If the model does not
 * accept them, the person is told.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { createModelServer, type ModelServer, reply } from "../../testing/model-server.ts";
import { startServer, type TestServer } from "../../testing/server.ts";

setDefaultTimeout(300_000);
let models: ModelServer;
let server: TestServer;
beforeAll(async () => {
  models = await createModelServer();
  server = await startServer({ env: { SANDBOX: "process", ALLOW_HOST_SHELL: "true" } });
  const known = ["blind", "seeing"].map((id) => ({ id, context_window: 16_384, images: id === "seeing" }));
  const lab = { base_url: `${models.origin}/v1`, models: known };
  await server.request("PUT", "/v1/settings/providers/custom-lab", { body: lab });
  await server.request("POST", "/v1/agents", { body: { id: "talker", prompt: "You talk." } });
});
afterAll(async () => {
  await models.stop();
  await server.remove();
});

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC",
  "base64",
);
interface Chat {
  id: string;
  status: string;
  messages: { role: string; content: string }[];
}

const open = async (model: string): Promise<string> =>
  (await server.request<Chat>("POST", "/v1/chat/sessions", { body: { agent_id: "talker", model } })).body.id;
async function send(chat: string, message: string, mode: "queue" | "steer", name?: string): Promise<void> {
  const attachment_ids: string[] = [];
  if (name !== undefined) {
    const form = new FormData();
    form.append("file", new File([PNG], name, { type: "image/png" }));
    const sent = await server.request<{ id: string }>("POST", "/v1/attachments/upload", { body: form });
    expect(sent.status).toBe(201);
    attachment_ids.push(sent.body.id);
  }
  const body = { message, attachment_ids, mode };
  expect((await server.request("POST", `/v1/chat/sessions/${chat}/message`, { body })).status).toBe(202);
}
/** The chat, once its agent has stopped working. */
async function waitForEnd(chat: string): Promise<Chat> {
  for (;;) {
    const { body } = await server.request<Chat>("GET", `/v1/chat/sessions/${chat}`);
    if (body.status !== "busy") return body;
  }
}
const toldIn = ({ messages }: Chat) => messages.filter(({ content }) => content.includes("cannot see pictures"));
const requests = () => models.requests.filter(({ path }) => path.endsWith("/chat/completions"));

/** The first reply waits for the steering message and then calls a tool, so that another call follows. */
async function steerChat(model: string, first?: string): Promise<{ chat: Chat; before: string; after: string }> {
  const [asked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const already = requests().length;
  models.answerBy(() => {
    asked.resolve();
    if (requests().length > already + 1) return reply({ text: "Seen." });
    const call = reply({ toolCalls: [{ id: "c1", name: "ls", input: { path: "." } }] });
    return { ...call, until: () => gate.promise };
  });
  const id = await open(model);
  await send(id, "Look around", "queue", first);
  await asked.promise;
  await send(id, "And at this", "steer", "roof.png");
  gate.resolve();
  const chat = await waitForEnd(id);
  const [before, after] = requests()
    .slice(already)
    .map(({ body }) => JSON.stringify(body));
  return { chat, before: before!, after: after! };
}

test("a picture of a steering message is in the next request to a model that sees", async () => {
  const { chat, before, after } = await steerChat("custom-lab/seeing");
  expect(before).not.toContain("image_url");
  expect(after).toContain(`data:image/png;base64,${PNG.toString("base64")}`);
  expect(after).toContain("And at this");
  expect(toldIn(chat)).toEqual([]);
});

test("a picture for a model that cannot see is told to the person, once for each message", async () => {
  const { chat, after } = await steerChat("custom-lab/blind", "roof.png");
  expect(after).not.toContain("image_url");
  const told = toldIn(chat);
  expect(told.map(({ role }) => role)).toEqual(["system", "system"]);
  for (const { content } of told)
    expect(content).toMatch(/^custom-lab\/blind cannot see pictures: roof\.png was not shown to it/);
});
