/**
 * A swarm whose server is killed again and again, seen from outside. Whenever that happens, the swarm ends as it would
 * have. No task that succeeded is done again, and delegated work is waited for and not delegated twice. A failure
 * prints the seed; CRASH_SEED repeats it, CRASH_POINTS sets the number of points.
 */
import { describe, expect, test } from "bun:test";
import { seedFrom } from "./random.ts";
import { swarmCampaign } from "./swarm-campaign.ts";

const seed = seedFrom(process.env["CRASH_SEED"]);
const points = Number(process.env["CRASH_POINTS"] ?? 12);

describe(`kill -9 in the middle of a swarm (CRASH_SEED=${seed})`, () => {
  test("loses and repeats nothing", async () => {
    const reports = await swarmCampaign({ points, seed });
    expect(reports.filter(({ faults }) => faults.length > 0)).toEqual([]);
    expect(reports).toHaveLength(points);
    // A campaign that never hit a task at work, or a finished one, would prove little.
    expect(reports.some(({ atWork }) => atWork > 0)).toBe(true);
    expect(reports.some(({ done }) => done > 0)).toBe(true);
  }, 600_000);
});
