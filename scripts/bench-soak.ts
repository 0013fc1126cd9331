/**
 * A server under the same mixed work in each round. Its clock jumps forward between the rounds, so that retention,
 * schedules and backups come due. It is measured at rest after each round, and measures that grow without end are
 * reported. The exit code is then 1.
 *
 *   scripts/bench soak [--rounds 60] [--hours 2880] [--minutes N]
 *
 * `--hours` is the time on the server's clock over all rounds; `--minutes` limits the real time. Needs no container
 * engine: agents' commands run in the process sandbox, and the scripted model answers. Needs libfaketime (Debian's
 * faketime).
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Bound, FEWEST_POINTS, judgeGrowth, trendOf } from "../src/testing/growth.ts";
import { startServer, type TestServer } from "../src/testing/server.ts";
import { median, quantile } from "./bench-figures.ts";
import { type Measures, measure } from "./soak-measure.ts";
import { CALL_DAYS, layOutSoak, openSoak, type Soak } from "./soak-work.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "60" },
    hours: { type: "string", default: "2880" },
    minutes: { type: "string" },
  },
});
/** Parses a number; ends the program if it is invalid. */
function numberOf(name: keyof typeof values, least: number): number {
  const value = Number(values[name] ?? Number.POSITIVE_INFINITY);
  if (value >= least) return value;
  console.error(`bench soak: --${name} is a number of at least ${least}.`);
  process.exit(2);
}
const ROUNDS = numberOf("rounds", 4 * FEWEST_POINTS);
const HOURS = numberOf("hours", 1);
const ENDS_AT = performance.now() + numberOf("minutes", 0.5) * 60_000;
let isInterrupted = false;
// The current round is finished, so that everything is removed. What was measured by then is reported.
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => {
    isInterrupted = true;
  });

const HOUR_S = 3_600;
const SHOWN = 10;
/** Also measured, but it is a property of the machine, not of the server. */
const LOAD = "load";
const FAKETIME = ["x86_64", "aarch64"].map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketime.so.1`);

interface Rule extends Bound {
  /** Pattern for the names of measures. */
  of: RegExp;
  /** Simulated hours until the measure can be steady: what is kept for days must first get old. */
  settlesAfterHours?: number;
  /** Whether other load on the machine affects the measure. */
  isOfClock?: true;
  /** Growth that no setting ends: why, and by how much the measure may grow in each round. */
  kept?: { why: string; perRound: number };
}
const KEPT_HOURS = 3 * 24;
const CALL_HOURS = (CALL_DAYS + 2) * 24;
const createKeptRule = (of: RegExp, perRound: number, why: string): Rule => ({
  of,
  part: 0,
  least: 0,
  kept: { why, perRound },
});
const SUMS = "sums stay";
/**
 * The first rule that matches applies. In addition, rows and entries may grow by one in ten rounds. A round covers at
 * most two days and two hours, since the clock jumps once in it.
 */
const RULES: Rule[] = [
  // Two days, three agents, one model.
  createKeptRule(/^rows usage_days$/, 6, SUMS),
  // Two days, with the project and without one.
  createKeptRule(/^rows usage_projects$/, 4, SUMS),
  createKeptRule(/^rows usage_hours$/, 2, SUMS),
  createKeptRule(/^rows run_days$/, 2, SUMS),
  // A round has five changes by people. Those of agents are deleted with their chat.
  createKeptRule(/^rows memory_versions$/, 5, "earlier texts stay for undo"),
  createKeptRule(/^rows memory_scores$/, 1, "those of deleted entries stay for undo"),
  // Folders are named by the first two characters of a digest, so there are at most 256. Files are found by their
  // content.
  { of: /^entries uploads$/, part: 0, least: 256 },
  { of: /^memory MB$/, part: 0.1, least: 8 },
  { of: /^(descriptors|threads|processes below it)$/, part: 0.05, least: 3 },
  { of: /^WAL MB$/, part: 0.1, least: 4 },
  { of: /^(list|run) processor ms$/, part: 0.25, least: 1 },
  { of: /^(list|run) p50 ms$/, part: 0.5, least: 5, isOfClock: true },
  { of: /^(list|run) p99 ms$/, part: 1, least: 20, isOfClock: true },
  { of: /^rows llm_calls$/, part: 0.05, least: 0, settlesAfterHours: CALL_HOURS },
  { of: /^database MB$/, part: 0.05, least: 1, settlesAfterHours: CALL_HOURS },
  { of: /^kB backups$/, part: 0.05, least: 256, settlesAfterHours: CALL_HOURS },
  { of: /^(kB|entries) temporary files$/, part: 0.05, least: 3 },
  { of: /^kB /, part: 0.05, least: 64, settlesAfterHours: KEPT_HOURS },
  { of: /^(rows|entries) /, part: 0.05, least: 3, settlesAfterHours: KEPT_HOURS },
];

function report(points: readonly Measures[]): number {
  const later = points.slice(points.length >> 1);
  const names = [...new Set(points.flatMap((point) => Object.keys(point)))].filter((name) => name !== LOAD);
  const at = Array.from({ length: SHOWN }, (_, n) => Math.round(((n + 1) / SHOWN) * points.length) - 1);
  const warm = Math.floor(points.length / 5);
  console.log(
    `\n${"after round".padEnd(34)}${at
      .filter((n) => n >= warm)
      .map((n) => String(n + 1).padStart(9))
      .join("")}`,
  );
  let [growing, judged] = [0, 0];
  for (const name of names) {
    const series = later.map((point) => point[name] ?? 0);
    const rule = RULES.find(({ of }) => of.test(name))!;
    const besides = /^(rows|entries) /.test(name) ? later.length / 10 : 0;
    const least = Math.max(rule.least, besides, (rule.kept?.perRound ?? 0) * later.length);
    const { grown, allowed, isGrowing } = judgeGrowth(series, { part: rule.part, least });
    const unjudged = whyNot(rule, points);
    const isConstant = points.slice(warm).every((point) => point[name] === points[warm]![name]);
    if (unjudged === undefined) judged++;
    if (unjudged === undefined && isGrowing) growing++;
    // Tables to which nothing here writes are judged, but not shown.
    if (isConstant && !isGrowing) continue;
    const shown = at
      .filter((n) => n >= warm)
      .map((n) => (points[n]![name] ?? 0).toFixed(1).replace(".0", "").padStart(9));
    const verdict = isGrowing ? `GROWS by ${grown.toFixed(1)}, ${allowed.toFixed(1)} allowed` : (rule.kept?.why ?? "");
    console.log(`${name.padEnd(34)}${shown.join("")}  ${unjudged ?? verdict}`);
  }
  if (judged < names.length) console.log(`${names.length - judged} measures not judged`);
  console.log(`${judged} measures judged over the last ${later.length} rounds, ${growing} grow without end`);
  return growing;
}

/** Why a measure cannot be judged; undefined if it can. */
function whyNot(rule: Rule, points: readonly Measures[]): string | undefined {
  const hours = (points.length * HOURS) / ROUNDS;
  if (hours / 2 < (rule.settlesAfterHours ?? 0)) return "not judged: --hours are too few";
  const load = points.slice(points.length >> 1).map((point) => point[LOAD]!);
  return rule.isOfClock && trendOf(load).isTrend ? "not judged: the machine's load grew" : undefined;
}

async function runRounds(server: TestServer, soak: Soak, clock: string, temporary: string): Promise<Measures[]> {
  const points: Measures[] = [];
  for (let n = 0; n < ROUNDS && performance.now() < ENDS_AT && !isInterrupted; n++) {
    const began = performance.now();
    const { listMs, runMs } = await soak.round(n);
    const alone = await soak.alone();
    // Both clocks jump, as after a machine's sleep, so that timers come due, too.
    writeFileSync(clock, `+${Math.round(((n + 1) * HOURS * HOUR_S) / ROUNDS)}\n`);
    await Bun.sleep(300);
    await soak.rest();
    const point = measure(server.pid, server.data, temporary);
    point["list p50 ms"] = median(listMs);
    point["list p99 ms"] = quantile(listMs, 0.99);
    point["run p50 ms"] = median(runMs);
    point["run p99 ms"] = quantile(runMs, 0.99);
    point["list processor ms"] = alone.list;
    point["run processor ms"] = alone.run;
    point[LOAD] = loadavg()[0]!;
    points.push(point);
    process.stderr.write(
      `round ${n + 1}: ${((performance.now() - began) / 1_000).toFixed(1)} s, ${point["memory MB"]!.toFixed(0)} MB, load ${point[LOAD].toFixed(1)}\n`,
    );
  }
  return points;
}

const faketime = FAKETIME.find((path) => Bun.spawnSync(["test", "-e", path]).exitCode === 0);
if (!faketime) {
  console.error("bench soak: needs libfaketime; on Debian: apt-get install faketime");
  process.exit(2);
}
const root = mkdtempSync(join(tmpdir(), "skep-bench-soak-"));
let growing = 0;
try {
  const [clock, temporary, data] = ["clock", "tmp", "data"].map((name) => join(root, name)) as [string, string, string];
  writeFileSync(clock, "+0\n");
  for (const folder of [temporary, data]) mkdirSync(folder, { mode: 0o700 });
  const { env, repository } = layOutSoak(root);
  const fake = { LD_PRELOAD: faketime, FAKETIME_TIMESTAMP_FILE: clock, FAKETIME_NO_CACHE: "1", TMPDIR: temporary };
  const server = await startServer({ data, env: Object.assign(env, fake) });
  try {
    const began = performance.now();
    console.log(`## soak (load ${loadavg()[0]!.toFixed(1)})`);
    const points = await runRounds(server, await openSoak(server, repository), clock, temporary);
    if (points.length < 4 * FEWEST_POINTS)
      throw new Error(`${points.length} rounds are too few to judge; ${4 * FEWEST_POINTS} are needed`);
    const minutes = ((performance.now() - began) / 60_000).toFixed(1);
    const hours = Math.round((points.length * HOURS) / ROUNDS);
    growing = report(points);
    console.log(
      `${points.length} rounds, ${hours} hours of the server's clock in ${minutes} minutes, load ${loadavg()[0]!.toFixed(1)}`,
    );
    console.log(`wrote to its log: ${server.output().split("\n").length - 1} lines`);
  } catch (error) {
    console.error(server.output().split("\n").slice(-20).join("\n"));
    throw error;
  } finally {
    await server.remove();
  }
} finally {
  rmSync(root, { recursive: true, force: true });
}
process.exit(growing > 0 ? 1 : 0);
