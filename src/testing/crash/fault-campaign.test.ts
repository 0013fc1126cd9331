/**
 * Whatever fails around a server for a moment, a run ends as it would have. `scripts/bench faults` tries many more
 * points.
 */
import { expect, test } from "bun:test";
import { dockerForTests } from "../docker-image.ts";
import { lacks } from "../parts.ts";
import { faultCampaign } from "./fault-campaign.ts";

const SEED = 1;
const POINTS = 5;
const docker = await dockerForTests(process.env);
const hasTools = Bun.which("gcc") !== null && Bun.which("faketime") !== null;

async function expectNoFault(room: Parameters<typeof faultCampaign>[0]["room"]): Promise<void> {
  const reports = await faultCampaign({ room, seed: SEED, points: POINTS });
  expect(reports.filter(({ findings }) => findings.length > 0)).toEqual([]);
  expect(reports).toHaveLength(POINTS);
  // A campaign without any disturbance would prove nothing.
  expect(reports.reduce((sum, { failed }) => sum + failed, 0)).toBeGreaterThan(0);
}

test.skipIf(lacks("gcc and faketime", hasTools))(
  "writes, syncs and descriptors that fail, a clock that jumps, and a machine that sleeps change nothing of a run's end",
  () => expectNoFault("process"),
  300_000,
);

test("a provider that flaps changes nothing of a run's end", () => expectNoFault("provider"), 300_000);

test.skipIf(!docker)(
  "an engine that is gone, refuses or hangs for a moment changes nothing of a run's end",
  () => expectNoFault("docker"),
  300_000,
);
