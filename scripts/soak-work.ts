/** The work that `scripts/bench soak` gives a server in each round: some of everything, always the same amount. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { framesOf } from "../src/testing/event-reader.ts";
import type { TestServer } from "../src/testing/server.ts";
import { ranMs } from "./soak-measure.ts";

/** How often a list is requested in each round, one request at a time. */
const LISTS = 20;
const LIST = "/v1/runs?limit=20";
const STREAMS = 4;
const BACKUP_EVERY = 4;
const REST_MS = 120_000;
const DAYS = 1;
/** The smallest value that the setting accepts. */
export const CALL_DAYS = 32;
const RETENTION = {
  runs_days: DAYS,
  chats_days: DAYS,
  transcripts_days: DAYS,
  events_days: DAYS,
  api_usage_days: DAYS,
  audit_days: DAYS,
  onboarding_days: DAYS,
  notifications_days: DAYS,
  jobs_days: DAYS,
  backups_days: DAYS,
  merged_branches_days: DAYS,
  llm_calls_days: CALL_DAYS,
};

interface Timing {
  listMs: number[];
  runMs: number[];
}

type Sent = Record<string, string>;
interface Listed {
  items: Sent[];
}

export interface Soak {
  round(n: number): Promise<Timing>;
  /**
   * Processor time of the server for one list and for one run, each alone, in ms. Other load on the machine does not
   * count.
   */
  alone(): Promise<{ list: number; run: number }>;
  /** Waits until nothing is running or queued. @throws Error that names what is still running after two minutes. */
  rest(): Promise<void>;
}

const complete = (summary: string) => ({ tool_calls: [{ tool: "complete", input: { outputs: {}, summary } }] });
const call = (tool: string, input: object) => ({ tool_calls: [{ tool, input }] });

/**
 * Writes the agents, the scripted model's replies and a repository into that folder. @returns the environment for the
 * server.
 */
export function layOutSoak(root: string): { env: Record<string, string>; repository: string } {
  const script = {
    version: 1,
    chats: {
      talker: [{ text: "Answer to {{ last_user }}, in some words.", chunk: 8 }],
      rememberer: [
        call("remember", { title: "{{ last_user }}", content: "It is so: {{ last_user }}", new: true }),
        { text: "Noted." },
      ],
    },
    steps: {
      look: [call("bash", { command: "seq 1 200; echo made > made.txt" }), complete("looked")],
      write: [call("write", { path: "made.txt", content: "some lines\nof an agent\n" }), complete("written")],
      wait: [call("bash", { command: "sleep 20" }), complete("waited")],
    },
    agents: { doer: [call("ls", { path: "." }), complete("{{ user }} is done")] },
  };
  const path = join(root, "script.json");
  writeFileSync(path, JSON.stringify(script));
  const repository = join(root, "upstream");
  mkdirSync(repository);
  writeFileSync(join(repository, "README.md"), "hello\n");
  const runGit = (...args: string[]) =>
    Bun.spawnSync(["git", "-c", "user.name=U", "-c", "user.email=u@example.com", ...args], { cwd: repository });
  runGit("init", "-q", "-b", "trunk");
  runGit("add", ".");
  runGit("commit", "-qm", "first");
  const env = {
    DEMO_SCRIPT: path,
    ALLOW_HOST_SHELL: "true",
    ALLOW_LOCAL_REPOSITORIES: "true",
    RATE_LIMIT: "0",
    CHECK_ANSWERS: "false",
  };
  return { env, repository };
}

const isOpen = ({ state }: Sent): boolean => state === "queued" || state === "running";

function createAsker(server: TestServer) {
  const ask = async <T = Sent>(method: string, path: string, body?: unknown): Promise<T> => {
    const { status, body: answer } = await server.request<T>(method, path, body === undefined ? {} : { body });
    if (status >= 400) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answer)}`);
    return answer;
  };
  const listItems = async (path: string): Promise<Sent[]> => (await ask<Listed>("GET", path)).items;
  return { ask, listItems };
}
type Asking = ReturnType<typeof createAsker>;

/** Describes everything that is running or queued. */
async function atWork({ ask, listItems }: Asking): Promise<string[]> {
  const jobs = (await listItems("/v1/jobs?limit=200")).filter(isOpen).map(({ kind, state }) => `${kind} (${state})`);
  const { counts } = await ask<{ counts: { active_sessions: number } }>("GET", "/v1/status");
  return counts.active_sessions > 0 ? [...jobs, `${counts.active_sessions} sessions`] : jobs;
}

async function rest(asked: Asking): Promise<void> {
  const began = performance.now();
  // Check twice: what the end of a session starts has started by the second check.
  for (let calm = 0; calm < 2; await Bun.sleep(100)) {
    const busy = await atWork(asked);
    calm = busy.length === 0 ? calm + 1 : 0;
    if (performance.now() - began > REST_MS) throw new Error(`still at work after two minutes: ${busy.join(", ")}`);
  }
}

async function setUp({ ask, listItems }: Asking, repository: string): Promise<{ project: string; routine: string }> {
  for (const id of ["talker", "rememberer", "doer"])
    await ask("POST", "/v1/agents", { id, name: id, model: "demo/scripted", prompt: "You work.", pulse_enabled: true });
  for (const id of ["look", "write", "wait"]) {
    const steps = [{ id, agent: "doer", input: "Do it" }];
    await ask("POST", "/v1/pipelines", { id, name: id, defaults: { model: "demo/scripted" }, steps });
  }
  const project = await ask("POST", "/v1/projects", { name: "soaked", repository });
  while ((await listItems("/v1/jobs?limit=200")).some(isOpen)) await Bun.sleep(100);
  const hourly = { name: "Hourly", instructions: "Look", schedule: "0 * * * *", max_concurrent: 4 };
  const routine = await ask("POST", "/v1/pulse-routines/doer", hourly);
  const backup = { schedule: "30 3 * * *", keep_daily: 2, keep_weekly: 0, keep_monthly: 0 };
  await ask("PUT", "/v1/settings", { retention: RETENTION, backup });
  return { project: project["id"]!, routine: routine["id"]! };
}

async function time<T>(into: number[], work: () => Promise<T>): Promise<T> {
  const began = performance.now();
  const result = await work();
  into.push(performance.now() - began);
  return result;
}

/** Starts a run and follows it to its end. @returns the run's id. */
async function run(server: TestServer, { ask }: Asking, pipeline_id: string, more: object): Promise<string> {
  const body = Object.assign({ pipeline_id, task_description: `Do it well: ${pipeline_id}` }, more);
  const { id } = await ask("POST", "/v1/runs", body);
  await (await fetch(`${server.url}/v1/events/stream?run_id=${id}`)).text();
  return id!;
}

/**
 * Three runs: one stays until retention removes it, one of the project is deleted in every second round, and one is
 * cancelled.
 */
async function exerciseRuns(server: TestServer, asked: Asking, n: number, runMs: number[]): Promise<void> {
  const [, ofProject] = await Promise.all([
    time(runMs, () => run(server, asked, "look", {})),
    time(runMs, () => run(server, asked, "write", { project_name: "soaked" })),
  ]);
  const { id } = await asked.ask("POST", "/v1/runs", { pipeline_id: "wait", task_description: "Wait" });
  await asked.ask("POST", `/v1/runs/${id}/cancel`);
  await rest(asked);
  if (n % 2 === 0) for (const one of [id, ofProject]) await asked.ask("DELETE", `/v1/history/runs/${one}`);
}

/** A chat with an attachment, and one whose agent remembers. Both end, and in every second round one is deleted. */
async function exerciseChats({ ask, listItems }: Asking, n: number): Promise<void> {
  const form = new FormData();
  form.append(
    "file",
    new File([`# Page ${n}\n\n${"Some words. ".repeat(500)}\n`], "page.md", { type: "text/markdown" }),
  );
  const attachment = await ask("POST", "/v1/attachments/upload", form);
  const talk = await ask("POST", "/v1/chat/sessions", { agent_id: "talker" });
  const recall = await ask("POST", "/v1/chat/sessions", { agent_id: "rememberer" });
  const say = (chat: Sent, body: object) => ask("POST", `/v1/chat/sessions/${chat["id"]}/message`, body);
  await say(talk, { message: `Read ${n}`, attachment_ids: [attachment["id"]] });
  await say(recall, { message: `fact ${n}` });
  await say(talk, { message: `And again ${n}` });
  await rest({ ask, listItems });
  for (const { id } of [talk, recall]) await ask("DELETE", `/v1/chat/sessions/${id}`);
  if (n % 2 === 0) await ask("DELETE", `/v1/history/sessions/${talk["id"]}`);
}

/** Entries that people write, change, find and delete. Entries of agents are deleted with them. */
async function exerciseMemory({ ask, listItems }: Asking, n: number): Promise<void> {
  const vault = "/v1/memory/vaults/talker/entries";
  const entry = await ask("POST", vault, { title: `Entry ${n}`, content: `What is known of ${n}.` });
  const path = `${vault}/${encodeURIComponent(entry["id"]!)}`;
  await ask("PUT", path, { content: `What is known now of ${n}.` });
  await ask("GET", `/v1/memory/search?query=known+${n}`);
  await ask("DELETE", path);
  for (const { id } of await listItems("/v1/memory/vaults/rememberer?limit=200"))
    await ask("DELETE", `/v1/memory/vaults/rememberer/entries/${encodeURIComponent(id!)}`);
}

async function exerciseTasks({ ask }: Asking, project: string, n: number): Promise<void> {
  const board = `/v1/projects/${project}/tasks`;
  const task = await ask("POST", board, { title: `Task ${n}`, description: "What is to be done.", status: "ready" });
  await ask("POST", `${board}/${task["id"]}/claim`, { agent_id: "doer" });
  await ask("GET", `${board}?limit=50`);
  await ask("DELETE", `${board}/${task["id"]}`);
}

async function exerciseDocuments({ ask, listItems }: Asking, n: number): Promise<void> {
  const content = [1, 2, 3].map((part) => `## Section ${part}\n\nThe word${n} of part ${part}.`).join("\n\n");
  const { document_id, id } = await ask("POST", "/v1/ingest/document", { title: `Document ${n}`, content });
  while ((await listItems("/v1/jobs?limit=200")).some((job) => job["kind"]?.includes("document") && isOpen(job)))
    await Bun.sleep(50);
  await ask("GET", `/v1/documents/search?query=word${n}`);
  await ask("DELETE", `/v1/documents/${document_id ?? id}`);
}

async function exerciseAgents({ ask }: Asking, routine: string, n: number): Promise<void> {
  await ask("POST", `/v1/pulse-routines/doer/${routine}/trigger`).catch((error: unknown) => {
    // The hourly tick may be running.
    if (!String(error).includes("still_running")) throw error;
  });
  const members = [
    { key: "one", agent_id: "doer", prompt: `Do ${n} one`, depends_on: [] },
    { key: "two", agent_id: "doer", prompt: `Do ${n} two`, depends_on: ["one"] },
  ];
  await ask("POST", "/v1/swarm/execute", { agent_id: "doer", tasks: members });
}

/** Opens streams, reads from them and leaves; searches; requests lists one at a time. */
async function reads(server: TestServer, { ask }: Asking, listMs: number[]): Promise<void> {
  const latest = (await ask<{ items: { id: number }[] }>("GET", "/v1/events?limit=1")).items[0]?.id ?? 1;
  const follow = async () => {
    for await (const _ of framesOf(server, `/v1/events/stream?after=${Math.max(0, latest - 5)}`)) return;
  };
  await Promise.all(Array.from({ length: STREAMS }, follow));
  for (const words of ["Document", "fact", "nothing+of+it"]) await ask("GET", `/v1/search?q=${words}`);
  for (let at = 0; at < LISTS; at++) await time(listMs, () => ask("GET", LIST));
  for (const path of ["/v1/usage", "/metrics", "/v1/agents", "/v1/admin/retention"]) await ask("GET", path);
}

/** Creates a backup, downloads it and deletes it. Scheduled backups follow their own settings. */
async function backup(server: TestServer, asked: Asking): Promise<void> {
  await asked.ask("POST", "/v1/admin/backups");
  await rest(asked);
  const { id } = (await asked.listItems("/v1/admin/backups?limit=200")).find((one) => !one["scheduled"]) ?? {};
  if (!id) throw new Error("no backup was made");
  await (await fetch(`${server.url}/v1/admin/backups/${id}/content`)).arrayBuffer();
  await asked.ask("DELETE", `/v1/admin/backups/${id}`);
}

export async function openSoak(server: TestServer, repository: string): Promise<Soak> {
  const asked = createAsker(server);
  const { project, routine } = await setUp(asked, repository);
  return {
    rest: () => rest(asked),
    async alone() {
      const before = ranMs(server.pid);
      for (let at = 0; at < LISTS; at++) await asked.ask("GET", LIST);
      const between = ranMs(server.pid);
      await run(server, asked, "look", {});
      return { list: (between - before) / LISTS, run: ranMs(server.pid) - between };
    },
    async round(n) {
      const timing: Timing = { listMs: [], runMs: [] };
      await Promise.all([
        exerciseRuns(server, asked, n, timing.runMs),
        exerciseChats(asked, n),
        exerciseMemory(asked, n),
        exerciseTasks(asked, project, n),
        exerciseDocuments(asked, n),
        exerciseAgents(asked, routine, n),
        reads(server, asked, timing.listMs),
      ]);
      await rest(asked);
      if (n % BACKUP_EVERY === 0) await backup(server, asked);
      return timing;
    },
  };
}
