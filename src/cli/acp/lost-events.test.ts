/** `skep acp` when the server's event log has lost what the editor did not read yet. */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { becomes } from "../../testing/attacks/waiting.ts";
import { openEditor } from "../../testing/editor.ts";
import { type Behaviour, createModelServer, type ModelServer, reply } from "../../testing/model-server.ts";
import { startServer, type TestServer } from "../../testing/server.ts";

setDefaultTimeout(300_000);

let models: ModelServer;
let server: TestServer;
beforeAll(async () => {
  models = await createModelServer();
  server = await startServer();
  const lab = { base_url: `${models.origin}/v1`, models: [{ id: "large", context_window: 128_000 }] };
  expect(await server.request("PUT", "/v1/settings/providers/custom-lab", { body: lab })).toMatchObject({
    status: 200,
  });
  const body = { id: "plain", prompt: "You work.", model: "custom-lab/large" };
  expect(await server.request("POST", "/v1/agents", { body })).toMatchObject({ status: 201 });
});
afterAll(async () => {
  await server.remove();
  await models.stop();
});

const restart = async (port: string) => {
  server = await startServer({ data: server.data, env: { PORT: port } });
};
/** Removes events as pruning does: those of the lowest ids. @param kept kind of events that stay. */
function loseEvents(kept: string): void {
  const database = new Database(join(server.data, "skep.db"));
  database.run("DELETE FROM events WHERE kind <> ?", [kept]);
  database.run("UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'events'");
  database.close();
}

const SAID: Behaviour = reply({ text: "The whole." });
const REFUSED: Behaviour = { kind: "status", status: 401 };
const WHY = "custom-lab asks for a key (401), and none is stored.";
test.each<[lost: string, end: string, then: Behaviour, kept: string, told: object]>([
  ["all events", "done", SAID, "none", { stopReason: "end_turn" }],
  ["all events", "failed", REFUSED, "none", { message: expect.stringContaining("The reply failed.") }],
  ["all but the end", "failed", REFUSED, "turn_ended", { message: expect.stringContaining(WHY) }],
])("a reply of which %s are lost ends in the editor as it ended: %s", async (_lost, _end, then, kept, told) => {
  models.next({ kind: "hang", reply: { text: "Half a " } }, then);
  const { port } = new URL(server.url);
  const editor = await openEditor({ args: ["--agent", "plain", "--url", server.url] });
  const { sessionId } = await editor.agent.request("session/new", { cwd: "/", mcpServers: [] });
  const answer = editor.agent
    .request("session/prompt", { sessionId, prompt: [{ type: "text", text: "Tell." }] })
    .catch((error) => error);
  await editor.until(sessionId, () => editor.readText(sessionId) === "Half a ");
  await server.stop("SIGKILL");
  // The reply ends at another address, where the editor does not read it.
  await restart("0");
  const chat = () => server.request("GET", `/v1/chat/sessions/${sessionId}`);
  await becomes(async () => (await chat()).body["status"], "ready");
  await server.stop();
  loseEvents(kept);
  await restart(port);
  expect(await answer).toMatchObject(told);
  expect(editor.readText(sessionId, "agent_thought_chunk")).toContain("Some words of this reply are missing here.");
  expect((await editor.close()).code).toBe(0);
});
