/** Runs many crash points on several servers in parallel. Each takes the next point until none is left. */
import type { CrashRun } from "./crash-pipeline.ts";
import { findings, interruptedIn, outcomeOf } from "./findings.ts";
import { type CrashPoint, type Lane, openLane } from "./lane.ts";
import { createRandom, type Random } from "./random.ts";

interface CampaignOptions {
  run: CrashRun;
  points: number;
  lanes: number;
  seed: number;
  env?: Record<string, string>;
  /** Longest additional wait after the event, in ms. */
  laterMs?: number;
  /** Called after each point. */
  onPoint?(report: PointReport): void;
}

export interface PointReport {
  point: CrashPoint;
  runId: string;
  /** What was wrong; empty if nothing was. */
  faults: string[];
  interrupted: number;
  acknowledged: number;
}

export interface CampaignReport {
  reports: PointReport[];
  /** Number of events of the undisturbed run. */
  events: number;
  runIds: string[];
}

/** Number of possible places within a stretch. */
const FINE = 1_000;

/**
 * Divides a run into as many equal stretches as there are points and chooses a random place in each, so that no stretch
 * is left out. With 50 places that are random in the whole run, a sixth of 30 stretches would be left out.
 * @returns the number of the run's events before each place.
 */
const spreadOver = (events: number, points: number, random: Random): number[] =>
  Array.from({ length: points }, (_, stretch) =>
    Math.floor(((stretch + random.upTo(FINE - 1) / FINE) / points) * (events + 1)),
  );

/** @returns a report for each point. The points follow from the seed. */
export async function crashCampaign(options: CampaignOptions): Promise<CampaignReport> {
  const { run, points, lanes, seed, env = {}, laterMs = 40, onPoint = () => {} } = options;
  const open = await Promise.all(Array.from({ length: lanes }, () => openLane(run, env)));
  try {
    const calm = await Promise.all(open.map((lane) => lane.runUndisturbed()));
    const expected = outcomeOf(calm[0]!);
    const events = calm[0]!.log.filter(({ run_id }) => run_id !== undefined).length;
    const random = createRandom(seed);
    const todo = spreadOver(events, points, random).map((at) => ({ events: at, laterMs: random.upTo(laterMs) }));
    const reports: PointReport[] = [];
    const work = async (lane: Lane) => {
      for (let point = todo.shift(); point; point = todo.shift()) {
        const disturbed = await lane.disturb(point);
        const report = {
          point,
          runId: disturbed.run.id,
          faults: findings(disturbed, expected),
          interrupted: interruptedIn(disturbed),
          acknowledged: disturbed.acknowledged,
        };
        reports.push(report);
        onPoint(report);
      }
    };
    await Promise.all(open.map(work));
    for (const one of calm) if (outcomeOf(one) !== expected) throw new Error("two undisturbed runs ended otherwise");
    return { reports, events, runIds: reports.map(({ runId }) => runId) };
  } finally {
    await Promise.all(open.map((lane) => lane.remove()));
  }
}
