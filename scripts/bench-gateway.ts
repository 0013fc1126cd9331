/**
 * Calls of an external agent through the model gateway, with budgets and rows, beside calls of the same provider
 * without anything between. Turn about, in one run: short replies for the time; for the throughput many replies at once at
 * the pace of a quick provider, and one at a time as fast as the machine can.
 *   scripts/bench gateway [CALLS [PARALLEL]]
 */
import { join, resolve } from "node:path";
import { startMeteredServer } from "../src/testing/metered-server.ts";
import { reply } from "../src/testing/model-server.ts";
import { median, processorMs, quantile } from "./bench-figures.ts";

const CALLS = Number(process.argv[2] ?? 200);
const LONG_CALLS = Math.max(5, Math.floor(CALLS / 20));
const PARALLEL = Number(process.argv[3] ?? 16);
const PACED_CALLS = 4;
/** Tokens of a reply at a provider's pace, and the time between two: 200 a second. */
const PACED_TOKENS = 400;
const TOKEN_MS = 5;
const WARM_CALLS = 10;
const OVERHEAD_MS = 5;
const SLOWER = 1.03;
const AGENT = resolve(import.meta.dir, "../src/testing/acp-agent.cjs");

const PACED_REPLY = {
  text: "word ".repeat(PACED_TOKENS),
  pieceCharacters: 5,
  usage: { input: 10, output: PACED_TOKENS },
};

interface Figures {
  through: number[];
  beside: number[];
  bytes: number;
}

const metered = await startMeteredServer({ SANDBOX: "process", ALLOW_HOST_SHELL: "true" });
try {
  const pipelineOf = (calls: number, first: number): Promise<string> => {
    const prompt = `MODE: bench\nDIRECT: ${metered.models.origin} ${calls} after ${first}\n`;
    return metered.pipeline(undefined, { harness: { acp: ["node", AGENT] }, max_turns: 1_000, prompt });
  };
  const figuresOf = async (pipeline: string): Promise<Figures> => {
    const run = await metered.run(pipeline);
    if (run.status !== "succeeded") throw new Error(`the run ${run.status}: ${JSON.stringify(run.error)}`);
    return await Bun.file(join(metered.server.data, "workspaces", run.id, "figures.json")).json();
  };
  const measure = async (text: string, calls: number): Promise<Figures & { processor: number }> => {
    metered.models.next(reply({ text, usage: { input: 10, output: 10 } }));
    const before = processorMs(metered.server.pid);
    const figures = await figuresOf(await pipelineOf(calls, WARM_CALLS));
    return { ...figures, processor: (processorMs(metered.server.pid) - before) / (calls + WARM_CALLS) };
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
  metered.models.next({ kind: "reply", reply: PACED_REPLY, frameMs: TOKEN_MS });
  // Each by an agent of its own: one agent works on few things at once.
  const paced = await Promise.all(Array.from({ length: PARALLEL }, () => pipelineOf(PACED_CALLS, 1)));
  const all = await Promise.all(paced.map(figuresOf));
  const held = median(all.flatMap(({ through }) => through));
  const free = median(all.flatMap(({ beside }) => beside));
  const tokens = (ms: number) => `${((PACED_TOKENS * PARALLEL) / (ms / 1e3)).toFixed(0)} tokens a second`;
  console.log(
    `${PARALLEL} paced replies ${tokens(held)} through, ${tokens(free)} beside: ${(held / free).toFixed(3)} of the time (at most ${SLOWER})`,
  );
  const isQuick = Math.max(slow / quick, held / free) <= SLOWER;
  process.exitCode = through - beside <= OVERHEAD_MS && isQuick ? 0 : 1;
} finally {
  await metered.remove();
}
