/**
 * A board with 5,000 tasks: how long a page of it takes, and how long a claim takes while 200 callers claim. Each
 * caller claims once a second by the clock, whether or not its last claim was answered, and is timed from when the
 * claim was due. Then all 200 claim one task at the same moment. Client and server share this machine.
 *   scripts/bench tasks [--tasks 5000] [--callers 200] [--seconds 10]
 */
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import type { Job } from "../src/feature/jobs/model.ts";
import type { Project } from "../src/feature/projects/model.ts";
import type { Task } from "../src/feature/tasks/model.ts";
import { startServer } from "../src/testing/server.ts";
import { quantile } from "./bench-figures.ts";

const { values } = parseArgs({
  options: {
    tasks: { type: "string", default: "5000" },
    callers: { type: "string", default: "200" },
    seconds: { type: "string", default: "10" },
  },
});
const [TASKS, CALLERS, SECONDS] = [Number(values.tasks), Number(values.callers), Number(values.seconds)];
const [LIST_BOUND_MS, CLAIM_BOUND_MS] = [20, 10];
const AGENTS = ["lead", "architect", "engineer", "reviewer", "researcher", "scribe"];
const PAGES = 200;

const server = await startServer();
let isGood = true;
function report(name: string, ms: readonly number[], boundMs: number): void {
  const p99 = quantile(ms, 0.99);
  isGood &&= p99 <= boundMs;
  const figures = `p50 ${quantile(ms, 0.5).toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, max ${Math.max(...ms).toFixed(1)} ms`;
  console.log(`${name.padEnd(44)} ${figures} (${ms.length}; bound p99 ${boundMs} ms)`);
}
async function time<T>(work: () => Promise<T>, since = performance.now()): Promise<{ ms: number; answer: T }> {
  const answer = await work();
  return { ms: performance.now() - since, answer };
}

try {
  console.log(`## tasks (board of ${TASKS}, ${CALLERS} callers, load ${loadavg()[0]!.toFixed(1)})`);
  const { id } = (await server.request<Project>("POST", "/v1/projects", { body: { name: "board" } })).body;
  const path = `/v1/projects/${id}/tasks`;
  const tasks = Array.from({ length: TASKS }, (_, n) => ({
    title: `Task ${n}`,
    status: n % 2 === 0 ? "ready" : "backlog",
    priority: `p${n % 4}`,
    tags: [`t${n % 7}`],
  }));
  const begun = performance.now();
  const job = (await server.request<Job>("POST", `${path}/import`, { body: { tasks } })).body;
  for (let state = job.state; state !== "succeeded"; await Bun.sleep(50))
    state = (await server.request<Job>("GET", `/v1/jobs/${job.id}`)).body.state;
  console.log(`${"import".padEnd(44)} ${((performance.now() - begun) / 1_000).toFixed(1)} s`);

  for (const query of [
    "limit=50",
    "limit=200",
    "limit=50&ready=true",
    "limit=50&status=ready&priority=p0",
    "limit=50&tag=t3",
  ]) {
    const ms: number[] = [];
    for (let cursor: string | null = ""; ms.length < PAGES; ) {
      const more: string = cursor ? `&cursor=${encodeURIComponent(cursor)}` : "";
      const { ms: took, answer } = await time(() =>
        server.request<{ next_cursor: string | null }>("GET", `${path}?${query}${more}`),
      );
      if (answer.status !== 200) throw new Error(`GET answered ${answer.status}`);
      ms.push(took);
      cursor = answer.body.next_cursor;
    }
    report(`list ${query}`, ms.slice(10), LIST_BOUND_MS);
  }

  interface TaskPage {
    items: Task[];
    next_cursor: string | null;
  }
  const free: Task[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const address: string = `${path}?ready=true&limit=200${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ""}`;
    const page: TaskPage = (await server.request<TaskPage>("GET", address)).body;
    free.push(...page.items);
    cursor = page.next_cursor;
  }
  const claim = (task: Task, caller: number) =>
    server.request("POST", `${path}/${task.id}/claim`, { body: { agent_id: AGENTS[caller % AGENTS.length] } });

  const ms: number[] = [];
  const pending: Promise<void>[] = [];
  const began = performance.now();
  for (let n = 0; n < CALLERS * SECONDS; n++) {
    const due = began + (n * 1_000) / CALLERS;
    const early = due - performance.now();
    if (early > 0) await Bun.sleep(early);
    const task = free[n % free.length]!;
    pending.push(time(() => claim(task, n), due).then(({ ms: took }) => void ms.push(took)));
  }
  await Promise.all(pending);
  report(`claim, ${CALLERS} callers once a second each`, ms, CLAIM_BOUND_MS);

  const one = (await server.request<Task>("POST", path, { body: { title: "One", status: "ready" } })).body;
  const { ms: all, answer: answers } = await time(() =>
    Promise.all(Array.from({ length: CALLERS }, (_, caller) => claim(one, caller))),
  );
  const holders = new Set(
    answers.filter(({ status }) => status === 200).map(({ body }) => (body["task"] as Task).assigned_agent),
  );
  const busy = answers.filter(({ status }) => status === 409).length;
  console.log(
    `${`${CALLERS} claims of one task at once`.padEnd(44)} ${all.toFixed(0)} ms for all; ${holders.size} holder, ${busy} refused`,
  );
  isGood &&= holders.size === 1;
  process.exitCode = isGood ? 0 : 1;
} finally {
  await server.remove();
}
