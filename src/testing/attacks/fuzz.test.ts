/**
 * Sends valid, nearly valid and garbage input to every operation that the server describes, with every kind of
 * credential, from a fixed seed. Nothing may break or hang, and no answer may contradict the API's document.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Account, elsewhere, logIn, makeUser, PASSWORD, setupAdmin } from "../accounts.ts";
import { isTooMuch } from "../busy-machine.ts";
import { mainThreadMs } from "../main-thread.ts";
import { startServer, type TestServer } from "../server.ts";
import {
  createDice,
  createInputs,
  garbage,
  type Inputs,
  type Known,
  resolver,
  type Schema,
  STRINGS,
} from "./fuzz-input.ts";
import { createHeldRun, type HeldRun, HOLD_STEP, waitForRunEnd } from "./held-run.ts";

// A generous limit for busy machines: these tests wait for events, not for fixed times.
setDefaultTimeout(300_000);

const SEED = 20_260_101;
const ENGINE = "engine-token-engine-token";
/** A request without an answer after this time, in ms, counts as hanging. */
const HANG_MS = 240_000;
/** How much of the server's main thread a request may use, in ms. */
const COST_MS = 200;
/** Number of requests for each operation. Credentials with more rights try more. */
const ROUNDS = {
  none: 2,
  garbage: 1,
  user: 3,
  key: 2,
  execution: 3,
  engine: 2,
  admin: 8,
  cookie: 2,
  adminCookie: 1,
  readKey: 1,
  runsKey: 1,
  writeKey: 1,
  adminKey: 2,
  endedSession: 1,
  revokedKey: 1,
  refreshToken: 1,
  basic: 1,
} as const;
type Credential = keyof typeof ROUNDS;
/** Codes for a part that this server does not have. Only these answers may have a status of 500 or above. */
const ABSENT = new Set([
  "sandbox_unavailable",
  "setup_unsupported",
  "provider_not_configured",
  "codehost_not_configured",
  "localvoice_unreachable",
  "identity_provider_unreachable",
]);

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  schema?: Schema;
}
interface Announced {
  $ref?: string;
  content?: Record<string, unknown>;
}
interface Operation {
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema?: Schema }> };
  responses: Record<string, Announced | undefined>;
}
interface Described {
  method: string;
  path: string;
  operation: Operation;
}
interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}
interface Sent {
  path: string;
  headers: Record<string, string>;
  body: string | FormData | null;
}

const pipeline = (id: string) =>
  `id: ${id}\nname: Fuzzed\ndefaults: { model: demo/scripted }\nsteps:\n  - id: ask\n    agent: fuzzed\n    input: hi\n    outputs: [answer]\n`;
const SCRIPT = JSON.stringify({
  version: 1,
  steps: HOLD_STEP,
  default: [{ text: "Well.", tool_calls: [{ tool: "complete", input: { outputs: { answer: "a" }, summary: "s" } }] }],
});

const folder = mkdtempSync(join(tmpdir(), "skep-fuzz-"));
let server: TestServer;
let admin: Account;
let user: Account;
let key: string;
let held: HeldRun;
let document: Document;
let known: Known;

beforeAll(async () => {
  writeFileSync(join(folder, "script.json"), SCRIPT);
  server = await startServer({
    env: {
      AUTH_ENABLED: "true",
      ENGINE_INTERNAL_TOKEN: ENGINE,
      RATE_LIMIT: "0",
      TRUSTED_PROXIES: "127.0.0.1",
      DEMO_SCRIPT: join(folder, "script.json"),
      ALLOW_HOST_SHELL: "true",
    },
  });
  admin = await setupAdmin(server);
  user = await makeUser(server, admin, "user@example.test");
  held = await createHeldRun(server, admin.token);
  document = (await server.request<Document>("GET", "/openapi.json")).body;
  known = await furnish();
}, 1_200_000);
afterAll(async () => {
  await server.remove();
  rmSync(folder, { recursive: true, force: true });
});

const admins = async (method: string, path: string, body?: unknown): Promise<Record<string, unknown>> => {
  const answer = await server.request(method, path, { token: admin.token, body });
  if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};

/** Creates one of everything, so that requests get past the first look-up. */
async function furnish(): Promise<Known> {
  await admins("POST", "/v1/agents", { id: "fuzzed", prompt: "You are fuzzed." });
  await admins("POST", "/v1/skills", { name: "fuzzed", description: "d", content: "c" });
  await admins("POST", "/v1/pipelines", { source: pipeline("fuzzed") });
  const secret = await admins("POST", "/v1/secrets", { name: "FUZZED", value: "value-value-value" });
  const project = await admins("POST", "/v1/projects", { name: "fuzzed" });
  const run = await admins("POST", "/v1/runs", {
    pipeline_id: "fuzzed",
    task_description: "t",
    project_name: "fuzzed",
  });
  const done = await waitForRunEnd(server, admin.token, run["id"] as string);
  expect(done["status"]).toBe("succeeded");
  const victim = await makeUser(server, admin, "victim@example.test");
  await admins("POST", "/v1/auth/oidc", {
    slug: "fuzzed",
    name: "F",
    issuer: "https://127.0.0.1:9/",
    client_id: "c",
    client_secret: "s",
  });
  await admins("PUT", "/v1/settings/providers/custom-fuzzed", {
    base_url: "http://127.0.0.1:9/v1",
    api_key: "k".repeat(20),
  });
  const made = await server.request<{ key: string; id: string }>("POST", "/v1/auth/api-keys", {
    token: user.token,
    body: { name: "fuzz" },
  });
  key = made.body.key;
  const spare = await server.request<{ id: string }>("POST", "/v1/auth/api-keys", {
    token: user.token,
    body: { name: "spare" },
  });
  const calls = await admins("GET", "/v1/llm-calls");
  const call = (calls["items"] as { id: string }[])[0]!.id;
  const steps = await admins("GET", `/v1/steps/${run["id"]}`);
  const step = (steps["items"] as { id: string }[])[0]!.id;
  return {
    agent_id: ["fuzzed", "holder"],
    agent: ["fuzzed"],
    agents: ["fuzzed"],
    name: ["fuzzed", "FUZZED"],
    slug: ["fuzzed"],
    pipeline_id: ["fuzzed"],
    project_id: [project["id"] as string],
    project_name: ["fuzzed"],
    tool: ["bash", "read"],
    run_id: [run["id"] as string, held.id],
    step_id: ["ask", step],
    session_id: [held.sessionId],
    provider: ["custom-fuzzed", "openai"],
    model: ["demo/scripted"],
    scope: ["global", "agent"],
    user_id: [victim.id],
    kinds: ["activity,run_created"],
    password: [PASSWORD],
    source: [pipeline("fuzzed"), pipeline("fresh")],
    "secrets/id": [secret["id"] as string, "FUZZED"],
    "agents/id": ["fuzzed"],
    "pipelines/id": ["fuzzed"],
    "runs/id": [run["id"] as string],
    "projects/id": [project["id"] as string],
    "users/id": [victim.id],
    "api-keys/id": [spare.body.id],
    "llm-calls/id": [call],
    "providers/id": ["custom-fuzzed", "openai", "ollama"],
  };
}

/** `id` has a different meaning in each path; the word before it decides. */
const nameIn = (path: string, name: string): string => {
  const [, before] = new RegExp(`([^/]+)/\\{${name}\\}`).exec(path) ?? [];
  return name === "id" ? `${before}/id` : name;
};

type Kind = "valid" | "nearly" | "garbage";

/** A value as text, where only text is possible: in a path or a query. */
const asText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value)) ?? "";

function compose(
  { path, operation }: Described,
  kind: Kind,
  inputs: Inputs,
  dice: ReturnType<typeof createDice>,
): Sent {
  const query = new URLSearchParams();
  let filled = path;
  for (const { name, in: where, schema, required } of operation.parameters ?? []) {
    const wild = kind === "garbage" || (kind === "nearly" && dice.chance(0.3));
    const value = wild ? dice.pick(STRINGS) : asText(inputs.valid(schema ?? { type: "string" }, nameIn(path, name)));
    const usable = value.toWellFormed();
    if (where === "path") filled = filled.replace(`{${name}}`, encodeURIComponent(usable || "x"));
    else if (required || dice.chance(0.5)) query.set(name, usable);
  }
  const headers: Record<string, string> = { ...elsewhere() };
  if (dice.chance(0.1)) headers["Idempotency-Key"] = dice.pick(["fuzz-1", "fuzz-2", "é", "k".repeat(300)]);
  if (dice.chance(0.1)) headers["If-Match"] = dice.pick(['"x"', "*", "W/", '"']);
  if (dice.chance(0.1)) headers["Last-Event-ID"] = dice.pick(["0", "-1", "9".repeat(30), "x"]);
  if (dice.chance(0.1)) headers["Accept"] = dice.pick(["text/plain", "text/csv", "application/json", "x/y"]);
  const target = `${filled}${query.size > 0 ? `?${query}` : ""}`;
  return { path: target, ...bodyOf(operation, kind, inputs, dice, headers) };
}

function bodyOf(
  { requestBody }: Operation,
  kind: Kind,
  inputs: Inputs,
  dice: ReturnType<typeof createDice>,
  headers: Record<string, string>,
): Omit<Sent, "path"> {
  if (!requestBody) return { headers, body: null };
  const schema = requestBody.content["application/json"]?.schema;
  if (requestBody.content["multipart/form-data"] && (!schema || dice.chance(0.5))) {
    const form = new FormData();
    const bytes = kind === "valid" ? "text" : dice.pick(STRINGS);
    form.set("file", new File([bytes], dice.pick(["a.txt", "../../x", "-x", "\u202egpj.exe"])));
    if (dice.chance(0.7)) form.set("name", dice.pick(STRINGS).toWellFormed());
    return { headers, body: form };
  }
  const typed = { ...headers, "Content-Type": "application/json" };
  const value = kind === "garbage" ? garbage(dice) : inputs[kind](schema);
  if (kind === "garbage" && dice.chance(0.4)) {
    const text = dice.pick([
      '{"a":',
      "",
      "[".repeat(5_000),
      '{"__proto__":{"admin":true}}',
      "\ufeff{}",
      '{"a":1,"a":2}',
    ]);
    return {
      headers: dice.chance(0.8) ? typed : { ...typed, "Content-Type": dice.pick(["text/xml", "x"]) },
      body: text,
    };
  }
  return { headers: typed, body: JSON.stringify(value) };
}

interface Answer {
  status: number;
  text: string;
  /** Content type, without parameters. */
  type: string;
  /** How much the server's main thread worked until then, in ms. */
  ms: number;
}

/** Sends a request and reads the answer; of a stream, only its head. */
async function ask(method: string, { path, headers, body }: Sent, credential: Headers): Promise<Answer> {
  const leave = new AbortController();
  const timer = setTimeout(() => leave.abort(), HANG_MS);
  const before = mainThreadMs(server.pid);
  try {
    const answer = await fetch(server.url + path, {
      method,
      body,
      redirect: "manual" as const,
      signal: leave.signal,
      headers: { ...headers, ...credential },
    });
    const type = answer.headers.get("content-type")?.split(";")[0] ?? "";
    const text = type === "text/event-stream" ? "" : await answer.text();
    return { status: answer.status, text, type, ms: mainThreadMs(server.pid) - before };
  } catch (error) {
    return { status: 0, text: String(error), type: "", ms: mainThreadMs(server.pid) - before };
  } finally {
    clearTimeout(timer);
    leave.abort();
  }
}

/** Describes what is wrong with an answer; undefined if nothing is. */
function fault({ operation }: Described, { status, text, type, ms }: Answer): string | undefined {
  if (status === 0) return `no answer in ${HANG_MS / 1_000} s: ${text}`;
  if (isTooMuch(ms, COST_MS)) return `cost ${Math.round(ms)} ms of the main thread`;
  const code = type === "application/problem+json" ? ((JSON.parse(text) as { code: string }).code ?? "") : "";
  if (status >= 500 && !ABSENT.has(code)) return `${status} ${text.slice(0, 200)}`;
  const announced = operation.responses[status];
  if (!announced) return `${status} ${code} is not in the document`;
  const types = Object.keys((announced.$ref ? resolver(document)<Announced>(announced.$ref) : announced).content ?? {});
  if (status >= 400 && !types.includes(type)) return `${status} is ${type}, not ${types}: ${text.slice(0, 100)}`;
  return undefined;
}

/** Deletions come last, because other operations need what they remove. */
const listOperations = (): Described[] =>
  Object.entries(document.paths)
    .flatMap(([path, item]) =>
      ["get", "post", "put", "patch", "delete"].flatMap((method) =>
        item[method] ? [{ method: method.toUpperCase(), path, operation: item[method] }] : [],
      ),
    )
    .sort((a, b) => Number(a.method === "DELETE") - Number(b.method === "DELETE"));

describe("any input", () => {
  test("gives an answer that the document announces, costs little, and nothing breaks", async () => {
    const dice = createDice(SEED);
    const inputs = createInputs(dice, known, resolver(document));
    const credentials = await credentialsOf();
    const findings: string[] = [];
    let [requests, succeeded] = [0, 0];
    for (const one of listOperations())
      for (const [who, credential] of Object.entries(credentials))
        for (let round = 0; round < ROUNDS[who as Credential]; round++) {
          const kind = (["valid", "nearly", "garbage"] as const)[round % 3]!;
          const sent = compose(one, kind, inputs, dice);
          const answer = await ask(one.method, sent, credential());
          requests++;
          if (answer.status < 300) succeeded++;
          const wrong = fault(one, answer);
          if (wrong)
            findings.push(
              `${one.method} ${sent.path.slice(0, 200)} by ${who}: ${wrong}\n  ${String(sent.body).slice(0, 300)}`,
            );
          // A log-out or a changed password ends the session that the other requests use.
          if (answer.status < 300 && /auth\/(logout|sessions)|users\//.test(one.path)) await signInAgain();
        }
    expect(findings).toEqual([]);
    // Otherwise the input was never good enough to pass the first check.
    expect(succeeded / requests).toBeGreaterThan(0.12);
    expect((await server.request("GET", "/readyz")).status).toBe(200);
    expect(server.output()).not.toContain("request failed");
  }, 1_200_000);
});

type Headers = Record<string, string>;
const bearer = (token: string): Headers => ({ Authorization: `Bearer ${token}` });
const cookies = { user: "", admin: "" };

/** All valid credentials, and invalid ones, as they are at each request. */
async function credentialsOf(): Promise<Record<Credential, () => Headers>> {
  const keyOf = async (scopes: string[]): Promise<{ id: string; key: string }> => {
    const body = { name: scopes.join(), scopes };
    return (
      await server.request<{ id: string; key: string }>("POST", "/v1/auth/api-keys", { token: admin.token, body })
    ).body;
  };
  const [read, runs, write, all, revoked] = [
    await keyOf(["read"]),
    await keyOf(["runs"]),
    await keyOf(["write"]),
    await keyOf(["admin"]),
    await keyOf(["admin"]),
  ];
  await admins("DELETE", `/v1/auth/api-keys/${revoked.id}`);
  const ended = await logIn(server, admin.email);
  await server.request("POST", "/v1/auth/logout", { token: ended.token });
  await signInAgain();
  return {
    none: () => ({}),
    garbage: () => bearer("garbage"),
    user: () => bearer(user.token),
    key: () => bearer(key),
    execution: () => bearer(held.token),
    engine: () => bearer(ENGINE),
    admin: () => bearer(admin.token),
    // A change that a cookie authenticates must come from a page of this server.
    cookie: () => ({ Cookie: cookies.user, Origin: server.url }),
    adminCookie: () => ({ Cookie: cookies.admin, Origin: server.url }),
    readKey: () => bearer(read.key),
    runsKey: () => bearer(runs.key),
    writeKey: () => bearer(write.key),
    adminKey: () => bearer(all.key),
    endedSession: () => bearer(ended.token),
    revokedKey: () => bearer(revoked.key),
    refreshToken: () => bearer(admin.refresh),
    basic: () => ({ Authorization: `Basic ${btoa(`${admin.email}:${PASSWORD}`)}` }),
  };
}

async function signInAgain(): Promise<void> {
  const from = elsewhere()["X-Forwarded-For"];
  const alive = async (token: string) => (await server.request("GET", "/v1/auth/me", { token })).status === 200;
  if (!(await alive(user.token))) user = await logIn(server, user.email, PASSWORD, from);
  if (!(await alive(admin.token))) admin = await logIn(server, admin.email, PASSWORD, from);
  for (const who of ["user", "admin"] as const) {
    const Cookie = cookies[who];
    if (Cookie && (await server.request("GET", "/v1/auth/me", { headers: { Cookie } })).status === 200) continue;
    const body = { email: { user, admin }[who].email, password: PASSWORD, session: "cookie" };
    const made = await server.request("POST", "/v1/auth/login", { body, headers: elsewhere() });
    cookies[who] = (made.headers.get("set-cookie") ?? "").split(";")[0]!;
  }
}
