/**
 * Memory: thousands of entries written as files, indexed at the start, and searched through HTTP.
 *
 *   bun scripts/bench-memory.ts [--entries 5000] [--searches 500]
 */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startServer } from "../src/testing/server.ts";
import { median, quantile } from "./bench-figures.ts";

const { values } = parseArgs({
  options: { entries: { type: "string", default: "5000" }, searches: { type: "string", default: "500" } },
});
const [entries, searches] = [Number(values.entries), Number(values.searches)];

/** Words as often as in real text: the n-th most frequent one in n. */
const VOCABULARY = Array.from({ length: 20_000 }, (_, n) => `w${(n * 7_919).toString(36)}`);
let seed = 1;
const random = () => {
  seed = (seed * 48_271) % 2_147_483_647;
  return seed / 2_147_483_647;
};
const word = () => VOCABULARY[Math.floor(VOCABULARY.length ** random()) - 1]!;
const words = (n: number) => Array.from({ length: n }, word).join(" ");

const data = mkdtempSync(join(tmpdir(), "skep-bench-memory-"));
const vault = join(data, "vaults", "lead", "fact");
mkdirSync(vault, { recursive: true });
for (let n = 0; n < entries; n++)
  writeFileSync(
    join(vault, `entry-${n}.md`),
    `---\ntitle: ${words(5)}\ntype: fact\n---\n${words(60)}\n\n${words(40)}\n`,
  );

const begun = performance.now();
const server = await startServer({ data, env: { RATE_LIMIT: "0" } });
const say = (what: string, figure: string) => console.log(`| ${what} | ${figure} |`);
const count = async () => {
  const { body } = await server.request<{ items: { entries: number }[] }>("GET", "/v1/memory/vaults");
  return body.items.reduce((sum, one) => sum + one.entries, 0);
};
try {
  console.log(`load ${loadavg()[0]?.toFixed(1)}`);
  while ((await count()) < entries) await Bun.sleep(100);
  say(
    `${entries} entries indexed from their files, the start of the server included`,
    `${((performance.now() - begun) / 1_000).toFixed(1)} s`,
  );
  const times: number[] = [];
  for (let n = 0; n < searches; n++) {
    const query = words(1 + (n % 6));
    const asked = performance.now();
    const { status } = await server.request("GET", `/v1/memory/search?query=${encodeURIComponent(query)}`);
    if (status !== 200) throw new Error(`a search was answered with ${status}`);
    times.push(performance.now() - asked);
  }
  say("search of 1 to 6 words, p50, p99", `${median(times).toFixed(1)} ms, ${quantile(times, 0.99).toFixed(1)} ms`);
} finally {
  await server.remove();
}
