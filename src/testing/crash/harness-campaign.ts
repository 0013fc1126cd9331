/**
 * Kills a server (kill -9) while an external agent works on a run. The points are counted in events of the run, not in
 * time.
 */
import type { DockerClient } from "../../adapter/docker.ts";
import type { ReadFrame } from "../event-reader.ts";
import { endedWords, type HarnessRig, isEnd, startHarnessRig } from "./harness-work.ts";

interface HarnessReport {
  /** Points that were reached before the time was over. */
  points: number;
  /** Events of the undisturbed run. */
  events: number;
  /**
   * Calls that had ended before a kill (`ended`). Of those, results that were missing afterwards (`lost`) or existed
   * twice (`repeated`).
   */
  ended: number;
  lost: number;
  repeated: number;
  /** Kills that hit a call under way (`underWay`), and calls that were then made again (`madeAgain`). */
  underWay: number;
  madeAgain: number;
  containers: number;
  /** Runs that did not end like the undisturbed one. */
  faulty: number;
  faults: string[];
}

const WORDS = ["one", "two", "three"];
/** Has no common divisor with usual numbers of points, so that multiples of it visit every point. */
const STRIDE = 7;
/** Texts are sent in pieces that depend on timing; all other events are always the same. */
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
      // The points are spread over the run even if the time is over before all are reached. The last event is the run's
      // end.
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

/** Ids of all runs during which the server was killed. */
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
