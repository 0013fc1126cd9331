/**
 * A swarm whose server is killed again and again, from outside: whatever the moment, it ends as it would have, no task
 * that succeeded is done again, and what agents had handed on is waited for and not handed on twice. A failure prints
 * the seed; CRASH_SEED takes it again, CRASH_POINTS changes how many points there are.
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
    // A campaign that never met a task at work, or a finished one, would prove little.
    expect(reports.some(({ atWork }) => atWork > 0)).toBe(true);
    expect(reports.some(({ done }) => done > 0)).toBe(true);
  }, 600_000);
});
