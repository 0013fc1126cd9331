/**
 * A user whose runs and chats hold as many files as allowed cannot begin anything new, neither directly nor through
 * agents and routines. Work that has begun continues, and other users are not affected.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Storage } from "../../feature/storage/model.ts";
import { type Account, makeUser, setupAdmin } from "../accounts.ts";
import { framesOf } from "../event-reader.ts";
import { startServer, type TestServer } from "../server.ts";
import { readUntil } from "./waiting.ts";

setDefaultTimeout(300_000);

const MIB = 1024 ** 2;
const TASKS = [{ key: "one", agent_id: "scribe", prompt: "Write" }];
const call = (tool: string, input: object) => ({ tool_calls: [{ tool, input }] });
const PLAYS = {
  lead: [
    call("spawn_executor", { agent_id: "scribe", prompt: "Write" }),
    call("swarm_execute", { tasks: TASKS }),
    call("complete", { summary: "Done" }),
  ],
  reviewer: [call("fail", { reason: "No." })],
};
const STEPS = [
  { id: "ask", approval: { message: "Go on?" } },
  { id: "hand-on", agent: "lead", input: "Hand it on" },
];

let folder: string;
let server: TestServer;
let admin: Account;
let ann: Account;
let ben: Account;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "skep-full-"));
  const script = join(folder, "script.json");
  writeFileSync(script, JSON.stringify({ version: 1, agents: PLAYS }));
  server = await startServer({ env: { AUTH_ENABLED: "true", DEMO_SCRIPT: script } });
  admin = await setupAdmin(server);
  ann = await makeUser(server, admin, "ann@example.test");
  ben = await makeUser(server, admin, "ben@example.test");
  await create(admin, "/v1/pipelines", { id: "waits", name: "Waits", steps: STEPS });
});
afterAll(async () => {
  await server?.remove();
  rmSync(folder, { recursive: true, force: true });
});

const post = (who: Account, path: string, body: unknown = {}) =>
  server.request<Record<string, string>>("POST", path, { token: who.token, body });
const get = <T>(who: Account, path: string) => server.request<T>("GET", path, { token: who.token });
/** @returns the id of the created object. */
async function create(who: Account, path: string, body: unknown): Promise<string> {
  const answer = await post(who, path, body);
  if (answer.status >= 300) throw new Error(`POST ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body["id"] ?? "";
}
const RUN = { pipeline_id: "waits", task_description: "Wait" };

/** Creates one of everything that this user could continue or start again. */
async function workOf(who: Account) {
  const chat = await create(who, "/v1/chat/sessions", { agent_id: "scribe" });
  await create(who, `/v1/chat/sessions/${chat}/message?stream=true`, { message: "Hello" });
  const { messages } = (await get<{ messages: { id: string }[] }>(who, `/v1/chat/sessions/${chat}`)).body;
  const ended = await create(who, "/v1/runs", RUN);
  await create(who, `/v1/runs/${ended}/cancel`, {});
  const swarm = await create(who, "/v1/swarm/execute", {
    agent_id: "lead",
    tasks: [{ ...TASKS[0], agent_id: "reviewer" }],
  });
  const state = () => get<{ status: string }>(who, `/v1/swarm/${swarm}`).then(({ body }) => body.status);
  expect(await readUntil(state, (status) => status !== "running")).toBe("failed");
  const project = await create(admin, "/v1/projects", { name: "pond" });
  return {
    chat,
    message: messages[0]!.id,
    ended,
    swarm,
    project,
    waiting: await create(who, "/v1/runs", RUN),
    interview: await create(who, "/v1/onboarding/sessions", {}),
    task: await create(who, `/v1/projects/${project}/tasks`, { title: "Feed the ducks" }),
    routine: await create(who, "/v1/pulse-routines/lead", {
      name: "Daily",
      instructions: "Look",
      schedule: "0 3 * * *",
    }),
  };
}

test("begins nothing new by any way; the reason is said to the user, to the agent and in the routine", async () => {
  const { chat, message, ended, swarm, project, waiting, interview, task, routine } = await workOf(ann);
  await server.request("PUT", "/v1/settings", { token: admin.token, body: { limits: { user_workspaces_mb: 1 } } });
  const files = join(server.data, "workspaces", chat);
  mkdirSync(files, { recursive: true });
  writeFileSync(join(files, "large.bin"), Buffer.alloc(2 * MIB));
  await create(ann, `/v1/chat/sessions/${chat}/message?stream=true`, { message: "Look at it" });
  await readUntil(
    async () => (await get<Storage>(ann, "/v1/storage")).body.workspaces.bytes,
    (bytes) => bytes > MIB,
  );

  for (const [path, body] of [
    ["/v1/chat/sessions", { agent_id: "scribe" }],
    [`/v1/chat/sessions/${chat}/message`, { message: "More" }],
    [`/v1/chat/sessions/${chat}/fork`, { message_id: message }],
    ["/v1/runs", RUN],
    [`/v1/runs/${ended}/restart`, {}],
    [`/v1/runs/${ended}/send-back`, { message: "Again" }],
    [`/v1/projects/${project}/tasks/${task}/execute`, { pipeline_id: "waits" }],
    ["/v1/spawn-executor/execute", { agent_id: "scribe", prompt: "Write" }],
    ["/v1/swarm/execute", { agent_id: "lead", tasks: TASKS }],
    [`/v1/swarm/${swarm}/tasks/one/retry`, {}],
    ["/v1/onboarding/sessions", {}],
    [`/v1/onboarding/sessions/${interview}/message`, { message: "A pond" }],
    ["/v1/ingest/transcript", { transcript: "Ann: hello" }],
  ] as const) {
    const { status, body: answer } = await post(ann, path, body);
    expect([path, status, answer["code"]]).toEqual([path, 413, "workspaces_full"]);
  }
  const trigger = `/v1/pulse-routines/lead/${routine}/trigger`;
  expect(await post(ann, trigger)).toMatchObject({ status: 409, body: { code: "workspaces_full" } });

  // The run began earlier, so its step works; but the agent may not begin anything new.
  await create(ann, `/v1/runs/${waiting}/approve`, { step_id: "ask", approved: true });
  const calls = new Map<string, { ok: boolean; output: string }>();
  for await (const { event, data } of framesOf(server, `/v1/events/stream?run_id=${waiting}&after=0`, ann.token)) {
    const { tool, ok, output } = (data["data"] ?? data) as { tool: string; ok: boolean; output: string };
    if (event === "tool_call_end") calls.set(tool, { ok, output });
    if (/^run_(complete|failed|cancelled)$/.test(event)) break;
  }
  for (const tool of ["spawn_executor", "swarm_execute"])
    expect([tool, calls.get(tool)]).toEqual([
      tool,
      expect.objectContaining({
        ok: false,
        output: expect.stringContaining("files of your runs, chats and other work hold"),
      }),
    ]);
  expect((await get(ann, `/v1/runs/${waiting}`)).body).toMatchObject({ status: "succeeded" });

  expect((await post(ben, "/v1/spawn-executor/execute", { agent_id: "scribe", prompt: "Write" })).status).toBe(202);
  expect((await post(ben, "/v1/runs", RUN)).status).toBe(201);
});
