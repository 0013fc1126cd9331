/** Attack rows A1, A3, A7, A18, A31: what the gate must guarantee, whatever is behind it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Socket } from "node:net";
import { expectWork } from "../busy-machine.ts";
import { skep } from "../command.ts";
import { mainThreadMs } from "../main-thread.ts";
import { startServer, type TestServer } from "../server.ts";

const ENGINE = "engine-token-engine-token-1";
let guarded: TestServer;
let local: TestServer;
beforeAll(async () => {
  [guarded, local] = await Promise.all([
    startServer({ env: { AUTH_ENABLED: "true", ENGINE_INTERNAL_TOKEN: ENGINE } }),
    startServer({ env: { ENGINE_INTERNAL_TOKEN: "" } }),
  ]);
});
afterAll(() => Promise.all([guarded.remove(), local.remove()]));

/** A handmade request, so that no client normalizes its path or headers. @returns the status and the whole answer. */
function raw(server: TestServer, head: string): Promise<{ status: number; text: string }> {
  const { port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    const socket = new Socket();
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk;
    });
    socket.on("close", () => resolve({ status: Number(text.split(" ")[1] ?? 0), text }));
    socket.on("error", reject);
    socket.connect(Number(port), "127.0.0.1", () => socket.write(head));
  });
}
const get = (path: string, host: string, more = "") =>
  `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${more}\r\n`;

describe("A1 nothing is done before the credential is checked", () => {
  test("a body that does not parse, or that is too large, is still 401 without a credential", async () => {
    for (const body of ['{"name":', "x".repeat(2 * 1024 * 1024)]) {
      const answer = await guarded.request("POST", "/v1/secrets", {
        body,
        headers: { "Content-Type": "application/json" },
      });
      expect(answer.status).toBe(401);
      expect(answer.headers.get("www-authenticate")).toStartWith("Bearer");
    }
    const list = await guarded.request("GET", "/v1/secrets", { token: ENGINE });
    expect(list.body).toEqual({ items: [], next_cursor: null });
  });
});

describe("A3 one path, one decision", () => {
  const shapes = [
    "/v1/secrets",
    "/v1/secrets/",
    "/v1//secrets",
    "/v1/./secrets",
    "/v1/status/../secrets",
    "/v1/%2e%2e/v1/secrets",
    "/v1/secrets;x=1",
    "/v1/secrets%2f",
    "/v1\\secrets",
    "/V1/secrets",
    "//v1/secrets",
    "/v1/secrets%00",
    "/v1/secrets?x=/healthz",
    "/healthz/../v1/secrets",
    "/docs/../v1/secrets",
    "/v1/secrets.json",
    "/v1/secrets%20",
  ];
  test("no spelling of a protected path answers without a credential", async () => {
    const { host } = new URL(guarded.url);
    for (const shape of shapes)
      for (const method of ["GET", "HEAD", "PUT", "POST"]) {
        const { status, text } = await raw(guarded, get(shape, host).replace("GET", method));
        expect([method, shape, status >= 400 && status < 500]).toEqual([method, shape, true]);
        expect(text).not.toContain('"items"');
      }
  });
  test("dots are not resolved: a path that holds them, in any spelling, is nothing", async () => {
    const { host } = new URL(local.url);
    for (const shape of [
      "/docs/%2e%2e/healthz",
      "/docs/%2E%2e/v1/secrets",
      "/docs/../healthz",
      "/docs/..",
      "/docs/%2e%2e/",
      "/%2e/healthz",
      "/./healthz",
      "/healthz/.",
      "/v1/x/../secrets",
      "/v1/x/%2e%2e/secrets/",
      "/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/../../../../../../../../../../../../../../../../../healthz",
      "/docs/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
    ]) {
      const { status, text } = await raw(local, get(shape, host));
      expect([shape, status, text.includes("application/problem+json")]).toEqual([shape, 404, true]);
    }
  });
  test("a trailing slash is the same resource, and a wrong method is 405 with Allow", async () => {
    expect((await local.request("GET", "/v1/secrets/")).status).toBe(200);
    const wrong = await local.request("PATCH", "/v1/secrets");
    expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "GET, POST, HEAD, OPTIONS"]);
    const options = await local.request("OPTIONS", "/v1/secrets");
    expect([options.status, options.headers.get("allow")]).toEqual([204, "GET, POST, HEAD, OPTIONS"]);
  });
});

describe("A7 an empty token is no token", () => {
  test("no empty-like credential is taken, with and without an engine token set", async () => {
    for (const value of [
      "Bearer",
      "Bearer ",
      "Bearer null",
      "Bearer undefined",
      "Bearer []",
      "Bearer {}",
      "Bearer 0",
      "bearer  ",
      "Basic Og==",
    ])
      expect([
        value,
        (await guarded.request("GET", "/v1/secrets", { headers: { Authorization: value } })).status,
      ]).toEqual([value, 401]);
  });
});

describe("a key that can be guessed", () => {
  const short = { ENGINE_INTERNAL_TOKEN: "short", SECRET_ENCRYPTION_KEY: "tiny" };
  test("is warned of on a machine's own loopback address, and works there", async () => {
    const server = await startServer({ env: short });
    try {
      for (const name of Object.keys(short)) expect(server.output()).toContain(`${name} is short enough to be guessed`);
      expect((await server.request("GET", "/v1/settings/providers/keys/all", { token: "short" })).status).toBe(200);
    } finally {
      await server.remove();
    }
  });
  test.each([
    { HOST: "0.0.0.0" },
    { TRUSTED_PROXIES: "127.0.0.1" },
    { PUBLIC_URL: "https://skep.example.test" },
  ] as Record<string, string>[])("is refused with %j", async (env) => {
    for (const [name, value] of Object.entries(short)) {
      const { code, stderr } = await skep(["serve"], { env: { ...env, [name]: value, DATA: "/nonexistent/data" } });
      expect([code, stderr]).toEqual([2, expect.stringContaining(`${name} accepts`)]);
      expect(stderr).not.toContain(value);
    }
  });
});

describe("A18 pages elsewhere cannot use a local server", () => {
  test("a foreign Host is refused on a loopback bind", async () => {
    for (const host of ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8000", "[::2]", ""]) {
      const { status } = await raw(local, get("/v1/secrets", host));
      expect([host, status >= 400]).toEqual([host, true]);
    }
    expect((await raw(local, get("/v1/secrets", "localhost"))).status).toBe(200);
  });
  test("a foreign origin may change nothing and is never named in an answer", async () => {
    for (const headers of [
      { Origin: "https://evil.example" },
      { Origin: "null" },
      { "Sec-Fetch-Site": "cross-site" },
    ] as Record<string, string>[]) {
      const answer = await local.request("POST", "/v1/secrets", {
        body: { name: "FROM_AFAR", value: "value-value" },
        headers,
      });
      expect(answer.status).toBe(403);
      expect(answer.headers.get("access-control-allow-origin")).toBeNull();
    }
    expect(JSON.stringify((await local.request("GET", "/v1/secrets")).body)).not.toContain("FROM_AFAR");
  });
  test("our own page's origin may", async () => {
    const answer = await local.request("POST", "/v1/secrets", {
      body: { name: "FROM_HERE", value: "value-value" },
      headers: { Origin: local.url },
    });
    expect(answer.status).toBe(201);
  });
});

describe("A31 long input holds nobody up", () => {
  test("100 kB in every kind of field costs little", async () => {
    const long = "a".repeat(100_000);
    const before = mainThreadMs(local.pid);
    for (const path of [
      `/v1/secrets?cursor=${long.slice(0, 8_000)}`,
      `/v1/events/stream?kinds=${long.slice(0, 8_000)}`,
      `/v1/secrets/${long.slice(0, 8_000)}/grant/x`,
    ])
      await local.request("GET", path);
    await local.request("POST", "/v1/secrets", { body: { name: long, value: long, description: long } });
    await local.request("POST", "/v1/secrets", { body: { name: "A!".repeat(50_000), value: "x" } });
    expect((await local.request("GET", "/healthz")).status).toBe(200);
    // A pattern that backtracks would take minutes here.
    expectWork("answering", mainThreadMs(local.pid) - before, 500);
  });
});

describe("errors", () => {
  test("every problem has one shape and echoes nothing that was sent", async () => {
    const canary = "canary-canary-canary";
    const answers = await Promise.all([
      local.request("GET", `/v1/${canary}`),
      local.request("POST", "/v1/secrets", { body: { name: canary, value: 7 } }),
      local.request("POST", "/v1/secrets", { body: `{"${canary}`, headers: { "Content-Type": "application/json" } }),
      local.request("POST", "/v1/secrets", { body: canary, headers: { "Content-Type": "text/plain" } }),
      local.request("GET", `/v1/secrets?cursor=${canary}`),
      local.request("GET", "/v1/secrets?limit=0"),
      local.request("POST", "/v1/secrets", { body: { name: "X", value: "y" }, headers: { "Idempotency-Key": "" } }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([404, 422, 400, 415, 400, 422, 400]);
    for (const { body, headers } of answers) {
      expect(headers.get("content-type")).toBe("application/problem+json");
      expect(Object.keys(body)).toEqual(
        expect.arrayContaining(["type", "title", "status", "detail", "instance", "code", "request_id"]),
      );
      const { instance: _, ...rest } = body;
      expect(JSON.stringify(rest)).not.toContain(canary);
    }
  });
  test("no cache keeps an answer, and the id of a request is taken over only when it is a plain word", async () => {
    for (const [given, kept] of [
      ["trace-1.a:b_C", true],
      ["<b>x</b>", false],
      ["two words", false],
      ["x".repeat(129), false],
    ] as const)
      for (const [path, status] of [
        ["/v1/secrets", 200],
        ["/v1/nothing", 404],
      ] as const) {
        const answer = await local.request("GET", path, { headers: { "X-Request-Id": given } });
        expect([answer.status, answer.headers.get("cache-control")]).toEqual([status, "no-store"]);
        const id = answer.headers.get("x-request-id") ?? "";
        expect([given, id === given, kept || id.startsWith("req_")]).toEqual([given, kept, true]);
      }
  });
  test("a browser that asks for a page below the API gets the problem, not the dashboard", async () => {
    const { status, headers } = await local.request("GET", "/v1/nothing", { headers: { Accept: "text/html" } });
    expect([status, headers.get("content-type")]).toEqual([404, "application/problem+json"]);
  });
  test("a bad credential counts towards the requests of its address", async () => {
    const few = await startServer({ env: { AUTH_ENABLED: "true", RATE_LIMIT: "3" } });
    try {
      const statuses: number[] = [];
      for (const token of ["a", "b", "c", "d"])
        statuses.push((await few.request("GET", "/v1/secrets", { token: `skep_${token.repeat(43)}` })).status);
      expect(statuses).toEqual([401, 401, 401, 429]);
    } finally {
      await few.remove();
    }
  });
  test("the same Idempotency-Key makes one thing once, also after a restart", async () => {
    const server = await startServer();
    const send = (to: TestServer, name: string) =>
      to.request("POST", "/v1/secrets", { body: { name, value: "value-value" }, headers: { "Idempotency-Key": "k1" } });
    const first = await send(server, "ONCE");
    const again = await send(server, "ONCE");
    expect([first.status, again.status, again.body["secret_id"]]).toEqual([201, 201, first.body["secret_id"]]);
    expect((await send(server, "OTHER")).status).toBe(422);
    await server.stop();
    const restarted = await startServer({ data: server.data });
    const later = await send(restarted, "ONCE");
    expect([later.status, later.headers.get("location"), later.body]).toEqual([
      201,
      first.headers.get("location"),
      first.body,
    ]);
    await restarted.remove();
  });
});
