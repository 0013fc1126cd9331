/**
 * Faults around a server at random points of runs (`src/testing/crash/fault-campaign.ts`). Each run must end like an
 * undisturbed one.
 *
 *   scripts/bench faults [--points 30] [--rooms process,provider,docker] [--seed N]
 */
import { parseArgs } from "node:util";
import { type FaultCampaign, faultCampaign } from "../src/testing/crash/fault-campaign.ts";
import { seedFrom } from "../src/testing/crash/random.ts";

const { values } = parseArgs({
  options: {
    points: { type: "string", default: "30" },
    rooms: { type: "string", default: "process,provider,docker" },
    seed: { type: "string" },
  },
});
const seed = seedFrom(values.seed);
console.log(`## faults (seed ${seed})`);
let bad = 0;
for (const room of values.rooms.split(",") as FaultCampaign["room"][]) {
  const began = performance.now();
  const reports = await faultCampaign({
    room,
    seed,
    points: Number(values.points),
    onPoint: ({ what, failed, findings }) =>
      process.stderr.write(`${room}: ${what}, ${failed} failed${findings.map((one) => `\n  FAULT ${one}`).join("")}\n`),
  });
  const wrong = reports.filter(({ findings }) => findings.length > 0);
  const failed = reports.reduce((sum, one) => sum + one.failed, 0);
  const kills = reports.filter(({ what }) => what.startsWith("killed")).length;
  const seconds = ((performance.now() - began) / 1_000).toFixed(0);
  console.log(
    `${room.padEnd(10)} ${reports.length} points, ${kills} kills, ${failed} calls or requests failed, ${wrong.length} ended otherwise, ${seconds} s`,
  );
  for (const { what, findings } of wrong) console.log(`  FAULT ${what}: ${findings.join("; ")}`);
  bad += wrong.length;
}
process.exit(bad > 0 ? 1 : 0);
