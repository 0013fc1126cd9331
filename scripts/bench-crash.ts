/**
 * Kills the server (kill -9) at random points: of scripted runs, in the process sandbox and in Docker, and of agents
 * that do other work (chats, memory, documents, swarms, routines).
 *
 *   bun scripts/bench-crash.ts [--points 200] [--docker 20] [--agents 200] [--lanes 3] [--seed N]
 */
import { parseArgs } from "node:util";
import { agentsCampaign } from "../src/testing/crash/agents-campaign.ts";
import { type CampaignReport, crashCampaign } from "../src/testing/crash/campaign.ts";
import { sixSteps, twoSteps } from "../src/testing/crash/crash-pipeline.ts";
import { seedFrom } from "../src/testing/crash/random.ts";
import { dockerForTests, testImage } from "../src/testing/docker-image.ts";

const { values } = parseArgs({
  options: {
    points: { type: "string", default: "200" },
    docker: { type: "string", default: "20" },
    agents: { type: "string", default: "200" },
    lanes: { type: "string", default: "3" },
    seed: { type: "string" },
  },
});
const seed = seedFrom(values.seed);
const lanes = Number(values.lanes);
const onPoint = () => void process.stderr.write(".");

function tell(what: string, { reports, events }: CampaignReport, seconds: number): number {
  const sum = (of: (report: (typeof reports)[number]) => number) => reports.reduce((all, one) => all + of(one), 0);
  const bad = reports.filter(({ faults }) => faults.length > 0);
  const printRow = (name: string, value: string | number) => console.log(`${name.padEnd(44)} ${value}`);
  printRow(`${what}: points`, `${reports.length} of a run with ${events} events, ${seconds.toFixed(0)} s`);
  printRow("  runs that ended as undisturbed", reports.length - bad.length);
  printRow(
    "  commands under way, reported as interrupted",
    sum(({ interrupted }) => interrupted),
  );
  printRow(
    "  answered writes, all there afterwards",
    sum(({ acknowledged }) => acknowledged),
  );
  for (const { point, runId, faults } of bad)
    console.log(`  FAULT ${runId} ${JSON.stringify(point)}: ${faults.join("; ")}`);
  return bad.length;
}

async function agentsAtWork(points: number): Promise<number> {
  if (points === 0) return 0;
  const report = await agentsCampaign({ points, seed, onPoint });
  const printRow = (name: string, value: string | number) => console.log(`${name.padEnd(44)} ${value}`);
  printRow("agents at work: points", `${report.points}, ${measureSeconds().toFixed(0)} s`);
  printRow("  kills that found something at work", report.inTheMidst);
  for (const [kind, count] of Object.entries(report.acknowledged))
    printRow(`  ${kind}: answered before the kill`, count);
  printRow("  sent and cut off by the kill", report.unanswered);
  printRow("  done, lost, repeated", `${report.tally.done}, ${report.tally.lost}, ${report.tally.repeated}`);
  for (const fault of report.faults) console.log(`  FAULT ${fault}`);
  return report.faults.length;
}

console.log(`## crash (seed ${seed}, ${lanes} servers side by side)`);
let began = performance.now();
const measureSeconds = () => (performance.now() - began) / 1_000;
let bad = await agentsAtWork(Number(values.agents));
began = performance.now();
const run = sixSteps({ commandMs: 15, replyMs: 15 });
if (Number(values.points) > 0)
  bad += tell(
    "process",
    await crashCampaign({ run, points: Number(values.points), lanes, seed, onPoint }),
    measureSeconds(),
  );
const docker = await dockerForTests(process.env);
if (docker && Number(values.docker) > 0) {
  began = performance.now();
  const env = { SANDBOX: "docker", AGENT_IMAGE: await testImage(docker), IMAGE_PULL: "false" };
  const small = twoSteps({ commandMs: 30, replyMs: 15 });
  const options = { run: small, points: Number(values.docker), lanes: 2, seed, env, laterMs: 400, onPoint };
  const report = await crashCampaign(options);
  bad += tell("docker", report, measureSeconds());
  let left = 0;
  for (const id of report.runIds) left += (await docker.containers.list([`skep.run=${id}`])).length;
  console.log(`${"  containers left".padEnd(44)} ${left}`);
  bad += left;
}
process.exit(bad > 0 ? 1 : 0);
