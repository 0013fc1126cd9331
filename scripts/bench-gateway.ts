/**
 * Compares an external agent's calls through the model gateway, with budgets and rows, with calls to the same provider
 * directly. They alternate within one run. Short replies measure the time. The throughput is measured with many replies
 * at once at the pace of a fast provider, and with one at a time as fast as the machine can. Provider, client and
 * everything between them share the machine, so any hop slows a reply at full speed. nginx, which forwards without
 * reading, shows by how much.
 *   scripts/bench gateway [CALLS [PARALLEL]]
 */
import { join, resolve } from "node:path";
import { temporaryFolder } from "../src/testing/command.ts";
import { startMeteredServer } from "../src/testing/metered-server.ts";
import { reply } from "../src/testing/model-server.ts";
import { startNginx } from "../src/testing/proxies.ts";
import { median, processorMs, quantile } from "./bench-figures.ts";

const CALLS = Number(process.argv[2] ?? 200);
const LONG_CALLS = Math.max(5, Math.floor(CALLS / 20));
const PARALLEL = Number(process.argv[3] ?? 16);
const PACED_CALLS = 4;
/** Tokens of a paced reply, and the time between two of them in ms: 200 tokens a second. */
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
  /** Times through nginx. */
  hop: number[];
  bytes: number;
}

const metered = await startMeteredServer({ SANDBOX: "process", ALLOW_HOST_SHELL: "true" });
const folder = temporaryFolder();
const passes = `proxy_pass ${metered.models.origin}; proxy_buffering off; proxy_http_version 1.1; proxy_set_header Connection "";`;
const nginx = await startNginx(folder.path, `location / { ${passes} }`).catch(async (error: unknown) => {
  folder.remove();
  await metered.remove();
  throw error;
});
try {
  const pipelineOf = (calls: number, first: number): Promise<string> => {
    const prompt = `MODE: bench\nDIRECT: ${metered.models.origin} ${calls} after ${first} hop ${nginx.url}\n`;
    return metered.pipeline(undefined, { harness: { acp: ["node", AGENT] }, max_turns: 1_000, prompt });
  };
  const figuresOf = async (pipeline: string): Promise<Figures> => {
    const run = await metered.run(pipeline);
    if (run.status !== "succeeded") throw new Error(`the run ${run.status}: ${JSON.stringify(run.error)}`);
    return await Bun.file(join(metered.server.data, "workspaces", run.id, "figures.json")).json();
  };
  const measure = async (text: string, calls: number) => {
    metered.models.next(reply({ text, usage: { input: 10, output: 10 } }));
    const [before, hopBefore] = [processorMs(metered.server.pid), processorMs(nginx.pid)];
    const figures = await figuresOf(await pipelineOf(calls, WARM_CALLS));
    const all = calls + WARM_CALLS;
    const processor = (processorMs(metered.server.pid) - before) / all;
    return { ...figures, processor, hopProcessor: (processorMs(nginx.pid) - hopBefore) / all };
  };
  const short = await measure("Hello.", CALLS);
  const [through, beside] = [quantile(short.through, 0.5), quantile(short.beside, 0.5)];
  console.log(
    `a short reply   p50 ${through.toFixed(2)} ms through, ${beside.toFixed(2)} ms beside: ${(through - beside).toFixed(2)} ms more (at most ${OVERHEAD_MS}); the server's processor time ${short.processor.toFixed(1)} ms a call`,
  );
  console.log(`  nginx         ${(quantile(short.hop, 0.5) - beside).toFixed(2)} ms more`);
  const long = await measure("word ".repeat(100_000), LONG_CALLS);
  const [slow, quick, hop] = [median(long.through), median(long.beside), median(long.hop)];
  const aMegabyte = (ms: number) => `${((ms / long.bytes) * 1e6).toFixed(1)} ms a MB`;
  const formatRate = (ms: number) => `${(long.bytes / 1e6 / (ms / 1e3)).toFixed(1)} MB/s`;
  console.log(
    `a long reply    ${formatRate(slow)} through, ${formatRate(quick)} beside: ${(slow / quick).toFixed(3)} of the time (at most ${SLOWER}); the server's processor time ${aMegabyte(long.processor)}`,
  );
  console.log(
    `  nginx         ${formatRate(hop)}: ${(hop / quick).toFixed(3)} of the time; its processor time ${aMegabyte(long.hopProcessor)}. The gateway takes ${(slow / hop).toFixed(3)} of nginx's time`,
  );
  metered.models.next({ kind: "reply", reply: PACED_REPLY, frameMs: TOKEN_MS });
  // Each call has its own agent, because one agent works on few things at once.
  const paced = await Promise.all(Array.from({ length: PARALLEL }, () => pipelineOf(PACED_CALLS, 1)));
  const all = await Promise.all(paced.map(figuresOf));
  const held = median(all.flatMap(({ through }) => through));
  const free = median(all.flatMap(({ beside }) => beside));
  const formatTokenRate = (ms: number) => `${((PACED_TOKENS * PARALLEL) / (ms / 1e3)).toFixed(0)} tokens a second`;
  const passed = median(all.flatMap(({ hop }) => hop));
  console.log(
    `${PARALLEL} paced replies ${formatTokenRate(held)} through, ${formatTokenRate(free)} beside: ${(held / free).toFixed(3)} of the time (at most ${SLOWER}); nginx ${(passed / free).toFixed(3)}`,
  );
  const isQuick = Math.max(slow / quick, held / free) <= SLOWER;
  process.exitCode = through - beside <= OVERHEAD_MS && isQuick ? 0 : 1;
} finally {
  await nginx.stop();
  await metered.remove();
  folder.remove();
}
