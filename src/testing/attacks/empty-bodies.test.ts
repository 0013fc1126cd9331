/** Empty changes: every operation that changes an existing object accepts `{}`, or says which member it needs. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { startServer, type TestServer } from "../server.ts";
import { makeSlowAgent, SLOW, slowAgentScript } from "../slow-agent.ts";

setDefaultTimeout(300_000);

const slow = slowAgentScript();
let server: TestServer;
beforeAll(async () => {
  server = await startServer({ env: slow.env });
});
afterAll(async () => {
  await server.remove();
  slow.remove();
});

const FIXED = [
  "/v1/settings",
  "/v1/settings/models",
  "/v1/preferences",
  "/v1/codehost/connection",
  "/v1/admin/tts-settings",
];

/** What each path parameter stands for here. */
async function places(): Promise<Record<string, string>> {
  const post = async (path: string, body: unknown): Promise<Record<string, string>> => {
    const answer = await server.request<Record<string, string>>("POST", path, { body });
    if (answer.status >= 300) throw new Error(`POST ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const create = async (path: string, body: unknown) => (await post(path, body))["id"] ?? "";
  await makeSlowAgent(server, "");
  await post("/v1/pipelines", { id: "mine", name: "Mine", steps: [{ id: "a", agent: "scribe", input: "x" }] });
  await post("/v1/skills", { name: "mine", description: "Where.", content: "Here." });
  await post("/v1/mcp", { id: "mine", transport: "http", url: "https://docs.example.com/mcp", enabled: false });
  await post("/v1/auth/oidc", { slug: "mine", name: "M", issuer: "https://id.example.com", client_id: "skep" });
  const kept = { title: "Mine", content: "Here." };
  const entry = (await server.request("POST", "/v1/memory/vaults/scribe/entries", { body: kept })).headers.get(
    "location",
  );
  await server.request("PUT", "/v1/settings/providers/custom-mine", {
    body: { kind: "openai-compatible", base_url: "http://127.0.0.1:9/v1", name: "Mine", models: [{ id: "m" }] },
  });
  const project = await create("/v1/projects", { name: "mine" });
  const task = await create(`/v1/projects/${project}/tasks`, { title: "One" });
  const chat = await create("/v1/chat/sessions", { agent_id: SLOW });
  await post(`/v1/chat/sessions/${chat}/message`, { message: "First" });
  const { message_id } = await post(`/v1/chat/sessions/${chat}/message`, { message: "Waits" });
  const routine = await create("/v1/pulse-routines/scribe", { name: "r", instructions: "Look", schedule: "0 6 * * *" });
  const hook = { name: "ops", kind: "webhook", url: "https://ops.example.com/x" };
  const channel = await create("/v1/notification-channels", hook);
  const bot = { kind: "telegram", name: "bot", token: "12345678", server: "https://telegram.invalid", enabled: false };
  const messenger = await create("/v1/messengers", bot);
  const secret = await create("/v1/secrets", { name: "MINE", value: "a-value-for-it" });
  const user = await create("/v1/users", { email: "mine@example.test" });
  await post(`/v1/projects/${project}/members`, { user });
  return {
    ...Object.fromEntries(FIXED.map((path) => [path, path])),
    "/v1/mcp/{id}": "/v1/mcp/mine",
    "/v1/mcp/{id}/status": "/v1/mcp/mine/status",
    "/v1/mcp/{id}/tools": "/v1/mcp/mine/tools",
    "/v1/projects/{id}": `/v1/projects/${project}`,
    "/v1/projects/{id}/environment": `/v1/projects/${project}/environment`,
    "/v1/projects/{id}/access": `/v1/projects/${project}/access`,
    "/v1/projects/{id}/members/{user_id}": `/v1/projects/${project}/members/${user}`,
    "/v1/projects/{id}/tasks": `/v1/projects/${project}/tasks`,
    "/v1/projects/{id}/tasks/{tid}": `/v1/projects/${project}/tasks/${task}`,
    "/v1/projects/{id}/tasks/{tid}/resolve-workflow": `/v1/projects/${project}/tasks/${task}/resolve-workflow`,
    "/v1/projects/{id}/vision": `/v1/projects/${project}/vision`,
    "/v1/projects/{id}/workflow-policy": `/v1/projects/${project}/workflow-policy`,
    "/v1/skills/{name}": "/v1/skills/mine",
    "/v1/skills/{name}/enabled": "/v1/skills/mine/enabled",
    "/v1/agent-tools/{agent_id}/{tool}": "/v1/agent-tools/scribe/read",
    "/v1/agents/{id}/config": "/v1/agents/scribe/config",
    "/v1/agents/{id}/tts-settings": "/v1/agents/scribe/tts-settings",
    "/v1/auth/oidc/{slug}": "/v1/auth/oidc/mine",
    "/v1/chat/sessions/{id}": `/v1/chat/sessions/${chat}`,
    "/v1/chat/sessions/{id}/queue/{message_id}": `/v1/chat/sessions/${chat}/queue/${message_id}`,
    "/v1/kept-history/{id}": `/v1/kept-history/${chat}`,
    "/v1/memory-scores/settings": "/v1/memory-scores/settings",
    "/v1/memory-scores/{agent_id}/{entry}": `/v1/memory-scores/scribe/${entry?.split("/").at(-1)}`,
    "/v1/memory/vaults/{agent_id}/entries/{entry}": entry ?? "",
    "/v1/notification-channels/{id}": `/v1/notification-channels/${channel}`,
    "/v1/messengers/{id}": `/v1/messengers/${messenger}`,
    "/v1/pipelines/{id}": "/v1/pipelines/mine",
    "/v1/pulse-routines/{agent_id}/{id}": `/v1/pulse-routines/scribe/${routine}`,
    "/v1/secrets/{id}": `/v1/secrets/${secret}`,
    "/v1/settings/providers/{id}": "/v1/settings/providers/custom-mine",
    "/v1/settings/harness-logins/{harness}": "/v1/settings/harness-logins/codex",
    "/v1/settings/user-providers/{provider}": "/v1/settings/user-providers/openai",
    "/v1/users/{id}": `/v1/users/${user}`,
  };
}
/** Operations whose body may be left out. */
const POSTS = ["/v1/projects/{id}/tasks/{tid}/resolve-workflow"];
/** These objects do not exist without a code host, or before two memories contradict each other. */
const NOT_MADE = ["/v1/codehost/rules/{id}", "/v1/memory/contradictions/{contradiction_id}"];

/** Values that an operation for an object must refuse. */
const NO_OBJECTS = ["null", "[]", '""', "0"];

test("no operation breaks by an empty object, another value, or members that are null", async () => {
  const at = await places();
  type Operation = { requestBody?: { content: Record<string, { schema?: { properties?: object; $ref?: string } }> } };
  interface Document {
    paths: Record<string, Record<string, Operation>>;
    components: { schemas: Record<string, { properties?: object }> };
  }
  const { paths, components } = (await server.request<Document>("GET", "/openapi.json")).body;
  const changing = Object.entries(paths).flatMap(([path, item]) =>
    ["put", "patch", ...(POSTS.includes(path) ? ["post"] : [])].flatMap((method) =>
      item[method] ? [{ path, method, operation: item[method] }] : [],
    ),
  );
  const unknown = changing.map(({ path }) => path).filter((path) => !at[path] && !NOT_MADE.includes(path));
  expect(unknown).toEqual([]);
  const findings: string[] = [];
  for (const { path, method, operation } of changing) {
    const schema = operation.requestBody?.content["application/json"]?.schema;
    const { properties = {} } = schema?.$ref
      ? (components.schemas[schema.$ref.split("/").at(-1)!] ?? {})
      : (schema ?? {});
    const nulls = Object.keys(properties).map((name) => JSON.stringify({ [name]: null }));
    for (const body of ["{}", ...NO_OBJECTS, '{"":null}', ...nulls]) {
      const headers = { "Content-Type": "application/json" };
      const target = at[path] ?? path.replace(/\{\w+\}/g, "x");
      const answer = await server.request(method.toUpperCase(), target, { body, headers });
      // 503 means that the required part is missing on this server.
      if (answer.status >= 500 && answer.status !== 503) findings.push(`${method} ${path} ${body}: ${answer.status}`);
      if (operation.requestBody && NO_OBJECTS.includes(body) && answer.status < 400)
        findings.push(`${method} ${path} took ${body} for an object`);
      if (body === "{}" && answer.status === 404 && at[path]) findings.push(`${method} ${path}: nothing is there`);
    }
  }
  expect(findings).toEqual([]);
});
