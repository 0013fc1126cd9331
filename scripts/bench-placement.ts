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
const row = (name: string, value: string | number) => console.log(`${name.padEnd(52)} ${value}`);
const begun = performance.now();
const day = await simulateDay(plan);
const tookMs = performance.now() - begun;
const at = (share: number) => `${((day.waits[Math.floor((day.waits.length - 1) * share)] ?? 0) / 1_000).toFixed(0)} s`;
const twice = [...day.ends.values()].filter((times) => times > 1).length;
row("executions that ended", `${day.ends.size} of ${plan.executions}`);
row("of them twice", twice);
row("begun again after their host was lost", day.again);
row("begun on a drained host", day.onDrained);
row("sandboxes at once, at most; slots of all", `${day.mostOfAll}; ${plan.hosts * plan.slots}`);
row("of one host, at most", day.mostOfHost);
row("steps on the host that has their files", `${((100 * day.near) / (day.near + day.further)).toFixed(1)} %`);
row("wait for a host, p50, p99, longest", `${at(0.5)}, ${at(0.99)}, ${at(1)}`);
row("the simulation took", `${(tookMs / 1_000).toFixed(1)} s`);
if (day.ends.size !== plan.executions || twice > 0 || day.onDrained > 0) process.exitCode = 1;
