/** Many crash points, several servers side by side: each takes the next point until none is left. */
import type { CrashRun } from "./crash-pipeline.ts";
import { findings, interruptedIn, outcomeOf } from "./findings.ts";
import { type CrashPoint, type Lane, openLane } from "./lane.ts";
import { createRandom } from "./random.ts";

interface CampaignOptions {
  run: CrashRun;
  points: number;
  lanes: number;
  seed: number;
  env?: Record<string, string>;
  /** Longest wait after the event that is waited for, in ms. */
  laterMs?: number;
  /** Called after each point. */
  onPoint?(report: PointReport): void;
}

export interface PointReport {
  point: CrashPoint;
  runId: string;
  /** What was wrong; empty when all was well. */
  faults: string[];
  interrupted: number;
  acknowledged: number;
}

export interface CampaignReport {
  reports: PointReport[];
  /** Events of the run that nothing disturbed. */
  events: number;
  runIds: string[];
}

/** @returns a report per point; the points follow from the seed. */
export async function crashCampaign(options: CampaignOptions): Promise<CampaignReport> {
  const { run, points, lanes, seed, env = {}, laterMs = 40, onPoint = () => {} } = options;
  const open = await Promise.all(Array.from({ length: lanes }, () => openLane(run, env)));
  try {
    const calm = await Promise.all(open.map((lane) => lane.undisturbed()));
    const expected = outcomeOf(calm[0]!);
    const events = calm[0]!.log.filter(({ run_id }) => run_id !== undefined).length;
    const random = createRandom(seed);
    const todo = Array.from({ length: points }, () => ({ events: random.upTo(events), laterMs: random.upTo(laterMs) }));
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
