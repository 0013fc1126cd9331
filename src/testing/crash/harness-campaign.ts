/** kill -9 of a server at points of a run that an external agent works on: the points are events of the run, not times. */
import type { DockerClient } from "../../adapter/docker.ts";
import type { ReadFrame } from "../event-reader.ts";
import { endedWords, type HarnessRig, isEnd, startHarnessRig } from "./harness-work.ts";

interface HarnessReport {
  /** Made before the time was over. */
  points: number;
  /** Of the run that nobody disturbed. */
  events: number;
  /** Calls that had ended before a kill; of those, what was not there afterwards, and what was there twice. */
  ended: number;
  lost: number;
  repeated: number;
  /** Kills that met a call under way; of those, calls that were made again. */
  underWay: number;
  madeAgain: number;
  containers: number;
  /** Runs that did not end as the undisturbed one. */
  faulty: number;
  faults: string[];
}

const WORDS = ["one", "two", "three"];
/** Has no divisor in common with usual numbers of points. */
const STRIDE = 7;
/** Texts go out in pieces as time has it; all others are what happened. */
const isFixed = ({ event }: ReadFrame): boolean => event !== "agent_output" && event !== "agent_thinking";
const idOf = ({ data }: ReadFrame): unknown => data["id"];

export async function harnessCampaign(
  docker: DockerClient,
  harness: string,
  { points, minutes, onPoint }: { points: number; minutes: number; onPoint(): void },
): Promise<HarnessReport> {
  const rig = await startHarnessRig(docker, harness);
  const sums = {
    points: 0,
    events: 0,
    ended: 0,
    lost: 0,
    repeated: 0,
    underWay: 0,
    madeAgain: 0,
    containers: 0,
    faulty: 0,
  };
  const report: HarnessReport = { ...sums, faults: [] };
  try {
    report.events = (await rig.until(await rig.begin(), isEnd)).filter(isFixed).length;
    const over = performance.now() + minutes * 60_000;
    for (let point = 0; point < points && performance.now() < over; point++) {
      // Spread over the run also where the time is over before all are made. The last event is the end.
      const at = 1 + Math.floor((((point * STRIDE) % points) * (report.events - 1)) / points);
      const faults = await killAt(rig, at, report);
      if (faults.length > 0) report.faulty++;
      report.faults.push(...faults.map((fault) => `${harness}, after event ${at}: ${fault}`));
      report.points++;
      onPoint();
    }
    await rig.server.stop();
    report.containers = (await docker.containers.list(["skep.execution"])).filter(({ labels }) =>
      runs.has(labels["skep.run"] ?? ""),
    ).length;
  } finally {
    await rig.remove();
  }
  return report;
}

/** Ids of all runs that were killed. */
const runs = new Set<string>();

async function killAt(rig: HarnessRig, at: number, report: HarnessReport): Promise<string[]> {
  const run = await rig.begin();
  runs.add(run);
  let seen = 0;
  const before = await rig.until(run, (frame) => isEnd(frame) || (isFixed(frame) && ++seen === at));
  await rig.kill();
  const after = await rig.until(run, isEnd);
  const faults: string[] = [];
  const { body } = await rig.server.request<{ status: string; error: unknown }>("GET", `/v1/runs/${run}`);
  if (body.status !== "succeeded") faults.push(`the run ${body.status}: ${JSON.stringify(body.error)}`);
  const there = new Set(after.map(idOf));
  const gone = before.filter((frame) => isFixed(frame) && !there.has(idOf(frame)));
  if (gone.length > 0) faults.push(`${gone.length} events are gone, the first is ${gone[0]!.event}`);
  const lines = await rig.lines(run).catch(() => []);
  const timesOf = (word: string) => lines.filter((line) => line === word).length;
  const ended = new Set(endedWords(before));
  report.ended += ended.size;
  for (const word of ended) {
    if (timesOf(word) === 0) report.lost++;
    if (timesOf(word) > 1) report.repeated++;
    if (timesOf(word) !== 1) faults.push(`"${word}" had ended, and is there ${timesOf(word)} times`);
  }
  const begun = before.filter(({ event }) => event === "tool_call_start").length;
  const finished = before.filter(({ event }) => event === "tool_call_end").length;
  if (begun > finished) report.underWay++;
  report.madeAgain += WORDS.filter((word) => !ended.has(word) && timesOf(word) > 1).length;
  return faults;
}
