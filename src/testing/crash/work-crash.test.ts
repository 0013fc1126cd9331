/**
 * A server that is killed again and again while it imports tasks, assigns tasks, receives webhooks and merges. Whenever
 * that happens, what was answered remains, and what is requested again exists once. A failure prints the seed;
 * CRASH_SEED repeats it, CRASH_POINTS sets the number of points.
 */
import { describe, expect, test } from "bun:test";
import { seedFrom } from "./random.ts";
import { workCampaign } from "./work-campaign.ts";

const seed = seedFrom(process.env["CRASH_SEED"]);
const points = Number(process.env["CRASH_POINTS"] ?? 9);

describe(`kill -9 in the middle of work on a project (CRASH_SEED=${seed})`, () => {
  test("loses and repeats no claim, import, webhook or merge", async () => {
    const reports = await workCampaign({ points, seed });
    expect(reports.filter(({ faults }) => faults.length > 0)).toEqual([]);
    expect(reports).toHaveLength(points);
    // A campaign whose kills all came too early or too late would prove little.
    expect(reports.some(({ answered }) => answered.length > 0)).toBe(true);
    expect(reports.some(({ answered }) => !answered.includes("merge"))).toBe(true);
  }, 600_000);
});
