/**
 * Conventions that hold for all operations: addresses of created objects, times, ids, cursors, nulls, repeated
 * requests, limits.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { isId } from "../core/ids.ts";
import { startServer, type TestServer } from "./server.ts";

setDefaultTimeout(300_000);

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.remove());

const call = <T = Record<string, unknown>>(method: string, path: string, body?: unknown, headers = {}) =>
  server.request<T>(method, path, { body, headers });
const create = async (path: string, body: unknown): Promise<{ id: string }> => {
  const answer = await call<{ id: string }>("POST", path, body);
  expect({ path, status: answer.status, body: answer.body }).toMatchObject({ status: 201 });
  return answer.body;
};

type Schema = { [word: string]: unknown; properties?: Record<string, Schema> };
interface Document {
  paths: Record<string, Record<string, { parameters?: { name: string }[] }>>;
  components: { schemas: Record<string, Schema> };
}
const isList = (operation?: { parameters?: { name: string }[] }) =>
  operation?.parameters?.some(({ name }) => name === "cursor") === true;
const document = async () => {
  const { status, body } = await call<Document>("GET", "/openapi.json");
  expect({ status, body: status === 200 ? {} : body }).toEqual({ status: 200, body: {} });
  return body;
};

test("the OpenAPI document is the same before and after the operations were used", async () => {
  const fresh = await startServer();
  try {
    const before = await fresh.request<Document>("GET", "/openapi.json");
    const used = await startServer();
    try {
      const entry = { title: "Used", content: "Here." };
      expect((await used.request("POST", "/v1/memory/vaults/scribe/entries", { body: entry })).status).toBe(201);
      const lists = Object.entries(before.body.paths).filter(([path, { get }]) => !path.includes("{") && isList(get));
      for (const [path] of lists) await used.request("GET", path);
      expect(await used.request<Document>("GET", "/openapi.json")).toMatchObject({ status: 200, body: before.body });
    } finally {
      await used.remove();
    }
  } finally {
    await fresh.remove();
  }
});

describe("what is made", () => {
  test("is found at its Location, under an id of its kind", async () => {
    const project = await create("/v1/projects", { name: "places" });
    const creations: [path: string, body: object, kind?: Parameters<typeof isId>[0]][] = [
      ["/v1/projects", { name: "located" }, "project"],
      [`/v1/projects/${project.id}/tasks`, { title: "One" }, "task"],
      ["/v1/secrets", { name: "LOCATED", value: "a-value-for-it" }, "secret"],
      ["/v1/agents", { id: "located", name: "Located", prompt: "You are." }],
      ["/v1/skills", { name: "located", description: "Where.", content: "Here." }],
      ["/v1/pipelines", { id: "located", name: "L", steps: [{ id: "a", agent: "scribe", input: "x" }] }],
      ["/v1/runs", { pipeline_id: "hello", task_description: "Greet" }, "run"],
      ["/v1/chat/sessions", { agent_id: "scribe" }, "session"],
      ["/v1/spawn-executor/execute", { agent_id: "scribe", prompt: "Look" }, "spawn"],
      ["/v1/swarm/execute", { agent_id: "scribe", tasks: [{ key: "a", prompt: "Look" }] }, "swarm"],
      ["/v1/pulse-routines/scribe", { name: "daily", instructions: "Look", schedule: "0 6 * * *" }, "routine"],
      ["/v1/memory/vaults/scribe/entries", { title: "Located", content: "Here." }],
      ["/v1/mcp", { id: "located", transport: "http", url: "https://docs.example.com/mcp", enabled: false }],
      ["/v1/auth/oidc", { slug: "located", name: "L", issuer: "https://id.example.com", client_id: "skep" }],
      ["/v1/users", { email: "located@example.test" }, "user"],
      ["/v1/notification-channels", { name: "ops", kind: "webhook", url: "https://ops.example.com/x" }],
      ["/v1/ingest/transcript", { title: "Meeting", transcript: "Ann: We said this." }],
    ];
    const wrong: unknown[] = [];
    for (const [path, body, kind] of creations) {
      const answer = await call<{ id: string; session_id?: string }>("POST", path, body);
      const location = answer.headers.get("location");
      const there = location && (await call("GET", location)).status;
      const isNamed = kind === undefined || isId(kind, String(answer.body.id));
      if (![201, 202].includes(answer.status) || there !== 200 || !isNamed)
        wrong.push({ path, status: answer.status, location, there, body: answer.body });
    }
    expect(wrong).toEqual([]);
  });

  test("loses its description when null is sent, which then reads as when none was given", async () => {
    const project = await create("/v1/projects", { name: "cleared", description: "d" });
    const task = await create(`/v1/projects/${project.id}/tasks`, { title: "t", description: "d" });
    const secret = await create("/v1/secrets", { name: "CLEARED", value: "a-value-for-it", description: "d" });
    const tools = { id: "cleared", transport: "http", url: "https://docs.example.com/mcp", enabled: false };
    await create("/v1/mcp", { ...tools, description: "d" });
    await create("/v1/agents", { id: "cleared", name: "C", prompt: "You are.", description: "d" });
    const steps = [{ id: "a", agent: "scribe", input: "x" }];
    await create("/v1/pipelines", { id: "cleared", name: "C", description: "d", steps });
    const paths: [string, unknown][] = [
      [`/v1/projects/${project.id}`, ""],
      [`/v1/projects/${project.id}/tasks/${task.id}`, ""],
      [`/v1/secrets/${secret.id}`, ""],
      ["/v1/mcp/cleared", ""],
      ["/v1/agents/cleared/config", null],
      ["/v1/pipelines/cleared", null],
    ];
    for (const [path, empty] of paths) {
      const { status, body } = await call<Record<string, unknown>>("PUT", path, { description: null });
      expect({ path, status, description: body["description"] || empty }).toEqual({
        path,
        status: 200,
        description: empty,
      });
    }
  });
});

describe("a cursor", () => {
  test("of another list is refused with 422 by every list, of none with 400", async () => {
    for (const name of ["CURSOR_A", "CURSOR_B"]) await create("/v1/secrets", { name, value: "a-value-for-it" });
    const { next_cursor } = (await call<{ next_cursor: string }>("GET", "/v1/secrets?limit=1")).body;
    expect(next_cursor).toBeString();
    const { paths } = await document();
    const lists = Object.entries(paths).filter(([, { get }]) => isList(get));
    expect(lists.length).toBeGreaterThan(50);
    const taken: unknown[] = [];
    for (const [path] of lists.filter(([path]) => path !== "/v1/secrets")) {
      const at = path.replace("{relation}", "callers").replace(/\{\w+\}/g, "some");
      const needed = path.endsWith("/timeline") && path.includes("pulse") ? "from=2026-01-01&to=2026-01-02&" : "";
      const other = await call<{ errors?: { pointer: string }[] }>("GET", `${at}?${needed}cursor=${next_cursor}`);
      const none = await call("GET", `${at}?${needed}cursor=nonsense`);
      if (other.status !== 422 || other.body.errors?.[0]?.pointer !== "cursor" || none.status !== 400)
        taken.push({ path, other: other.status, body: other.body, none: none.status });
    }
    expect(taken).toEqual([]);
  });

  test("of the same list of another object is refused as another list's", async () => {
    const ids = await Promise.all(["left", "right"].map((name) => create("/v1/projects", { name })));
    const [left, right] = ids.map(({ id }) => `/v1/projects/${id}/tasks`) as [string, string];
    for (const title of ["a", "b"]) await create(left, { title });
    const { next_cursor } = (await call<{ next_cursor: string }>("GET", `${left}?limit=1`)).body;
    expect((await call("GET", `${left}?cursor=${next_cursor}`)).body).toMatchObject({ items: [{ title: "b" }] });
    expect((await call("GET", `${right}?cursor=${next_cursor}`)).status).toBe(422);
  });
});

describe("answers", () => {
  test("give every point in time as RFC 3339, in OpenAPI and in events too", async () => {
    const wrong: string[] = [];
    const look = (name: string, schema: unknown): void => {
      if (typeof schema !== "object" || schema === null) return;
      for (const [key, value] of Object.entries((schema as Schema).properties ?? {}))
        if (/_at$|^(deadline|at)$/.test(key) && !JSON.stringify(value).includes("date-time"))
          wrong.push(`${name}.${key}: ${JSON.stringify(value)}`);
      for (const part of Object.values(schema)) look(name, part);
    };
    // A transcript may contain seconds from its start.
    for (const [name, schema] of Object.entries((await document()).components.schemas))
      if (name !== "IngestTranscriptBody") look(name, schema);
    expect(wrong).toEqual([]);
  });

  test("list secrets newest first, page by page", async () => {
    const { id } = await create("/v1/agents", { id: "newest", name: "N", prompt: "You are." });
    for (const name of ["NEW_B", "NEW_A", "NEW_C"]) {
      await create("/v1/secrets", { name, value: "a-value-for-it" });
      await call("POST", `/v1/secrets/${name}/grant/${id}`);
    }
    for (const path of ["/v1/secrets", `/v1/secrets/agents/${id}`]) {
      type Page = { items: { name: string }[]; next_cursor: string };
      const first = (await call<Page>("GET", `${path}?limit=2`)).body;
      const next = (await call<Page>("GET", `${path}?limit=1&cursor=${first.next_cursor}`)).body;
      expect([...first.items, ...next.items].map(({ name }) => name)).toEqual(["NEW_C", "NEW_A", "NEW_B"]);
    }
  });

  test("carry the rate limit where nobody logs in, too; beyond it there is 429", async () => {
    const policy = (await call("GET", "/v1/status")).headers.get("ratelimit-policy");
    expect(policy).toBe('"api";q=6000;w=60');
    const held = await startServer({ env: { RATE_LIMIT: "3" } });
    try {
      for (const left of [2, 1, 0])
        expect((await held.request("GET", "/v1/status")).headers.get("ratelimit")).toMatch(
          new RegExp(`^"api";r=${left};t=\\d+$`),
        );
      const refused = await held.request("GET", "/v1/status");
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, expect.stringMatching(/^\d+$/)]);
    } finally {
      await held.remove();
    }
  });
});

describe("what is sent", () => {
  test("to an approval twice under one Idempotency-Key is answered twice and counts once", async () => {
    await create("/v1/pipelines", {
      id: "asked",
      name: "A",
      steps: [{ id: "ask", approval: { message: "Continue?" } }],
    });
    const run = await create("/v1/runs", { pipeline_id: "asked", task_description: "Ask" });
    for (let waits = false; !waits; ) {
      const { items } = (await call<{ items: unknown[] }>("GET", "/v1/approvals?state=waiting")).body;
      waits = items.length > 0;
    }
    const answer = () =>
      call("POST", `/v1/runs/${run.id}/approve`, { step_id: "ask", approved: true }, { "Idempotency-Key": "yes-1" });
    const [first, again] = [await answer(), await answer()];
    expect([first.status, again.status, again.headers.get("idempotent-replayed")]).toEqual([200, 200, "true"]);
    expect(again.body).toEqual(first.body);
  });

  test("as an image that is not an image's name is refused, wherever one is taken", async () => {
    const agent = await create("/v1/agents", { id: "imaged", name: "I", prompt: "You are." });
    for (const image of ["not an image!", "a/../b", "--privileged", "UPPER/case"]) {
      const settings = await call("PUT", "/v1/settings", { sandbox: { image } });
      expect({ image, status: settings.status, body: settings.body }).toMatchObject({
        status: 422,
        body: { errors: [{ pointer: "/sandbox/image", message: expect.stringContaining("Container image") }] },
      });
      expect((await call("PUT", `/v1/agents/${agent.id}/config`, { image })).status).toBe(422);
    }
    for (const image of ["team/agent:1", `host.example:5000/a/b@sha256:${"0".repeat(64)}`, null])
      expect((await call("PUT", "/v1/settings", { sandbox: { image } })).status).toBe(200);
  });

  test("to switch off the tools that end an agent's work is refused, by name", async () => {
    for (const tool of ["complete", "fail"])
      expect(await call("PUT", `/v1/agent-tools/scribe/${tool}`, { enabled: false })).toMatchObject({
        status: 422,
        body: { errors: [{ pointer: "/tool", message: expect.stringContaining(tool) }] },
      });
    expect((await call("PUT", "/v1/agent-tools/scribe/bash", { enabled: false })).status).toBe(200);
  });
});
