/**
 * Chats, memory, documents, swarms and routines on a server that is killed again and again, seen from outside. A
 * failure prints the seed; CRASH_SEED repeats it, CRASH_POINTS sets the number of points.
 */
import { expect, test } from "bun:test";
import { agentsCampaign } from "./agents-campaign.ts";
import { seedFrom } from "./random.ts";

const seed = seedFrom(process.env["CRASH_SEED"]);
const points = Number(process.env["CRASH_POINTS"] ?? 6);

test(`what was answered before a kill -9 is there afterwards and was done once (CRASH_SEED=${seed})`, async () => {
  const report = await agentsCampaign({ points, seed });
  expect(report.faults).toEqual([]);
  expect(report.tally).toMatchObject({ lost: 0, repeated: 0 });
  // A campaign that never hit any work, or in which little was answered, would prove little.
  expect(report.inTheMidst).toBeGreaterThan(0);
  expect(Object.keys(report.acknowledged).length).toBeGreaterThan(3);
}, 600_000);
