/**
 * Calls of an external agent through the model gateway, with budgets and rows, beside calls of the same provider
 * without anything between. Turn about, in one run: short replies for the time, long ones for the throughput.
 *   scripts/bench gateway [CALLS]
 */
import { join, resolve } from "node:path";
import { startMeteredServer } from "../src/testing/metered-server.ts";
import { reply } from "../src/testing/model-server.ts";
import { processorMs, quantile } from "./bench-figures.ts";

const CALLS = Number(process.argv[2] ?? 200);
const LONG_CALLS = Math.max(5, Math.floor(CALLS / 20));
const OVERHEAD_MS = 5;
const SLOWER = 1.03;
const AGENT = resolve(import.meta.dir, "../src/testing/acp-agent.cjs");

interface Figures {
  through: number[];
  beside: number[];
  bytes: number;
}

const metered = await startMeteredServer({ SANDBOX: "process", ALLOW_HOST_SHELL: "true" });
try {
  const measure = async (text: string, calls: number): Promise<Figures & { processor: number }> => {
    metered.models.next(reply({ text, usage: { input: 10, output: 10 } }));
    const agent = { harness: { acp: ["node", AGENT] }, max_turns: 1_000 };
    const prompt = `MODE: bench\nDIRECT: ${metered.models.origin} ${calls}\n`;
    const before = processorMs(metered.server.pid);
    const run = await metered.run(await metered.pipeline(undefined, { ...agent, prompt }));
    if (run.status !== "succeeded") throw new Error(`the run ${run.status}: ${JSON.stringify(run.error)}`);
    const processor = (processorMs(metered.server.pid) - before) / calls;
    const figures = await Bun.file(join(metered.server.data, "workspaces", run.id, "figures.json")).json();
    return { ...figures, processor };
  };
  const short = await measure("Hello.", CALLS);
  const [through, beside] = [quantile(short.through, 0.5), quantile(short.beside, 0.5)];
  console.log(
    `a short reply   p50 ${through.toFixed(2)} ms through, ${beside.toFixed(2)} ms beside: ${(through - beside).toFixed(2)} ms more (at most ${OVERHEAD_MS}); the server's processor time ${short.processor.toFixed(1)} ms a call`,
  );
  const long = await measure("word ".repeat(100_000), LONG_CALLS);
  const [slow, quick] = [quantile(long.through, 0.5), quantile(long.beside, 0.5)];
  const rate = (ms: number) => `${(long.bytes / 1e6 / (ms / 1e3)).toFixed(1)} MB/s`;
  console.log(
    `a long reply    ${rate(slow)} through, ${rate(quick)} beside: ${(slow / quick).toFixed(3)} of the time (at most ${SLOWER}); the server's processor time ${((long.processor / long.bytes) * 1e6).toFixed(1)} ms a MB`,
  );
  process.exitCode = through - beside <= OVERHEAD_MS && slow / quick <= SLOWER ? 0 : 1;
} finally {
  await metered.remove();
}
