/** Chats, routines, spawned work and swarms with a project, in real containers: each on its branch, reviewed and merged as a run. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readUntil, waitFor } from "../../testing/attacks/waiting.ts";
import { skep } from "../../testing/command.ts";
import { dockerForTests } from "../../testing/docker-image.ts";
import { gitImage } from "../../testing/git-image.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { Job } from "../jobs/model.ts";
import type { Changes, Diff } from "./merge-model.ts";

setDefaultTimeout(300_000);

const sh = (command: string) => ({ tool_calls: [{ tool: "bash", input: { command } }] });
const toReply = (text: string) => ({ text });
const DONE = { tool_calls: [{ tool: "complete", input: { outputs: {}, summary: "done" } }] };
/** Shows the files in the agent's container, and what its git repository says. */
const LOOK = "ls; git log --oneline | head -3; git tag";
const SCRIPT = {
  version: 1,
  chats: {
    ann: [
      sh(`${LOOK}; echo one > a.txt; mkdir cache; echo cached > cache/x; echo cache > .gitignore`),
      toReply("Written: {{ last_tool_output }}"),
      sh("echo two > a.txt"),
      toReply("Settled."),
    ],
    bob: [sh("echo from bob > shared.txt"), toReply("I am done.")],
    cyd: [sh("echo from cyd > shared.txt"), toReply("I am done.")],
    slow: [
      sh("echo begun > work.txt; while [ ! -e go ]; do sleep 0.2; done"),
      sh("echo ended >> work.txt"),
      toReply("Over."),
    ],
    gwen: [
      sh("echo 'export function brandNewThing() {}' > new.ts"),
      { tool_calls: [{ tool: "code_graph_context", input: { symbol_name: "brandNewThing" } }] },
      toReply("The graph: {{ last_tool_output }}"),
    ],
    boss: [
      sh("echo lead > lead.txt"),
      { tool_calls: [{ tool: "spawn_executor", input: { agent_id: "helper", prompt: "Help" } }] },
      toReply("Helped."),
    ],
  },
  agents: {
    tick: [sh("echo tick >> ticks.txt"), DONE],
    idle: [sh("ls"), DONE],
    one: [sh("echo one > one.txt; echo one > same.txt"), DONE],
    two: [sh("echo two > two.txt"), DONE],
    last: [sh("cat one.txt two.txt > all.txt"), DONE],
    clash: [sh("while [ ! -e one.txt ] && [ ! -e go ]; do sleep 0.2; done; echo clash > same.txt"), DONE],
    helper: [sh("cat lead.txt > helped.txt"), DONE],
  },
  default: [DONE],
};
const AGENTS = ["ann", "bob", "cyd", "slow", "gwen", "boss", "tick", "idle", "one", "two", "last", "clash", "helper"];

const docker = await dockerForTests(process.env);
const root = mkdtempSync(join(tmpdir(), "skep-branches-"));
let server: TestServer;
let env: Record<string, string>;

interface Named {
  id: string;
}
async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const answer = await server.request<T>(method, path, { body });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}
const project = async (): Promise<string> =>
  (await call<Named>("POST", "/v1/projects", { name: `p-${crypto.randomUUID()}` })).id;
const git = (projectId: string, ...args: string[]): string =>
  Bun.spawnSync(["git", "--git-dir", join(server.data, "projects", projectId, "git"), ...args])
    .stdout.toString()
    .trim();
const branches = (projectId: string): string[] =>
  git(projectId, "for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads").split("\n");
const folder = (id: string, path = ""): string => join(server.data, "workspaces", id, path);
const changes = (id: string) => call<Changes>("GET", `/v1/changes/${id}`);
const diff = (id: string) => call<Diff>("GET", `/v1/changes/${id}/diff`);
const paths = async (id: string): Promise<string[]> => (await diff(id)).items.map(({ path }) => path);
const merge = (id: string, body: object = {}) =>
  server.request<{ commit: string; code: string; files: { path: string }[] }>("POST", `/v1/changes/${id}/merge`, {
    body,
  });
const jobEnd = (id: string) =>
  readUntil(
    () => call<Job>("GET", `/v1/jobs/${id}`),
    ({ finished_at }) => finished_at !== null,
  );

interface Chat extends Named {
  messages: { id: string; content: string }[];
  status: string;
}
const chatWith = (agent_id: string, project_id: string) =>
  call<Chat>("POST", "/v1/chat/sessions", { agent_id, project_id });
async function reply(id: string): Promise<Chat> {
  return readUntil(
    () => call<Chat>("GET", `/v1/chat/sessions/${id}`),
    ({ status }) => status !== "busy",
  );
}
async function say(id: string, message = "Go on"): Promise<Chat> {
  await call("POST", `/v1/chat/sessions/${id}/message`, { message });
  return reply(id);
}

describe.skipIf(!docker)("on a branch of a project", () => {
  beforeAll(async () => {
    writeFileSync(join(root, "script.json"), JSON.stringify(SCRIPT));
    env = { SANDBOX: "docker", AGENT_IMAGE: await gitImage(docker!), DEMO_SCRIPT: join(root, "script.json") };
    server = await startServer({ env });
    for (const id of AGENTS)
      await call("POST", "/v1/agents", { id, name: id, prompt: "Work.", model: "demo/scripted" });
  });
  afterAll(async () => {
    await server?.remove();
    rmSync(root, { recursive: true, force: true });
  });

  test("a chat edits files, a person reads the diff, comments, sends it back and merges it", async () => {
    const of = await project();
    const { id } = await chatWith("ann", of);
    const { messages } = await say(id);
    // The agent's repository holds only its branch and the commit where it began.
    expect(messages.at(-1)?.content).toContain("base");
    expect(await changes(id)).toMatchObject({
      work_id: id,
      kind: "chat",
      project_id: of,
      branch: `chat/${id}`,
      at_work: false,
      ended_at: null,
    });
    const shown = await diff(id);
    expect(shown.items.map(({ path }) => path)).toEqual([".gitignore", "a.txt"]);
    expect(shown.items[1]?.hunks).toEqual([{ header: "@@ -0,0 +1 @@", lines: ["+one"] }]);
    const comment = { path: "a.txt", line: 1, body: "Say two." };
    expect(await call("POST", `/v1/changes/${id}/comments`, comment)).toMatchObject({ work_id: id, quote: "one" });
    await call("POST", `/v1/changes/${id}/send-back`, { message: "Nearly." });
    const after = await reply(id);
    expect(after.messages.find(({ content }) => content.includes("Say two."))?.content).toContain("Nearly.");
    expect((await diff(id)).items[1]?.hunks[0]?.lines).toEqual(["+two"]);
    expect((await merge(id)).status).toBe(200);
    expect(git(of, "show", "main:a.txt")).toBe("two");
    expect(await changes(id)).toMatchObject({ merged_into: "main" });
    // After more work, only that work is shown.
    await say(id);
    expect((await diff(id)).items.map(({ path }) => path)).toEqual(["a.txt"]);
    const cli = await skep(["diff", id, "--stat", "--data", server.data]);
    expect(cli.stdout).toContain("a.txt");
    expect((await skep(["merge", id, "--data", server.data])).stdout).toContain(`${id} is in main`);
    expect(git(of, "show", "main:a.txt")).toBe("one");
  });

  test("two chats at once do not disturb each other; the second merge reports the conflict", async () => {
    const of = await project();
    const chats = await Promise.all(["bob", "cyd"].map((agent) => chatWith(agent, of)));
    await Promise.all(chats.map(({ id }) => say(id)));
    const [bob, cyd] = chats.map(({ id }) => id) as [string, string];
    for (const [id, name] of [
      [bob, "bob"],
      [cyd, "cyd"],
    ] as const)
      expect((await diff(id)).items).toMatchObject([{ path: "shared.txt", hunks: [{ lines: [`+from ${name}`] }] }]);
    expect((await merge(bob)).status).toBe(200);
    const refused = await merge(cyd);
    expect(refused).toMatchObject({ status: 409, body: { code: "merge_conflict", files: [{ path: "shared.txt" }] } });
    expect(git(of, "show", "main:shared.txt")).toBe("from bob");
    const listed = await call<{ items: Changes[] }>("GET", `/v1/changes?project_id=${of}`);
    expect(listed.items.map(({ work_id }) => work_id)).toEqual([cyd, bob]);
  });

  test("a fork takes the branch and what lies beside it along; a chat that is removed leaves neither branch nor folder", async () => {
    const of = await project();
    const { id } = await chatWith("ann", of);
    const { messages } = await say(id);
    writeFileSync(folder(id, "late.txt"), "not committed yet\n");
    const fork = await call<Named & { files_job_id: string }>("POST", `/v1/chat/sessions/${id}/fork`, {
      message_id: messages[0]!.id,
    });
    expect(await jobEnd(fork.files_job_id)).toMatchObject({ state: "succeeded", result: { files: 1, left_out: 0 } });
    expect(readFileSync(folder(fork.id, "cache/x"), "utf8")).toBe("cached\n");
    expect(await paths(fork.id)).toEqual([".gitignore", "a.txt", "late.txt"]);
    writeFileSync(folder(fork.id, "a.txt"), "in the fork\n");
    expect(readFileSync(folder(id, "a.txt"), "utf8")).toBe("one\n");
    expect(branches(of)).toContain(`chat/${fork.id}`);
    await call("DELETE", `/v1/chat/sessions/${id}?purge=true`);
    await waitFor(
      () => !branches(of).includes(`chat/${id}`) && !existsSync(folder(id)),
      "the removal of the chat's files",
    );
    expect(branches(of)).toContain(`chat/${fork.id}`);
    // An ended session keeps its branch for a merge; its folder is removed.
    await call("DELETE", `/v1/chat/sessions/${fork.id}`);
    await waitFor(() => !existsSync(folder(fork.id)), "the removal of the working copy");
    expect((await merge(fork.id)).status).toBe(200);
    expect(git(of, "show", "main:late.txt")).toBe("not committed yet");
  });

  test("killed in the middle of a turn, nothing is lost and the turn continues once", async () => {
    const of = await project();
    const { id } = await chatWith("slow", of);
    await call("POST", `/v1/chat/sessions/${id}/message`, { message: "Work" });
    await waitFor(() => existsSync(folder(id, "work.txt")), "the agent's first file");
    expect(await merge(id)).toMatchObject({ status: 409, body: { code: "session_busy" } });
    await server.stop("SIGKILL");
    server = await startServer({ env, data: server.data });
    await reply(id);
    expect((await diff(id)).items).toMatchObject([{ path: "work.txt", hunks: [{ lines: ["+begun", "+ended"] }] }]);
    expect(git(of, "rev-list", "--count", `main..chat/${id}`)).toBe("1");
  });

  test("the code graph answers from the chat's own working copy", async () => {
    const of = await project();
    const { id } = await chatWith("gwen", of);
    expect((await say(id)).messages.at(-1)?.content).toContain("new.ts:1");
  });

  test("what an agent hands on is done in its own files, and belongs to its changes", async () => {
    const of = await project();
    const { id } = await chatWith("boss", of);
    await say(id);
    expect(await paths(id)).toEqual(["helped.txt", "lead.txt"]);
    const { items } = await call<{ items: (Named & { session_id: string })[] }>("GET", "/v1/spawn-executor");
    expect(await changes(items[0]!.id)).toMatchObject({ work_id: id, branch: `chat/${id}` });
    expect(branches(of).sort()).toEqual([`chat/${id}`, "main"]);
  });

  test("a routine's tick has a branch to merge; one that changed nothing leaves none", async () => {
    const of = await project();
    interface Tick extends Named {
      status: string;
      session_id: string;
    }
    const tickOf = async (agent: string): Promise<Tick> => {
      const body = { name: "Nightly", schedule: "0 3 1 1 *", instructions: "Look", project_id: of };
      const routine = await call<Named>("POST", `/v1/pulse-routines/${agent}`, body);
      const tick = await call<Tick>("POST", `/v1/pulse-routines/${agent}/${routine.id}/trigger`);
      await readUntil(
        async () => (await call<{ items: Tick[] }>("GET", `/v1/pulse-routines/${agent}/${routine.id}/ticks`)).items[0]!,
        ({ status }) => status === "succeeded",
      );
      return tick;
    };
    const tick = await tickOf("tick");
    expect(await changes(tick.id)).toMatchObject({ kind: "routine", branch: `routine/${tick.session_id}` });
    expect(await paths(tick.id)).toEqual(["ticks.txt"]);
    expect((await merge(tick.id)).status).toBe(200);
    expect(git(of, "show", "main:ticks.txt")).toBe("tick");
    const idle = await tickOf("idle");
    await waitFor(() => !branches(of).includes(`routine/${idle.session_id}`), "the removal of an empty branch");
    expect(await paths(idle.id)).toEqual([]);
    expect(await merge(idle.id)).toMatchObject({ status: 409, body: { code: "nothing_to_merge" } });
  });

  test("spawned work has a branch; sent back, it begins again on it", async () => {
    const of = await project();
    const { id } = await call<Named>("POST", "/v1/spawn-executor/execute", {
      agent_id: "tick",
      prompt: "Count",
      project_id: of,
    });
    const waitForEnd = () =>
      readUntil(
        () => changes(id),
        ({ at_work }) => !at_work,
      );
    await waitForEnd();
    expect((await diff(id)).items).toMatchObject([{ path: "ticks.txt", hunks: [{ lines: ["+tick"] }] }]);
    await call("POST", `/v1/changes/${id}/send-back`, { message: "Once more." });
    await waitForEnd();
    expect((await diff(id)).items[0]?.hunks[0]?.lines).toEqual(["+tick", "+tick"]);
    expect((await merge(id, { strategy: "squash" })).status).toBe(200);
    expect(git(of, "show", "main:ticks.txt")).toBe("tick\ntick");
  });

  test("a swarm's tasks work side by side on branches that its own takes in, and a conflict fails the task", async () => {
    const of = await project();
    interface Task {
      key: string;
      status: string;
      session_id: string;
      error: { code: string; message: string } | null;
    }
    const task = (key: string, depends_on: string[] = []) => ({ key, agent_id: key, prompt: "Work", depends_on });
    const { id } = await call<Named>("POST", "/v1/swarm/execute", {
      agent_id: "one",
      project_id: of,
      max_concurrent: 3,
      tasks: [task("one"), task("two"), task("clash"), task("last", ["one", "two"])],
    });
    const tasks = async () => (await call<{ items: Task[] }>("GET", `/v1/swarm/${id}/tasks`)).items;
    const clash = async () => (await tasks()).find(({ key }) => key === "clash")!;
    const merged = await readUntil(tasks, (all) => all.find(({ key }) => key === "last")!.status === "succeeded");
    expect(merged.find(({ key }) => key === "last")).toMatchObject({ status: "succeeded" });
    writeFileSync(folder((await clash()).session_id, "go"), "");
    const failed = await readUntil(clash, ({ status }) => status === "failed");
    expect(failed.error).toMatchObject({ code: "merge_conflict", message: expect.stringContaining("same.txt") });
    await readUntil(
      () => changes(id),
      ({ at_work }) => !at_work,
    );
    expect(await paths(id)).toEqual(["all.txt", "one.txt", "same.txt", "two.txt"]);
    expect(await paths(failed.session_id)).toContain("same.txt");
    expect((await merge(id)).status).toBe(200);
    expect(git(of, "show", "main:all.txt")).toBe("one\ntwo");
    expect(git(of, "show", "main:same.txt")).toBe("one");
    // Branches that were merged are removed; a refused one stays for inspection.
    await waitFor(() => branches(of).length === 3, "the removal of branches that were taken in");
    expect(branches(of).sort()).toEqual(["main", `swarm/${failed.session_id}`, (await changes(id)).branch].sort());
  });
});
