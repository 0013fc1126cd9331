/**
 * A swarm with many parallel tasks on the scripted model, and kill -9 during other swarms.
 *
 *   bun scripts/bench-swarm.ts [--tasks 50] [--at-once 16] [--rounds 5] [--points 40] [--seed N]
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Swarm } from "../src/feature/swarm/model.ts";
import { readEvents } from "../src/testing/crash/event-reader.ts";
import { seedFrom } from "../src/testing/crash/random.ts";
import { swarmCampaign } from "../src/testing/crash/swarm-campaign.ts";
import { startServer, type TestServer } from "../src/testing/server.ts";
import { median } from "./bench-figures.ts";

const { values } = parseArgs({
  options: {
    tasks: { type: "string", default: "50" },
    "at-once": { type: "string", default: "16" },
    rounds: { type: "string", default: "5" },
    points: { type: "string", default: "40" },
    seed: { type: "string" },
  },
});
const [count, atOnce, rounds, points] = [values.tasks, values["at-once"], values.rounds, values.points].map(Number) as [
  number,
  number,
  number,
  number,
];
const printRow = (name: string, value: string) => console.log(`${name.padEnd(52)} ${value}`);
/** How long each of a task's two replies takes, in ms. */
const REPLY_MS = 100;

/** Processor time of the process so far, in ms. Other load on the machine adds little to it. */
function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
  // User and system time, in ticks of 10 ms.
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/**
 * @returns ms from the request to the swarm's end, the most tasks at work at once, and ms from a cancel to the last
 * task's end.
 */
async function round(server: TestServer, body: object, cancelAt?: number) {
  const started = performance.now();
  let working = 0;
  let most = 0;
  let events = 0;
  let cancelled = 0;
  let id = "";
  const over = Promise.withResolvers<void>();
  const reader = readEvents(server.url, 0, (event) => {
    if (event.swarm_id === undefined || event.swarm_id !== id) return;
    events++;
    if (event.kind === "swarm_task_started") most = Math.max(most, ++working);
    else working--;
    if (event.kind === "swarm_complete") over.resolve();
    if (cancelAt !== undefined && working >= cancelAt && cancelled === 0) {
      cancelled = performance.now();
      void server.request("POST", `/v1/swarm/${id}/cancel`);
    }
  });
  id = (await server.request<Swarm>("POST", "/v1/swarm/execute", { body })).body.id;
  await over.promise;
  const now = performance.now();
  reader.close();
  return { ms: now - started, most, events, cancelMs: now - cancelled };
}

const data = mkdtempSync(join(tmpdir(), "skep-bench-"));
mkdirSync(join(data, "agents/noter"), { recursive: true });
writeFileSync(join(data, "agents/noter/AGENT.md"), "---\nname: Noter\n---\nYou note.\n");
const complete = { tool: "complete", input: { outputs: {}, summary: "noted" } };
const turns = [
  { text: "I look.", tool_calls: [{ tool: "ls", input: { path: "." } }], delay_ms: REPLY_MS },
  { text: "Done.", tool_calls: [complete], delay_ms: REPLY_MS },
];
const script = join(data, "skep.bench-script.yml");
writeFileSync(script, JSON.stringify({ version: 1, agents: { noter: turns } }));
const server = await startServer({ data, env: { DEMO_SCRIPT: script, MAX_EXECUTIONS: String(atOnce) } });
await server.request("PUT", "/v1/settings", { body: { limits: { executions_per_agent: atOnce } } });
console.log(`## swarm (median of ${rounds}; load of the machine at the start ${loadavg()[0]!.toFixed(1)})`);
const keys = Array.from({ length: count }, (_, at) => `t${at}`);
const shape = (depends: (at: number) => string[]) => ({
  agent_id: "noter",
  max_concurrent: atOnce,
  tasks: keys.map((key, at) => ({ key, prompt: `Do ${key}`, depends_on: depends(at) })),
});
try {
  const flat: Awaited<ReturnType<typeof round>>[] = [];
  const free = shape(() => []);
  // The first round only warms up.
  await round(server, free);
  const before = processorMs(server.pid);
  for (let at = 0; at < rounds; at++) flat.push(await round(server, free));
  const each = (processorMs(server.pid) - before) / rounds / count;
  const took = median(flat.map(({ ms }) => ms));
  const least = Math.ceil(count / atOnce) * 2 * REPLY_MS;
  printRow(`${count} tasks, ${atOnce} at once, each two replies of ${REPLY_MS} ms`, `${took.toFixed(0)} ms`);
  printRow("  what the replies alone take", `${least} ms`);
  printRow("  processor time of the server a task, two turns", `${each.toFixed(1)} ms`);
  printRow("  most tasks at work at once", `${Math.max(...flat.map(({ most }) => most))}`);
  const layers = await round(
    server,
    shape((at) => (at < atOnce ? [] : keys.slice(at - atOnce, at - atOnce + 3))),
  );
  printRow(`  the same with three dependencies each`, `${layers.ms.toFixed(0)} ms`);
  const cancels: number[] = [];
  for (let at = 0; at < rounds; at++) cancels.push((await round(server, free, atOnce)).cancelMs);
  printRow(`  cancel with ${atOnce} at work, to the end of the last`, `${median(cancels).toFixed(0)} ms (target 1000)`);
  const status = readFileSync(`/proc/${server.pid}/status`, "utf8");
  printRow("  most memory held", `${(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024).toFixed(0)} MB`);
} finally {
  await server.stop();
  rmSync(data, { recursive: true, force: true });
}
if (points > 0) {
  const seed = seedFrom(values.seed);
  const reports = await swarmCampaign({ points, seed, onPoint: () => void process.stderr.write(".") });
  const bad = reports.filter(({ faults }) => faults.length > 0);
  printRow(`kill -9 in mid-swarm, seed ${seed}: points`, `${points}`);
  printRow("  swarms that ended as undisturbed", `${points - bad.length}`);
  printRow("  tasks at work when it died", `${reports.reduce((sum, { atWork }) => sum + atWork, 0)}`);
  for (const report of bad) console.log(`  FAULT ${JSON.stringify(report)}`);
  process.exit(bad.length === 0 ? 0 : 1);
}
process.exit(0);
