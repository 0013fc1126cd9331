/**
 * Lists that are built from files, in a large team's folder: how long each takes when its files are new and when they
 * are known, and how long others wait meanwhile, by the processor time of the server's main thread. For other lists,
 * see `scripts/bench http`.
 *   scripts/bench lists [--skills 3000] [--agents 1000] [--pipelines 1000] [--entries 5000]
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { mainThreadMs, watchLoop } from "../src/testing/main-thread.ts";
import { startServer } from "../src/testing/server.ts";

const { values } = parseArgs({
  options: {
    skills: { type: "string", default: "3000" },
    agents: { type: "string", default: "1000" },
    pipelines: { type: "string", default: "1000" },
    entries: { type: "string", default: "5000" },
  },
});
/** How often a list of known files is read. The read for which others waited longest is shown. */
const READS = 5;
const WORDS = "How it is done, in some words that a list does not show. ".repeat(20);

const server = await startServer({ env: { RATE_LIMIT: "0" } });
const watch = await watchLoop(server);

function write(path: string, text: string): void {
  const file = join(server.data, path);
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, text);
}
const repeat = (count: string, make: (n: number) => void): void => {
  for (let n = 0; n < Number(count); n++) make(n);
};
repeat(values.agents, (n) => write(`agents/a${n}/AGENT.md`, `---\nname: A${n}\n---\nYou work. ${WORDS}`));
repeat(values.skills, (n) =>
  write(`agents/_skills/s${n}.md`, `---\nname: s${n}\ndescription: What it is for, ${n}\ntags: [t${n}]\n---\n${WORDS}`),
);
repeat(values.pipelines, (n) =>
  write(`agents/_pipelines/p${n}.yml`, `id: p${n}\nname: P${n}\nsteps:\n  - id: one\n    agent: a0\n    input: Go\n`),
);
repeat(values.entries, (n) => write(`vaults/a0/e${n}.md`, `---\ntitle: Entry ${n}\n---\nFact ${n}. ${WORDS}`));

interface Read {
  tookMs: number;
  /** Processor time of the main thread, including the neighbor's requests. */
  workMs: number;
  /** The longest time that a neighbor waited. */
  waitMs: number;
}
async function read(path: string): Promise<Read> {
  await watch.waitForAnswer();
  watch.longestMs();
  const [began, worked] = [performance.now(), mainThreadMs(server.pid)];
  const { status } = await server.request("GET", path);
  const [tookMs, workMs] = [performance.now() - began, mainThreadMs(server.pid) - worked];
  if (status !== 200) throw new Error(`${path}: ${status}`);
  await watch.waitForAnswer();
  return { tookMs, workMs, waitMs: watch.longestMs() };
}
const findSlowest = (reads: Read[]) => reads.sort((a, b) => b.waitMs - a.waitMs)[0]!;
const formatRead = ({ tookMs, workMs, waitMs }: Read) =>
  [tookMs, workMs, waitMs].map((ms) => ms.toFixed(0).padStart(6)).join("");

const PATHS = [
  "/v1/agents?limit=200",
  "/v1/skills?limit=200",
  "/v1/skills?limit=1",
  "/v1/pipelines?limit=200",
  "/v1/memory/vaults",
  "/v1/memory/vaults/a0?limit=200",
  "/v1/memory/search?query=fact&agent_id=a0",
  "/v1/search?q=a1",
];
try {
  console.log(
    "ms until the answer, ms that the main thread worked, ms that others waited: new files, then known ones, the slowest of 5",
  );
  for (const path of PATHS) {
    const first = await read(path);
    const others: Awaited<ReturnType<typeof read>>[] = [];
    for (let n = 0; n < READS; n++) others.push(await read(path));
    console.log(`${path.padEnd(40)} ${formatRead(first)} |${formatRead(findSlowest(others))}`);
  }
} finally {
  watch.stop();
  await server.remove();
}
