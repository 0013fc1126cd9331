/**
 * Checks three roles, an outsider and an administrator on two projects, with every operation that names a project or
 * something in one, such as a run, chat or document, against the written matrix. What a user may not see is answered
 * exactly like something missing. An operation that the matrix lacks fails; the message contains the row to write.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { DAY_MS } from "../../core/clock.ts";
import { type Account, makeUser, setupAdmin } from "../accounts.ts";
import { startServer, type TestServer } from "../server.ts";

// A generous limit for busy machines: these tests wait for events, not for fixed times.
setDefaultTimeout(300_000);

const MATRIX = join(import.meta.dir, "project-matrix.tsv");
const ROLES = ["viewer", "contributor", "maintainer"] as const;
const WHO = [...ROLES, "outsider", "administrator"] as const;
type Who = (typeof WHO)[number];
const PROJECTS = ["theirs", "other"] as const;
type Project = (typeof PROJECTS)[number];

/** Paths that name something in a project, with the kind of object. */
const KINDS = {
  "/v1/projects/{id}": "project",
  "/v1/runs/{": "run",
  "/v1/steps/{": "run",
  "/v1/history/runs/{": "run",
  "/v1/kept-history/{": "run",
  "/v1/changes/{": "chat",
  "/v1/sessions/{": "chat",
  "/v1/chat/sessions/{": "chat",
  "/v1/history/sessions/{": "chat",
  "/v1/swarm/{": "swarm",
  "/v1/spawn-executor/{": "spawn",
  "/v1/pulse-routines/{agent_id}/{": "routine",
  "/v1/documents/{": "document",
  "/v1/jobs/{": "job",
  "/v1/permissions/requests/{": "request",
  "/v1/memory/executions/{": "execution",
  "/v1/llm-calls/{": "call",
} as const;
type Kind = (typeof KINDS)[keyof typeof KINDS];
/** Operations that name a project in their body, with the body. */
const BY_BODY: Record<string, (project: { id: string; name: string }) => unknown> = {
  "/v1/runs": ({ name }) => ({ pipeline_id: "wait", task_description: "Wait", project_name: name }),
  "/v1/chat/sessions": ({ id }) => ({ agent_id: "scribe", project_id: id }),
  "/v1/swarm/execute": ({ id }) => ({
    agent_id: "scribe",
    project_id: id,
    tasks: [{ key: "look", prompt: "Look" }],
  }),
  "/v1/spawn-executor/execute": ({ id }) => ({ agent_id: "scribe", project_id: id, prompt: "Look" }),
  "/v1/pulse-routines/{agent_id}": ({ id }) => ({
    name: `r${routines++}`,
    instructions: "Look",
    schedule: "0 5 * * *",
    project_id: id,
    enabled: false,
  }),
  "/v1/ingest/document": ({ id }) => ({ title: "Notes", content: "# Notes", project_id: id }),
  "/v1/ingest/transcript": ({ id }) => ({ transcript: "Ann: hello", project_id: id }),
  "/v1/notification-channels": ({ id }) => ({
    name: "c",
    kind: "webhook",
    url: "https://hooks.example.com/a",
    project_id: id,
  }),
};
let routines = 0;
const indexFile = () => {
  const form = new FormData();
  form.append("file", new File(["no index"], "index.scip"));
  return form;
};

/** Bodies of operations that do not accept an empty object. */
const BODIES: Record<string, unknown> = {
  "PUT /v1/projects/{id}/vision": { vision: "Far" },
  "POST /v1/projects/{id}/tasks": { title: "One" },
  "PATCH /v1/projects/{id}/tasks": { ids: ["task_none"], change: { priority: "p1" } },
  "POST /v1/projects/{id}/tasks/import": { tasks: [{ title: "One" }] },
  "POST /v1/projects/{id}/tasks/{tid}/claim": { agent_id: "scribe" },
  "POST /v1/projects/{id}/tasks/{tid}/transition": { status: "ready" },
  "POST /v1/projects/{id}/tasks/{tid}/move": { status: "ready" },
  "POST /v1/projects/{id}/knowledge-graph/query": { query: "a" },
  "POST /v1/projects/{id}/knowledge-graph/ask": { question: "cycles" },
  "POST /v1/projects/{id}/knowledge-graph/cypher": { query: "MATCH (n) RETURN n" },
  "POST /v1/projects/{id}/knowledge-graph/impact": { target: "a" },
  "POST /v1/projects/{id}/members": { user: "usr_made_up" },
  "PUT /v1/projects/{id}/members/{user_id}": { role: "viewer" },
  "PUT /v1/projects/{id}/access": { access: "members" },
  "POST /v1/projects/{id}/knowledge-graph/scip": indexFile(),
  "POST /v1/permissions/requests/{id}/answer": { allow: true },
  "POST /v1/runs/{id}/approve": { step_id: "ask", approved: true },
  "POST /v1/runs/{id}/comments": { path: "a.txt", body: "Why?" },
  "POST /v1/changes/{id}/comments": { path: "a.txt", body: "Why?" },
  "PUT /v1/chat/sessions/{id}": { title: "Named" },
  "POST /v1/chat/sessions/{id}/message": { message: "Hello" },
  "POST /v1/chat/sessions/{id}/rewind": { message_id: "msg_none" },
  "POST /v1/chat/sessions/{id}/fork": { message_id: "msg_none" },
  "PUT /v1/chat/sessions/{id}/queue/{message_id}": { message: "Hello" },
  "PUT /v1/pulse-routines/{agent_id}/{id}": { name: "renamed" },
};

interface Operation {
  method: string;
  path: string;
}
interface Row extends Operation {
  wanted: Record<Who, string>;
}
const HEAD = ["method", "path", ...WHO].join("\t");
const ROWS: Row[] = readFileSync(MATRIX, "utf8")
  .trim()
  .split("\n")
  .slice(1)
  .map((line) => {
    const [method = "", path = "", ...cells] = line.split("\t");
    const wanted = Object.fromEntries(WHO.map((who, at) => [who, cells[at] ?? ""]));
    return { method, path, wanted: wanted as Record<Who, string> };
  });

let server: TestServer;
let operations: Operation[];
let people: Record<Who, Account>;
let projects: Record<Project, { id: string; name: string }>;
/** Several objects of each kind, because some operations delete the object that they name. */
let made: Record<Who, Record<Project, Record<Kind, string[][]>>>;

const by = (who: Account, method: string, path: string, body?: unknown) =>
  server.request(method, path, { token: who.token, body });
async function post(who: Account, path: string, body: unknown): Promise<string> {
  const answer = await by(who, "POST", path, body);
  if (answer.status >= 300) throw new Error(`POST ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body["id"] as string;
}

beforeAll(async () => {
  server = await startServer({ env: { AUTH_ENABLED: "true", TRUSTED_PROXIES: "127.0.0.1", RATE_LIMIT: "0" } });
  const administrator = await setupAdmin(server);
  const user = (name: string) => makeUser(server, administrator, `${name}@example.test`);
  people = {
    viewer: await user("viewer"),
    contributor: await user("contributor"),
    maintainer: await user("maintainer"),
    outsider: await user("outsider"),
    administrator,
  };
  await post(administrator, "/v1/pipelines", {
    id: "wait",
    name: "Wait",
    steps: [{ id: "ask", approval: { message: "Go on?" } }],
  });
  const project = async (name: string) => ({
    id: await post(administrator, "/v1/projects", { name, access: "members" }),
    name,
  });
  projects = { theirs: await project("birdcage"), other: await project("lighthouse") };
  const members = [...ROLES, "outsider"] as const;
  for (const { id } of Object.values(projects))
    for (const who of members)
      await by(administrator, "POST", `/v1/projects/${id}/members`, { user: people[who].email });
  made = {} as typeof made;
  for (const who of WHO) {
    made[who] = {} as (typeof made)[Who];
    for (const name of PROJECTS) made[who][name] = await objectsOf(people[who], projects[name]);
  }
  for (const role of ROLES)
    await by(administrator, "PUT", `/v1/projects/${projects.theirs.id}/members/${people[role].id}`, { role });
  await by(administrator, "DELETE", `/v1/projects/${projects.theirs.id}/members/${people.outsider.id}`);
  for (const who of members)
    await by(administrator, "DELETE", `/v1/projects/${projects.other.id}/members/${people[who].id}`);
  operations = await listOperations();
});
afterAll(() => server.remove());

const times = async (count: number, make: () => Promise<string[]>): Promise<string[][]> => {
  const all: string[][] = [];
  for (let at = 0; at < count; at++) all.push(await make());
  return all;
};

/** Objects that a user created in a project while they had the right to work there. */
async function objectsOf(who: Account, project: { id: string; name: string }): Promise<Record<Kind, string[][]>> {
  const create = async (path: string) => post(who, path.replace("{agent_id}", "scribe"), BY_BODY[path]!(project));
  const task = await post(who, `/v1/projects/${project.id}/tasks`, { title: "A task" });
  const run = async () => [await create("/v1/runs"), "ask"];
  const chat = await times(3, async () => [await create("/v1/chat/sessions"), "msg_none"]);
  return {
    project: [
      [project.id, task],
      [project.id, await post(who, `/v1/projects/${project.id}/tasks`, { title: "B" })],
    ],
    run: await times(3, run),
    chat,
    swarm: [[await create("/v1/swarm/execute"), "look"]],
    spawn: [[await create("/v1/spawn-executor/execute")]],
    routine: await times(2, async () => ["scribe", await create("/v1/pulse-routines/{agent_id}"), "tick_none"]),
    document: await times(2, async () => [await create("/v1/ingest/document")]),
    ...keptRows(who.id, project.id, chat[0]![0]!),
  };
}

let kept = 0;
/** Inserts rows that otherwise only time or chance would create. */
function keptRows(user: string, project: string, session: string) {
  const at = new Date().toISOString();
  const n = String(++kept).padStart(26, "0");
  const [job, request, execution, call] = [`job_${n}`, `perm_${n}`, `exe_${n}`, `llm_${n}`];
  const db = new Database(join(server.data, "skep.db"));
  const insert = (table: string, row: Record<string, unknown>) =>
    db
      .prepare(
        `INSERT INTO ${table} (${Object.keys(row).join()}) VALUES (${Object.keys(row)
          .map((name) => `@${name}`)
          .join()})`,
      )
      .run(row);
  insert("jobs", {
    id: job,
    kind: "clone",
    state: "failed",
    payload: "{}",
    priority: 0,
    run_at: 0,
    failures: 0,
    interruptions: 0,
    cancel_requested: 0,
    user_id: user,
    project_id: project,
    created_at: at,
    updated_at: at,
    finished_at: at,
  });
  insert("permission_requests", {
    id: request,
    session_id: session,
    execution_id: execution,
    call_id: "c",
    agent_id: "scribe",
    tool: "bash",
    tool_kind: "execute",
    subject: "git push",
    rules: "[]",
    can_remember: 1,
    state: "waiting",
    created_at: at,
    deadline: Date.now() + DAY_MS,
  });
  const columns = db.prepare("SELECT name FROM pragma_table_info('executions') WHERE \"notnull\" = 1").pluck().all();
  const like = db.prepare("SELECT * FROM executions LIMIT 1").get() as Record<string, unknown>;
  insert("executions", {
    ...Object.fromEntries(columns.map((name) => [name as string, like[name as string]])),
    id: execution,
    session_id: session,
    status: "succeeded",
    finished_at: at,
  });
  insert("llm_calls", {
    id: call,
    agent_id: "scribe",
    session_id: session,
    project_id: project,
    user_id: user,
    purpose: "turn",
    provider: "demo",
    model: "m",
    key_source: "none",
    input_tokens: 1,
    output_tokens: 1,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    reasoning_tokens: 0,
    estimated: 0,
    cost_nano: 0,
    cost_source: "unknown",
    duration_ms: 1,
    attempts: 1,
    finish_reason: "stop",
    created_at: at,
  });
  db.close();
  return { job: [[job]], request: [[request]], execution: [[execution]], call: [[call]] };
}

const kindOf = (path: string): Kind | undefined =>
  Object.entries(KINDS).find(([prefix]) => path.startsWith(prefix))?.[1];

/** Every operation that users may request and that names something in a project. */
async function listOperations(): Promise<Operation[]> {
  interface Documented {
    paths: Record<string, object>;
  }
  const { paths } = (await server.request<Documented>("GET", "/openapi.json")).body;
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
  );
  const users = new Set(
    readFileSync(join(import.meta.dir, "access-matrix.tsv"), "utf8")
      .split("\n")
      .map((line) => line.split("\t"))
      .filter(([, , access]) => access === "user")
      .map(([method, path]) => `${method} ${path}`),
  );
  return all.filter(
    ({ method, path }) =>
      users.has(`${method} ${path}`) &&
      (kindOf(path) !== undefined || (method === "POST" && BY_BODY[path] !== undefined)),
  );
}

/** Parameters that name nothing in a project. */
const FIXED: Record<string, string> = { "{agent_id}": "scribe", "{relation}": "callers" };
interface Asked {
  status: number;
  body: Record<string, unknown>;
}
async function ask(who: Who, { method, path }: Operation, ids: readonly string[], body: unknown): Promise<Asked> {
  const left = [...ids];
  const address = path.replace(/\{[^}]+\}/g, (name) => FIXED[name] ?? left.shift() ?? "made_up");
  const answer = await by(people[who], method, address, method === "GET" || method === "DELETE" ? undefined : body);
  const { request_id: _, instance: _i, ...rest } = answer.body ?? {};
  return { status: answer.status, body: rest };
}

const MADE_UP = { id: "proj_00000000000000000000000000", name: "nowhere" };
/** Deletions take the last object of a kind; operations that keep it use the first. */
const objectFor = (all: string[][], method: string): string[] =>
  (method === "DELETE" && all.length > 1 ? all.pop() : all[0]) ?? [];

const absent = new Map<string, Asked>();
/** The answer that this user gets for something missing. */
async function askMissing(who: Who, operation: Operation, ids: number, body: unknown): Promise<Asked> {
  const key = `${who} ${operation.method} ${operation.path}`;
  const known = absent.get(key) ?? (await ask(who, operation, Array(ids).fill("made_up"), body));
  absent.set(key, known);
  return known;
}

/** `in`; `403` if the role is too low; `404` if the answer is the same as for something missing. */
async function classifyAnswer(who: Who, project: Project, operation: Operation): Promise<string> {
  const { method, path } = operation;
  const bodyOf = BY_BODY[path];
  const kind = kindOf(path);
  const body = (of: { id: string; name: string }) =>
    method === "POST" && bodyOf ? bodyOf(of) : (BODIES[`${method} ${path}`] ?? {});
  const ids = kind === undefined ? [] : objectFor(made[who][project][kind], method).filter((id) => id !== "scribe");
  const found = await ask(who, operation, ids, body(projects[project]));
  if (found.status === 403 && found.body["code"] === "project_role") return "403";
  const nothing = await askMissing(who, operation, ids.length, body(MADE_UP));
  if (JSON.stringify(found) === JSON.stringify(nothing) && found.status >= 400) return "404";
  return found.status >= 500 && found.status !== 503 ? `${found.status} ${JSON.stringify(found.body)}` : "in";
}

const rowOf = ({ method, path }: Operation, cells: Record<string, string>): string =>
  [method, path, ...WHO.map((who) => cells[who] ?? "")].join("\t");

test("every operation answers each role as the matrix says, and the other project does not exist for any of them", async () => {
  const order = ["GET", "POST", "PUT", "PATCH", "DELETE"];
  // Operations that delete the project, or close it to others, come last.
  const isLast = ({ method, path }: Operation) => method === "DELETE" && path === "/v1/projects/{id}";
  const sorted = operations.toSorted(
    (a, b) =>
      Number(isLast(a)) - Number(isLast(b)) ||
      order.indexOf(a.method) - order.indexOf(b.method) ||
      a.path.localeCompare(b.path),
  );
  const found: string[] = [];
  const leaks: string[] = [];
  for (const operation of sorted) {
    const cells: Record<string, string> = {};
    for (const who of WHO) {
      cells[who] = await classifyAnswer(who, "theirs", operation);
      const other = await classifyAnswer(who, "other", operation);
      const wanted = who === "administrator" ? "in" : "404";
      if (other !== wanted) leaks.push(`${operation.method} ${operation.path} ${who}, the other project: ${other}`);
    }
    found.push(rowOf(operation, cells));
  }
  const written = ROWS.map((row) => rowOf(row, row.wanted));
  expect(leaks).toEqual([]);
  const missing = found.filter((row) => !written.includes(row)).sort();
  const stale = written.filter((row) => !found.includes(row)).sort();
  expect({ missing, stale }).toEqual({ missing: [], stale: [] });
  expect(readFileSync(MATRIX, "utf8").split("\n")[0]).toBe(HEAD);
});

test("no list, search or sum of somebody who is no member names a project, or what is in it", async () => {
  const { outsider } = people;
  const secret = PROJECTS.flatMap((name) => [
    projects[name].id,
    projects[name].name,
    ...Object.values(made.outsider[name]).flatMap((all) => all.flatMap((ids) => ids.filter((id) => /_.{20}/.test(id)))),
  ]);
  const lists = [
    "/v1/projects",
    "/v1/runs",
    "/v1/runs/at-work",
    "/v1/runs/sums?by=project",
    "/v1/approvals",
    "/v1/changes",
    "/v1/chat/sessions",
    "/v1/swarm",
    "/v1/spawn-executor",
    "/v1/pulse-routines",
    "/v1/pulse-routines/scribe",
    "/v1/documents",
    "/v1/documents/search?query=notes",
    "/v1/jobs",
    "/v1/llm-calls",
    "/v1/usage/trend?by=project",
    "/v1/lifecycle/timeline",
    "/v1/lifecycle/day",
    "/v1/lifecycle/sessions",
    "/v1/kept-history",
    "/v1/internal/run-history",
    "/v1/agents/scribe/runs",
    "/v1/events",
    "/v1/search?q=birdcage",
    "/v1/search?q=task",
    "/v1/search?q=Wait",
  ];
  const named: string[] = [];
  for (const path of lists) {
    const { status, body } = await by(outsider, "GET", `${path}${path.includes("?") ? "&" : "?"}limit=200`);
    const text = JSON.stringify(body);
    // Only a search repeats what was asked for, in its own query.
    const seen = secret.filter((one) => text.includes(one));
    if (status >= 300 || seen.length > 0) named.push(`${path}: ${status} ${seen.slice(0, 5).join()}`);
  }
  expect(named).toEqual([]);
  // A member's lists contain the member's projects, so the lists above are not empty for another reason.
  const { body } = await by(people.viewer, "GET", "/v1/projects");
  expect((body["items"] as { name: string; role: string }[]).map(({ name, role }) => [name, role])).toEqual([
    ["birdcage", "viewer"],
  ]);
});

test("words that every object of the language has are ids of nothing, too", async () => {
  for (const id of ["constructor_x", "toString_x", "__proto___x"])
    expect((await by(people.viewer, "POST", `/v1/runs/${id}/restart`, {})).status).toBe(404);
});
