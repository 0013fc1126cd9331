/**
 * A4–A6: two users. User B requests every route that the matrix marks `own` for an object of user A, and gets the same
 * answer as for a missing object. B's streams contain nothing of A's. Header, cookie, key and ticket lead to the same
 * decision.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { DAY_MS } from "../../core/clock.ts";
import { type Account, makeUser, PASSWORD, setupAdmin } from "../accounts.ts";
import { framesOf, framesUntil } from "../event-reader.ts";
import { startServer, type TestServer } from "../server.ts";

// A generous limit for busy machines: these tests wait for events, not for fixed times.
setDefaultTimeout(300_000);

interface OwnRoute {
  method: string;
  path: string;
}
const OWN: OwnRoute[] = readFileSync(join(import.meta.dir, "access-matrix.tsv"), "utf8")
  .trim()
  .split("\n")
  .map((line) => line.split("\t"))
  .filter((row) => row[4] === "own")
  .map(([method = "", path = ""]) => ({ method, path }));

let server: TestServer;
let admin: Account;
let a: Account;
let b: Account;
/** A's objects by the first words of the route, with ids in the order of the path's parameters. */
let objects: [prefix: string, ids: string[]][];
/**
 * Whether the owner reaches the object: with an answer, or a conflict with its state (a run without a project has no
 * diff).
 */
const isReached = (status: number) => status === 200 || status === 409;
/**
 * Ids of A's own objects, without names that everybody may know. The demo model uses the same call numbers for
 * everybody.
 */
const idsOfA = () => objects.flatMap(([, ids]) => ids.filter((id) => id.includes("_") && !id.startsWith("scripted_")));
const by = (who: Account, method: string, path: string, body?: unknown) =>
  server.request(method, path, { token: who.token, body });
const itemsOf = async (who: Account, path: string) =>
  (await by(who, "GET", path)).body["items"] as Record<string, unknown>[];

beforeAll(async () => {
  server = await startServer({ env: { AUTH_ENABLED: "true", TRUSTED_PROXIES: "127.0.0.1" } });
  admin = await setupAdmin(server);
  a = await makeUser(server, admin, "a@example.test");
  b = await makeUser(server, admin, "b@example.test");
  const run = await finishedRun(a);
  const [call] = await itemsOf(a, "/v1/llm-calls");
  const [step] = await itemsOf(a, `/v1/steps/${run}`);
  const key = await by(a, "POST", "/v1/auth/api-keys", { name: "of a" });
  const [session] = await itemsOf(a, "/v1/auth/sessions");
  keepRows(a.id, step!["session_id"] as string, run);
  const form = new FormData();
  form.append("name", "of a");
  form.append("file", new File(["example.com\tTRUE\t/\tTRUE\t0\tsid\tvalue"], "cookies.txt"));
  const cookies = await by(a, "POST", "/v1/browser/cookies", form);
  const chat = await by(a, "POST", "/v1/chat/sessions", { agent_id: "scribe" });
  const interview = await by(a, "POST", "/v1/onboarding/sessions", { message: "A project of a" });
  const attached = new FormData();
  attached.append("file", new File(["of a"], "a.txt"));
  const attachment = await by(a, "POST", "/v1/attachments/upload", attached);
  const document = await by(a, "POST", "/v1/ingest/document", { title: "of a", content: "# Of a\n\nWords." });
  const spawned = await by(a, "POST", "/v1/spawn-executor/execute", { agent_id: "scribe", prompt: "Look" });
  const swarm = await by(a, "POST", "/v1/swarm/execute", {
    agent_id: "scribe",
    tasks: [{ key: "look", prompt: "Look" }],
  });
  const hook = { name: "of a", kind: "webhook", url: "https://hooks.example.com/a" };
  const channel = await by(a, "POST", "/v1/notification-channels", hook);
  const planned = { name: "of a", instructions: "Look around", schedule: "0 5 * * *" };
  const routine = (await by(a, "POST", "/v1/pulse-routines/scribe", planned)).body["id"] as string;
  const tick = (await by(a, "POST", `/v1/pulse-routines/scribe/${routine}/trigger`)).body["id"] as string;
  const eval_ = await by(a, "POST", "/v1/evals", {
    name: "of a",
    oracle: true,
    tasks: [{ name: "of-a", instruction: "Of a", tests: [script("test.sh")], solution: [script("solve.sh")] }],
  });
  const [said] = await itemsOf(a, `/v1/sessions/${call!["session_id"]}/transcript`);
  const worked = await itemsOf(a, `/v1/sessions/${step!["session_id"]}/transcript`);
  const [toolCall] = worked.flatMap(({ calls }) => calls as { call_id: string }[]);
  objects = [
    ["/v1/memory/contradictions/", [await contradiction(a)]],
    ["/v1/memory/executions/", [said!["execution_id"] as string]],
    ["/v1/evals/", [eval_.body["id"] as string, eval_.body["id"] as string]],
    ["/v1/swarm/", [swarm.body["id"] as string, "look"]],
    ["/v1/pulse-routines/", ["scribe", routine, tick]],
    ["/v1/spawn-executor/", [spawned.body["id"] as string]],
    ["/v1/documents/", [document.body["id"] as string]],
    ["/v1/attachments/", [attachment.body["id"] as string]],
    ["/v1/chat/sessions/", [chat.body["id"] as string, "msg_none"]],
    ["/v1/onboarding/sessions/", [interview.body["id"] as string]],
    ["/v1/browser/cookies/agents/", ["scribe", cookies.body["id"] as string]],
    ["/v1/notification-channels/", [channel.body["id"] as string]],
    ["/v1/browser/cookies/", [cookies.body["id"] as string]],
    ["/v1/auth/api-keys/", [key.body["id"] as string]],
    ["/v1/auth/sessions/", [session!["id"] as string]],
    ["/v1/users/", [a.id, key.body["id"] as string]],
    ["/v1/jobs/", ["job_of_a"]],
    ["/v1/permissions/requests/", ["perm_of_a"]],
    ["/v1/permissions/answers/", ["pans_of_a"]],
    ["/v1/admin/notifications/", ["ntf_of_a"]],
    ["/v1/llm-calls/", [call!["id"] as string]],
    ["/v1/changes/", [chat.body["id"] as string, "cmt_none"]],
    ["/v1/history/runs/", [run]],
    ["/v1/history/sessions/", [chat.body["id"] as string]],
    ["/v1/history/users/", [a.id]],
    ["/v1/kept-history/", [run]],
    ["/v1/runs/", [run, "shot_of_a"]],
    ["/v1/sessions/", [step!["session_id"] as string, toolCall!.call_id]],
    ["/v1/steps/", [run, "look"]],
  ];
});
afterAll(() => server.remove());

const script = (path: string) => ({ path, content: Buffer.from("true").toString("base64") });

/** Starts a run of the shipped example and follows it to its end. @returns the run's id. */
async function finishedRun(who: Account): Promise<string> {
  const made = await by(who, "POST", "/v1/runs", { pipeline_id: "hello", task_description: `by ${who.email}` });
  expect(made.status).toBe(201);
  const id = made.body["id"] as string;
  const stream = await by(who, "GET", `/v1/events/stream?run_id=${id}`);
  expect(stream.body as unknown as string).toContain("event: run_complete");
  return id;
}

/** Creates two memories that contradict each other. @returns the contradiction's id. */
async function contradiction(who: Account): Promise<string> {
  for (const content of ["It listens on port 1.", "It listens on port 2."])
    await by(who, "POST", "/v1/memory/vaults/scribe/entries", { title: "of a", content });
  await by(who, "POST", "/v1/memory/vaults/scribe/consolidate");
  for (;;) {
    const [found] = await itemsOf(who, "/v1/memory/contradictions");
    if (found) return found["id"] as string;
    await Bun.sleep(20);
  }
}

/** Inserts rows that otherwise only time or chance would create. */
function keepRows(userId: string, sessionId: string, runId: string): void {
  const db = new Database(join(server.data, "skep.db"));
  const at = new Date().toISOString();
  db.prepare(
    "INSERT INTO jobs (id, kind, state, payload, priority, run_at, failures, interruptions, cancel_requested, user_id, created_at, updated_at, finished_at) VALUES ('job_of_a', 'clone', 'failed', '{}', 0, 0, 0, 0, 0, ?, ?, ?, ?)",
  ).run(userId, at, at, at);
  db.prepare(
    "INSERT INTO notifications (id, key, level, title, user_id, times, created_at, updated_at) VALUES ('ntf_of_a', 'k', 'info', 'A notice', ?, 1, ?, ?)",
  ).run(userId, at, at);
  db.prepare(
    "INSERT INTO permission_requests (id, session_id, execution_id, call_id, agent_id, tool, tool_kind, subject, rules, can_remember, state, created_at, deadline) VALUES ('perm_of_a', ?, 'exe_none', 'call_none', 'scribe', 'bash', 'execute', 'git push', '[\"ask bash\"]', 1, 'waiting', ?, ?)",
  ).run(sessionId, at, Date.now() + DAY_MS);
  db.prepare("INSERT INTO screenshots VALUES ('shot_of_a', ?, 'look', 'exe_none', '/', 1, 1, 1, ?, x'00')").run(
    runId,
    at,
  );
  db.prepare(
    "INSERT INTO permission_answers (id, agent_id, user_id, session_id, rule, subject, answered_by, created_at) VALUES ('pans_of_a', 'scribe', ?, ?, 'ask bash', 'git push', ?, ?)",
  ).run(userId, sessionId, userId, at);
  db.close();
}

function addressOf(path: string, made: boolean): string | undefined {
  const found = objects.find(([prefix]) => path.startsWith(prefix));
  const ids = found && [...found[1]];
  return ids && path.replace(/\{[^}]+\}/g, () => (made ? (ids.shift() ?? "") : "made_up"));
}
const BODIES: Record<string, unknown> = {
  "/v1/memory/contradictions/{contradiction_id}": { keep: null },
  "/v1/users/{id}": { display_name: "Taken" },
  "/v1/permissions/requests/{id}/answer": { allow: true },
  "/v1/runs/{id}/approve": { step_id: "look", approved: true },
  "/v1/changes/{id}/comments": { path: "a.txt", body: "Taken" },
  "/v1/runs/{id}/comments": { path: "a.txt", body: "Taken" },
  "/v1/runs/{id}/restart": {},
  "/v1/chat/sessions/{id}": { title: "Taken" },
  "/v1/chat/sessions/{id}/message": { message: "Taken" },
  "/v1/onboarding/sessions/{id}/message": { message: "Taken" },
  "/v1/chat/sessions/{id}/rewind": { message_id: "msg_none" },
  "/v1/chat/sessions/{id}/fork": { message_id: "msg_none" },
  "/v1/chat/sessions/{id}/queue/{message_id}": { message: "Taken" },
};

describe("A4: another user's object does not exist for oneself", () => {
  test("every route marked own has an object here, which its owner reaches", async () => {
    expect(OWN.filter(({ path }) => addressOf(path, true) === undefined)).toEqual([]);
    for (const { method, path } of OWN)
      if (method === "GET")
        expect([path, isReached((await by(a, method, addressOf(path, true)!)).status)]).toEqual([path, true]);
  });

  test.each(OWN)("$method $path", async ({ method, path }) => {
    const ask = async (who: Account, address: string) => {
      const { status, body } = await by(who, method, address, method === "GET" ? undefined : (BODIES[path] ?? {}));
      const { request_id: _, instance: _i, ...rest } = body;
      return { status, rest };
    };
    const theirs = await ask(b, addressOf(path, true)!);
    expect(theirs.status).toBe(404);
    expect(theirs).toEqual(await ask(b, addressOf(path, false)!));
  });

  test("nothing of A's was changed, and no list of B's holds any of it", async () => {
    for (const { method, path } of OWN)
      if (method === "GET")
        expect([path, isReached((await by(a, method, addressOf(path, true)!)).status)]).toEqual([path, true]);
    expect((await by(a, "GET", "/v1/auth/me")).body["display_name"]).toBe("a");
    const known = idsOfA();
    const lists = ["/v1/runs", "/v1/jobs", "/v1/llm-calls", "/v1/auth/sessions", "/v1/auth/api-keys"];
    for (const path of [
      ...lists,
      "/v1/admin/notifications",
      "/v1/memory/contradictions",
      "/v1/internal/run-history",
      "/v1/agents/researcher/runs",
      "/v1/agents/scribe/inbox",
      "/v1/swarm",
      "/v1/evals",
      "/v1/changes",
      "/v1/spawn-executor",
      "/v1/pulse-routines",
      "/v1/pulse-routines/scribe",
      "/v1/pulse-routines/scribe/timeline",
      "/v1/lifecycle/timeline",
      "/v1/notification-channels",
      "/v1/approvals",
      "/v1/permissions/answers",
    ]) {
      const { status, body } = await by(b, "GET", `${path}?limit=200`);
      const text = JSON.stringify(body);
      expect([path, status, known.filter((id) => text.includes(id))]).toEqual([path, 200, []]);
    }
    expect((await by(b, "GET", `/v1/llm-calls?user_id=${a.id}`)).status).toBe(403);
  });
});

describe("A5: another user's stream", () => {
  test("B can neither follow A's run nor learn that there is one", async () => {
    const [, [run]] = objects.find(([prefix]) => prefix === "/v1/runs/")!;
    const follow = async (id: string) => {
      const { status, body } = await by(b, "GET", `/v1/events/stream?run_id=${id}`);
      return [status, body["detail"]];
    };
    expect(await follow(run!)).toEqual(await follow("run_made_up"));
    expect((await follow(run!))[0]).toBe(404);
  });

  test("a replay from the first event holds B's own run and nothing of A's", async () => {
    const own = await finishedRun(b);
    const leave = new AbortController();
    const headers = { Authorization: `Bearer ${b.token}`, "Last-Event-ID": "0" };
    const answer = await fetch(`${server.url}/v1/events/stream`, { headers, signal: leave.signal });
    let text = "";
    for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      if (text.includes("event: run_complete")) break;
    }
    leave.abort();
    expect(text).toContain(own);
    for (const id of idsOfA()) expect(text).not.toContain(id);
  });
});

describe("A43: a project that both work in", () => {
  test("tells B nothing of A's run, its commits, or the index that A asked for", async () => {
    const project = (await by(admin, "POST", "/v1/projects", { name: "shared" })).body["id"] as string;
    const body = { pipeline_id: "hello", task_description: "of a", project_name: "shared" };
    const run = (await by(a, "POST", "/v1/runs", body)).body["id"] as string;
    const mine = await by(a, "GET", `/v1/events/stream?run_id=${run}`);
    const commits = [...String(mine.body).matchAll(/"commit":"([0-9a-f]{40})"/g)].map(([, commit]) => commit!);
    expect(commits.length).toBeGreaterThan(0);
    const index = `/v1/projects/${project}/knowledge-graph/index`;
    // The index that follows a commit belongs to nobody. A requested index joins it while it is running.
    let job: Record<string, unknown> = {};
    while (job["cause"] !== "request" || job["state"] !== "succeeded") {
      await Bun.sleep(50);
      const path = `${index}/${job["id"]}`;
      job = (
        job["state"] === "queued" || job["state"] === "running" ? await by(a, "GET", path) : await by(a, "POST", index)
      ).body;
    }

    const read = async (who: Account) => {
      const marker = await finishedRun(who);
      const frames = framesOf(server, "/v1/events/stream?after=0", who.token);
      return JSON.stringify(
        await framesUntil(frames, ({ data }) => data["run_id"] === marker && data["kind"] === "run_complete"),
      );
    };
    const [toA, toB] = [await read(a), await read(b)];
    for (const secret of [run, job["id"] as string, ...commits])
      expect([secret, toA.includes(secret), toB.includes(secret)]).toEqual([secret, true, false]);
    expect(toB.includes(project)).toBe(true);
  });

  test("has a board that says that A's run failed and by which code, not in whose words", async () => {
    const steps = [{ id: "ask", approval: { message: "Continue?" } }];
    expect((await by(admin, "POST", "/v1/pipelines", { id: "asks", name: "Asks", steps })).status).toBe(201);
    const wanted = { name: "board", default_pipeline_id: "asks" };
    const project = (await by(admin, "POST", "/v1/projects", wanted)).body["id"] as string;
    const tasks = `/v1/projects/${project}/tasks`;
    const task = (await by(a, "POST", tasks, { title: "Ask" })).body["id"] as string;
    const run = (await by(a, "POST", `${tasks}/${task}/execute`, {})).body["id"] as string;
    const boardShows = (status: string) =>
      framesUntil(
        framesOf(server, `/v1/events/stream?after=0&project_id=${project}`, b.token),
        ({ data }) => (data["data"] as Record<string, unknown>)["status"] === status,
      );
    await boardShows("review");
    const no = { step_id: "ask", approved: false, comment: "Words of A" };
    expect((await by(a, "POST", `/v1/runs/${run}/approve`, no)).body).toMatchObject({ id: run });
    const frames = await boardShows("failed");
    const [last] = await itemsOf(b, `${tasks}/${task}/history`);
    expect(last).toMatchObject({ actor: `run:${run}`, to_status: "failed", note: "The run failed: rejected." });
    expect(JSON.stringify(frames)).not.toContain(no.comment);
    expect(JSON.stringify((await by(a, "GET", `/v1/runs/${run}`)).body["error"])).toContain(no.comment);
  });
});

describe("A6: one decision, whatever carries the credential", () => {
  interface Carrier {
    name: string;
    headers: Record<string, string>;
    query: string;
  }
  async function carriersOf(who: Account): Promise<Carrier[]> {
    const login = { email: who.email, password: PASSWORD, session: "cookie" };
    const cookie = (await server.request("POST", "/v1/auth/login", { body: login })).headers.get("set-cookie");
    const key = (await by(who, "POST", "/v1/auth/api-keys", { name: "carrier" })).body["key"];
    const { ticket } = (await by(who, "POST", "/v1/events/ticket")).body;
    return [
      { name: "access token", headers: { Authorization: `Bearer ${who.token}` }, query: "" },
      { name: "cookie", headers: { Cookie: cookie!.split(";")[0]! }, query: "" },
      { name: "API key", headers: { Authorization: `Bearer ${key}` }, query: "" },
      { name: "ticket", headers: {}, query: `&ticket=${ticket}` },
    ];
  }

  test("A's run is open to A by each of the four, and to B by none; each is counted", async () => {
    const [, [run]] = objects.find(([prefix]) => prefix === "/v1/runs/")!;
    for (const [who, status] of [
      [a, 200],
      [b, 404],
    ] as const)
      for (const { name, headers, query } of await carriersOf(who)) {
        const answer = await server.request("GET", `/v1/events/stream?run_id=${run}${query}`, { headers });
        expect([who.email, name, answer.status]).toEqual([who.email, name, status]);
        expect(answer.headers.get("ratelimit-policy")).toBe('"api";q=6000;w=60');
      }
  });

  test("a ticket works once, on the stream alone, and dies with the session that asked for it", async () => {
    const { ticket } = (await by(a, "POST", "/v1/events/ticket")).body;
    expect((await server.request("GET", `/v1/auth/me?ticket=${ticket}`)).status).toBe(401);
    const login = { login: '{"tokens":"of-a-0123456789"}', agents: ["*"] };
    await by(a, "PUT", "/v1/settings/harness-logins/codex", login);
    const run = objects.find(([prefix]) => prefix === "/v1/runs/")![1][0];
    const open = (which: unknown) => server.request("GET", `/v1/events/stream?run_id=${run}&ticket=${which}`);
    expect((await open(ticket)).status).toBe(200);
    expect((await open(ticket)).status).toBe(401);
    const key = (await by(a, "POST", "/v1/auth/api-keys", { name: "short-lived" })).body as { key: string; id: string };
    const late = (await server.request("POST", "/v1/events/ticket", { token: key.key })).body["ticket"];
    await by(a, "DELETE", `/v1/auth/api-keys/${key.id}`);
    const answer = await open(late);
    expect([answer.status === 401 || answer.status === 200, String(answer.body).includes("event:")]).toEqual([
      true,
      false,
    ]);
  });
});

/**
 * What happens to the rows that name a user when that user is deleted, by table. A table that is missing here fails.
 */
const LEFT: Record<string, "goes" | "handed over" | "kept"> = {
  project_members: "handed over",
  project_invitations: "goes",
  auth_sessions: "goes",
  api_keys: "goes",
  recovery_codes: "goes",
  identities: "goes",
  user_provider_keys: "goes",
  harness_logins: "goes",
  cookie_sets: "goes",
  preferences: "goes",
  attachments: "goes",
  documents: "goes",
  agent_messages: "goes",
  permission_answers: "goes",
  notifications: "goes",
  notification_channels: "goes",
  events: "handed over",
  jobs: "handed over",
  evals: "handed over",
  // They are disabled, so that nobody's words act for the new owner unread.
  pulse_routines: "handed over",
  codehost_rules: "handed over",
  // Records of who started what and what it cost. Only administrators can read them.
  runs: "kept",
  // Like runs: search uses this table to skip the runs of others.
  run_texts: "kept",
  change_comments: "kept",
  memory_entries: "goes",
  memory_versions: "goes",
  tasks: "kept",
  sessions: "kept",
  llm_calls: "kept",
  usage_days: "kept",
  usage_projects: "kept",
  run_days: "kept",
  usage_hours: "kept",
  tts_calls: "handed over",
  workspace_sizes: "handed over",
};

describe("a deleted user", () => {
  test("leaves nothing to strangers: everything that names them goes, is handed over, or is an administrator's to read", async () => {
    await by(a, "PUT", "/v1/settings/user-providers/openai", { api_key: "sk-of-a-0123456789" });
    const run = objects.find(([prefix]) => prefix === "/v1/runs/")![1][0]!;
    const db = new Database(join(server.data, "skep.db"));
    const columns = db
      .prepare<unknown[], { name: string; column: string }>(
        "SELECT m.name AS name, c.name AS column FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name IN ('user_id', 'owner_id', 'created_by')",
      )
      .all();
    const count = (who: string) =>
      Object.fromEntries(
        columns.map(({ name, column }) => [
          name,
          Number(db.prepare(`SELECT count(*) FROM "${name}" WHERE "${column}" = ?`).pluck().get(who)),
        ]),
      );
    try {
      expect(columns.map(({ name }) => name).filter((name) => !LEFT[name])).toEqual([]);
      const [before, heirBefore] = [count(a.id), count(admin.id)];
      expect((await by(admin, "DELETE", `/v1/users/${a.id}`)).status).toBe(204);
      const [after, heir] = [count(a.id), count(admin.id)];
      for (const { name } of columns) {
        const had = before[name]!;
        expect([name, after[name]!]).toEqual([name, LEFT[name] === "kept" ? had : 0]);
        if (LEFT[name] === "handed over") expect([name, heir[name]! - heirBefore[name]! >= had]).toEqual([name, true]);
      }
      for (const name of ["runs", "jobs", "user_provider_keys", "harness_logins"])
        expect([name, before[name]! > 0]).toEqual([name, true]);
    } finally {
      db.close();
    }
    expect((await by(a, "GET", "/v1/auth/me")).status).toBe(401);
    expect((await by(admin, "GET", `/v1/runs/${run}`)).status).toBe(200);
    expect((await by(b, "GET", `/v1/runs/${run}`)).status).toBe(404);
  });
});
