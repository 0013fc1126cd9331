/**
 * Published external agents, offline, in containers.
 *
 *   scripts/bench harness --points 20 [--minutes 60] [--harness codex]
 *                                         kill -9 of the server at so many events of a run of codex, and of opencode
 *   scripts/bench harness --feature       opencode drives every step of the shipped pipeline `feature`
 *   scripts/bench harness --compare       tokens, model calls and time of one scripted task: built-in loop, codex, opencode
 */
import { parseArgs } from "node:util";
import { harnessCampaign } from "../src/testing/crash/harness-campaign.ts";
import { compareHarnesses } from "../src/testing/crash/harness-compare.ts";
import { HARNESSES } from "../src/testing/crash/harness-work.ts";
import { dockerForTests } from "../src/testing/docker-image.ts";

const { values } = parseArgs({
  options: {
    points: { type: "string", default: "20" },
    minutes: { type: "string", default: "60" },
    harness: { type: "string" },
    feature: { type: "boolean", default: false },
    compare: { type: "boolean", default: false },
  },
});
const docker = await dockerForTests(process.env);
if (!docker) throw new Error("It needs a container engine.");
const printRow = (name: string, value: string | number) => console.log(`${name.padEnd(52)} ${value}`);

if (values.feature) {
  const began = performance.now();
  const test = [process.execPath, "test", "--timeout", "1800000", "src/feature/engine/harness-feature.test.ts"];
  const env = { ...process.env, HARNESS_DRIVES: "everything" };
  const { exitCode, stderr } = Bun.spawnSync([...test, "-t", "^opencode"], { env, stdout: "inherit", stderr: "pipe" });
  if (exitCode !== 0) console.log(stderr.toString());
  printRow("opencode, every step of feature", `${exitCode === 0 ? "passed" : "FAILED"}, ${formatElapsed(began)} s`);
  process.exit(exitCode);
}
if (values.compare) {
  for (const figures of await compareHarnesses(docker)) {
    printRow(`${figures.harness}: model calls, tool calls`, `${figures.calls}, ${figures.tools}`);
    printRow("  tokens sent: in all, first call, its tools", `${figures.sent}, ${figures.first}, ${figures.ofTools}`);
    printRow("  seconds", figures.seconds.toFixed(1));
  }
  process.exit(0);
}
let bad = 0;
for (const harness of HARNESSES.filter((one) => values.harness === undefined || one === values.harness)) {
  const began = performance.now();
  const [points, minutes] = [Number(values.points), Number(values.minutes)];
  const onPoint = () => void process.stderr.write(".");
  const report = await harnessCampaign(docker, harness, { points, minutes, onPoint });
  printRow(`${harness}: points`, `${report.points} of a run with ${report.events} events, ${formatElapsed(began)} s`);
  printRow("  runs that ended as undisturbed", report.points - report.faulty);
  printRow(
    "  calls that had ended before the kill: lost, repeated",
    `${report.ended}: ${report.lost}, ${report.repeated}`,
  );
  printRow("  calls under way: made a second time", `${report.underWay}: ${report.madeAgain}`);
  printRow("  containers left", report.containers);
  for (const fault of report.faults) console.log(`  FAULT ${fault}`);
  bad += report.faults.length + report.containers;
}
process.exit(bad > 0 ? 1 : 0);

function formatElapsed(since: number): string {
  return ((performance.now() - since) / 1_000).toFixed(0);
}
