/**
 * Chats, memory, documents, swarms and routines over a server that is killed again and again, from outside. A failure
 * prints the seed; CRASH_SEED takes it again, CRASH_POINTS changes how many points there are.
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
  // A campaign that never met anything at work, or in which little was answered, would prove little.
  expect(report.inTheMidst).toBeGreaterThan(0);
  expect(Object.keys(report.acknowledged).length).toBeGreaterThan(3);
}, 600_000);
