/**
 * Runs swarms of five tasks, one of which delegates work. The server is killed once during each, at a random moment.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SkepEvent } from "../../core/events.ts";
import type { Swarm, SwarmTask } from "../../feature/swarm/model.ts";
import { startServer, type TestServer } from "../server.ts";
import { readEvents } from "./event-reader.ts";
import { createRandom } from "./random.ts";
import { crashRoom } from "./room.ts";
import { within } from "./within.ts";

interface SwarmPoint {
  /** Number of the swarm's events before the kill, and the delay after them in ms. */
  events: number;
  laterMs: number;
  faults: string[];
  /** Number of tasks that were at work, and that had succeeded, at the kill. */
  atWork: number;
  done: number;
}

const KEYS = ["plan", "left", "right", "hand", "join"];
const task = (key: string, agent_id: string, ...depends_on: string[]) => ({
  key,
  agent_id,
  prompt: `Do ${key}`,
  depends_on,
});
const SWARM = {
  agent_id: "noter",
  max_concurrent: 3,
  tasks: [
    task("plan", "noter"),
    task("left", "noter", "plan"),
    task("right", "noter", "plan"),
    task("hand", "hander", "plan"),
    task("join", "noter", "left", "right", "hand"),
  ],
};
/** Number of events of an undisturbed swarm. */
const EVENTS = 2 * KEYS.length + 1;
const LATER_MS = 60;

/**
 * Writes the agents. Every command writes its start and end to the workspace; the agent `hander` delegates two pieces
 * of work at once.
 */
function layOut(data: string): string {
  for (const id of ["noter", "hander"]) {
    mkdirSync(join(data, "agents", id), { recursive: true });
    writeFileSync(join(data, "agents", id, "AGENT.md"), `---\nname: ${id}\nmodel: demo/scripted\n---\nYou note.\n`);
  }
  const complete = { tool: "complete", input: { outputs: {}, summary: "{{ user }} is done" } };
  const look = { text: "I look.", tool_calls: [{ tool: "ls", input: { path: "." } }], delay_ms: 20 };
  const on = (prompt: string) => ({ tool: "spawn_executor", input: { agent_id: "noter", prompt } });
  const agents = {
    noter: [look, { text: "Done.", tool_calls: [complete], delay_ms: 20 }],
    hander: [
      {
        tool_calls: [
          on("Do first"),
          { tool: "swarm_execute", input: { tasks: [{ key: "only", prompt: "Do only", agent_id: "noter" }] } },
        ],
      },
      { tool_calls: [complete] },
    ],
  };
  const path = join(data, "skep.crash-script.yml");
  writeFileSync(path, JSON.stringify({ version: 1, agents }));
  return path;
}

/** @returns a report for each point. The points follow from the seed. */
export async function swarmCampaign(options: {
  points: number;
  seed: number;
  onPoint?: () => void;
}): Promise<SwarmPoint[]> {
  const { points, seed, onPoint = () => {} } = options;
  const data = mkdtempSync(join(crashRoom(), "skep-crash-"));
  const env = { DEMO_SCRIPT: layOut(data), MAX_EXECUTIONS: "3" };
  const start = () => startServer({ data, env });
  const random = createRandom(seed);
  const reports: SwarmPoint[] = [];
  let server = await start();
  let last = 0;
  try {
    for (let at = 0; at < points; at++) {
      const point = { events: random.upTo(EVENTS - 1), laterMs: random.upTo(LATER_MS) };
      const { id, seen } = await killedAt(server, last, point);
      server = await start();
      const { events, swarm, tasks } = await waitForEnd(server, id, last);
      last = events.at(-1)!.id;
      const count = (kind: string) => seen.filter((event) => event.kind === kind && event.swarm_id === id).length;
      const done = count("swarm_task_complete");
      const atWork = Math.max(0, count("swarm_task_started") - done);
      reports.push({ ...point, faults: faultsOf(events, id, swarm, tasks), atWork, done });
      onPoint();
    }
  } finally {
    await server.remove();
    rmSync(data, { recursive: true, force: true });
  }
  return reports;
}

/** Starts a swarm and kills the server after that many of its events. */
async function killedAt(server: TestServer, after: number, { events, laterMs }: { events: number; laterMs: number }) {
  let id = "";
  let count = 0;
  const reached = Promise.withResolvers<void>();
  const reader = readEvents(server.url, after, ({ swarm_id }) => {
    if (swarm_id !== undefined && (swarm_id === id || id === "") && ++count >= events) reached.resolve();
  });
  id = (await server.request<Swarm>("POST", "/v1/swarm/execute", { body: SWARM })).body.id;
  if (events === 0) reached.resolve();
  await within(reached.promise, () => `${id}: ${events} events\n${server.output()}`);
  await Bun.sleep(laterMs);
  await server.stop("SIGKILL");
  await reader.ended;
  return { id, seen: reader.events };
}

async function waitForEnd(server: TestServer, id: string, after: number) {
  const over = Promise.withResolvers<void>();
  const reader = readEvents(server.url, after, ({ kind, swarm_id }) => {
    if (kind === "swarm_complete" && swarm_id === id) over.resolve();
  });
  await within(over.promise, () => `${id}\n${server.output()}`);
  reader.close();
  const swarm = (await server.request<Swarm>("GET", `/v1/swarm/${id}`)).body;
  const tasks = (await server.request<{ items: SwarmTask[] }>("GET", `/v1/swarm/${id}/tasks`)).body.items;
  return { events: reader.events, swarm, tasks };
}

function faultsOf(events: readonly SkepEvent[], id: string, swarm: Swarm, tasks: readonly SwarmTask[]): string[] {
  const found: string[] = [];
  const expect = (what: string, is: unknown, wanted: unknown) => {
    if (JSON.stringify(is) !== JSON.stringify(wanted)) found.push(`${what}: ${JSON.stringify(is)}`);
  };
  expect("the swarm", [swarm.status, swarm.counts, swarm.error], ["succeeded", { succeeded: KEYS.length }, null]);
  expect(
    "the tasks",
    tasks.map(({ key, status }) => `${key} ${status}`),
    KEYS.map((key) => `${key} succeeded`),
  );
  for (const [at, event] of events.entries())
    if (at > 0 && event.id !== events[at - 1]!.id + 1) found.push(`event ${event.id} came after ${events[at - 1]!.id}`);
  const of = (kind: string) => events.filter((event) => event.kind === kind && event.swarm_id === id);
  for (const kind of ["swarm_task_started", "swarm_task_complete"])
    expect(
      kind,
      of(kind)
        .map(({ data }) => data["key"])
        .sort(),
      [...KEYS].sort(),
    );
  expect("swarm_complete", of("swarm_complete").length, 1);
  // Five tasks, the work that one of them delegated, and the two sessions that are swarms.
  expect("sessions that ended well", endsOf(events, "succeeded"), KEYS.length + 4);
  expect("sessions that did not", endsOf(events, undefined), KEYS.length + 4);
  const join = tasks.find(({ key }) => key === "join")?.output ?? "";
  for (const key of ["left", "right", "hand"])
    if (!join.includes(`### ${key}, by `) || !join.includes(`> Do ${key}`)) found.push(`join did not read ${key}`);
  return found;
}

const endsOf = (events: readonly SkepEvent[], status: string | undefined): number =>
  events.filter(({ kind, data }) => kind === "session_ended" && (status === undefined || data["status"] === status))
    .length;
