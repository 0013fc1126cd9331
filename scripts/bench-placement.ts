/**
 * A simulated day of work on many hosts that fail and are drained, with the server's own placement.
 *
 *   bun scripts/bench-placement.ts [--hosts 50] [--slots 4] [--executions 10000] [--losses 100] [--drains 20] [--seed 7]
 */
import { parseArgs } from "node:util";
import { simulateDay } from "../src/testing/hosts-day.ts";

const createOption = (value: string) => ({ type: "string", default: value }) as const;
const { values } = parseArgs({
  options: {
    hosts: createOption("50"),
    slots: createOption("4"),
    executions: createOption("10000"),
    losses: createOption("100"),
    drains: createOption("20"),
    seed: createOption("7"),
  },
});
const plan = {
  hosts: Number(values.hosts),
  slots: Number(values.slots),
  executions: Number(values.executions),
  losses: Number(values.losses),
  drains: Number(values.drains),
  seed: Number(values.seed),
  steps: 4,
};
const printRow = (name: string, value: string | number) => console.log(`${name.padEnd(52)} ${value}`);
const begun = performance.now();
const day = await simulateDay(plan);
const tookMs = performance.now() - begun;
const formatWait = (share: number) =>
  `${((day.waits[Math.floor((day.waits.length - 1) * share)] ?? 0) / 1_000).toFixed(0)} s`;
const twice = [...day.ends.values()].filter((times) => times > 1).length;
printRow("executions that ended", `${day.ends.size} of ${plan.executions}`);
printRow("of them twice", twice);
printRow("begun again after their host was lost", day.again);
printRow("begun on a drained host", day.onDrained);
printRow("sandboxes at once, at most; slots of all", `${day.mostOfAll}; ${plan.hosts * plan.slots}`);
printRow("of one host, at most", day.mostOfHost);
printRow("steps on the host that has their files", `${((100 * day.near) / (day.near + day.further)).toFixed(1)} %`);
printRow("wait for a host, p50, p99, longest", `${formatWait(0.5)}, ${formatWait(0.99)}, ${formatWait(1)}`);
printRow("the simulation took", `${(tookMs / 1_000).toFixed(1)} s`);
if (day.ends.size !== plan.executions || twice > 0 || day.onDrained > 0) process.exitCode = 1;
