/**
 * A server that is killed while it imports tasks, assigns tasks, receives webhooks and merges a run, all at the same
 * time. Afterwards the callers repeat their requests, as clients and code hosts do.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Delivery, WebhookAnswer } from "../../feature/codehost/model.ts";
import type { Job } from "../../feature/jobs/model.ts";
import type { Project } from "../../feature/projects/model.ts";
import type { Merge } from "../../feature/reviews/merge-model.ts";
import type { Run } from "../../feature/runs/model.ts";
import type { Task } from "../../feature/tasks/model.ts";
import { type CodeHostFake, signWebhook, startCodeHost } from "../code-host.ts";
import { framesOf, framesUntil } from "../event-reader.ts";
import { startServer, type TestServer } from "../server.ts";
import { createRandom } from "./random.ts";
import { crashRoom } from "./room.ts";

interface WorkPoint {
  /** Delay of the kill after the requests, in ms. */
  laterMs: number;
  faults: string[];
  /** Which of `import`, `claim`, `webhook` and `merge` were answered before the kill. */
  answered: string[];
}

const IMPORTED = 60;
const AGENTS = ["lead", "architect", "engineer", "reviewer"];
const LATER_MS = 120;
const STRATEGIES = ["merge", "squash", "rebase"] as const;

interface Work {
  n: number;
  project: Project;
  run: Run;
  task: Task;
  strategy: (typeof STRATEGIES)[number];
}

/** @returns a report for each point. The points follow from the seed. */
export async function workCampaign(options: { points: number; seed: number }): Promise<WorkPoint[]> {
  const random = createRandom(options.seed);
  const data = mkdtempSync(join(crashRoom(), "skep-crash-"));
  const host = await startCodeHost();
  const start = () => startServer({ data, env: { ...host.env(), ALLOW_HOST_SHELL: "true" } });
  const reports: WorkPoint[] = [];
  let server = await start();
  try {
    const body = { name: "shop", repository: host.clone, fetch_before_run: "never" };
    const project = (await server.request<Project>("POST", "/v1/projects", { body })).body;
    await until(server, "kinds=workspace_changed", () => true);
    for (let n = 0; n < options.points; n++) {
      const work = { n, project, ...(await prepareWork(server, n)), strategy: STRATEGIES[n % STRATEGIES.length]! };
      const laterMs = random.upTo(LATER_MS);
      const answered: string[] = [];
      const asked = Promise.allSettled(
        ask(server, host, work).map(([what, answer]) => answer.then(() => answered.push(what))),
      );
      await Bun.sleep(laterMs);
      const known = [...answered];
      await server.stop("SIGKILL");
      await asked;
      server = await start();
      reports.push({ laterMs, answered: known, faults: await faultsAfter(server, host, work, known) });
    }
  } finally {
    await server.remove();
    await host.stop();
    rmSync(data, { recursive: true, force: true });
  }
  return reports;
}

const until = (server: TestServer, query: string, fits: (data: Record<string, unknown>) => boolean) =>
  framesUntil(framesOf<Record<string, unknown>>(server, `/v1/events/stream?after=0&${query}`), ({ data }) =>
    fits(data),
  );

/**
 * Prepares a run that changed two files, one line of them in two successive commits, and a task that can be claimed.
 */
async function prepareWork(server: TestServer, n: number): Promise<Pick<Work, "run" | "task">> {
  const id = `change-${n}`;
  const steps = [
    { id: "one", run: `echo one > file-${n}.txt` },
    { id: "two", needs: ["one"], run: `echo two > file-${n}.txt; echo more > more-${n}.txt` },
  ];
  await server.request("POST", "/v1/pipelines", { body: { id, name: id, steps } });
  const body = { pipeline_id: id, task_description: "change", project_name: "shop" };
  const run = (await server.request<Run>("POST", "/v1/runs", { body })).body;
  await until(server, `run_id=${run.id}`, ({ kind }) => kind === "run_complete");
  const claimed = { title: `claimed ${n}`, status: "ready" };
  const task = await server.request<Task>("POST", `/v1/projects/${run.project_id}/tasks`, { body: claimed });
  return { run, task: task.body };
}

type Asked = [what: string, answer: Promise<unknown>];

const importOf = (server: TestServer, { project, n }: Work) =>
  server.request<Job>("POST", `/v1/projects/${project.id}/tasks/import`, {
    body: {
      tasks: Array.from({ length: IMPORTED }, (_, at) => ({
        key: `k${at}`,
        title: `imported ${n}`,
        depends_on: at === 0 ? [] : [`k${at - 1}`],
      })),
    },
    headers: { "Idempotency-Key": `import-${n}` },
  });
const claimOf = (server: TestServer, { task }: Work, agent_id: string) =>
  server.request<{ task: Task }>("POST", `/v1/projects/${task.project_id}/tasks/${task.id}/claim`, {
    body: { agent_id },
  });
const mergeOf = (server: TestServer, { run, strategy }: Work) =>
  server.request<Merge>("POST", `/v1/runs/${run.id}/merge`, { body: { strategy } });
function webhookOf(server: TestServer, host: CodeHostFake, { n }: Work) {
  const repository = { full_name: host.repository };
  const body = JSON.stringify({ ref: "refs/heads/main", before: "", after: `after-${n}`, repository });
  const headers = signWebhook("github", "push", body, `delivery-${n}`);
  return server.request<WebhookAnswer>("POST", "/v1/codehost/webhooks", { body, headers });
}

function ask(server: TestServer, host: CodeHostFake, work: Work): Asked[] {
  return [
    ["import", importOf(server, work)],
    ["merge", mergeOf(server, work)],
    ["webhook", webhookOf(server, host, work)],
    ...AGENTS.map(
      (agent): Asked => [
        "claim",
        claimOf(server, work, agent).then(({ status }) =>
          status === 200 ? status : Promise.reject(new Error("lost")),
        ),
      ],
    ),
  ];
}

/** Repeats all requests. After that, everything must exist once. */
async function faultsAfter(server: TestServer, host: CodeHostFake, work: Work, answered: string[]): Promise<string[]> {
  const { n, project, run, task, strategy } = work;
  const faults: string[] = [];
  const expect = (what: string, is: unknown, wanted: unknown) => {
    if (JSON.stringify(is) !== JSON.stringify(wanted)) faults.push(`${strategy}, ${what}: ${JSON.stringify(is)}`);
  };
  const tasks = `/v1/projects/${project.id}/tasks`;
  const held = (await server.request<Task>("GET", `${tasks}/${task.id}`)).body;
  if (answered.includes("claim")) expect("an answered claim holds", held.status, "in_progress");
  expect("claimed and in progress together", held.status === "in_progress", held.assigned_agent !== null);
  const claims = await Promise.all(AGENTS.map((agent) => claimOf(server, work, agent)));
  expect("holders", claims.filter(({ status }) => status === 200).length, 1);

  const again = await webhookOf(server, host, work);
  if (answered.includes("webhook")) expect("a delivery that was answered", again.body.status, "duplicate");
  expect("the merge", (await mergeOf(server, work)).status, 200);
  const imported = await importOf(server, work);
  expect("the import", imported.status, 202);
  await over(server);
  const titled = await server.request<{ items: Task[] }>(
    "GET",
    `${tasks}?limit=200&q=${encodeURIComponent(`imported ${n}`)}`,
  );
  const own = titled.body.items.filter(({ title }) => title === `imported ${n}`);
  expect("imported tasks", own.length, IMPORTED);
  expect(
    "dependencies of them",
    own.reduce((sum, one) => sum + one.depends_on.length, 0),
    IMPORTED - 1,
  );
  const rows = (await server.request<{ items: Delivery[] }>("GET", "/v1/codehost/deliveries?limit=200")).body.items;
  const mine = rows.filter(({ delivery_id }) => delivery_id === `delivery-${n}`);
  expect(
    "deliveries",
    mine.map(({ state }) => state),
    ["done"],
  );
  const repository = join(server.data, "projects", project.id, "git");
  const git = (...args: string[]) => Bun.spawnSync(["git", ...args], { cwd: repository });
  expect("the repository", git("fsck", "--strict", "--no-dangling").exitCode, 0);
  const commits = git("log", "--format=%s", "--first-parent", "main", "--", `more-${n}.txt`).stdout.toString().trim();
  expect("commits that brought its file", commits.split("\n").length, 1);
  expect("the file", git("show", `main:file-${n}.txt`).stdout.toString(), "two\n");
  expect("marks", git("for-each-ref", "refs/skep/merge").stdout.toString(), "");
  const merged = (await server.request<Run>("GET", `/v1/runs/${run.id}`)).body;
  expect(
    "the run",
    [merged.merged_into, git("merge-base", "--is-ancestor", merged.merged_commit!, "main").exitCode],
    ["main", 0],
  );
  return faults;
}

/** Waits until every job has ended. */
async function over(server: TestServer): Promise<void> {
  for (;;) {
    const { items } = (await server.request<{ items: Job[] }>("GET", "/v1/jobs?limit=200")).body;
    if (items.every(({ finished_at }) => finished_at !== null)) return;
    await Bun.sleep(20);
  }
}
