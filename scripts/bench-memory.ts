/**
 * Memory: thousands of entries written as files, indexed at the start, and searched over HTTP. Also measures how often
 * the right entry is among the first five, for questions about a text in the public domain.
 *
 *   bun scripts/bench-memory.ts [--entries 5000] [--searches 500]
 */
import { Database } from "bun:sqlite";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { anyOf, termsOf } from "../src/store/word-search.ts";
import { startServer } from "../src/testing/server.ts";
import { median, processorMs, quantile } from "./bench-figures.ts";
import { PASSAGES } from "./memory-questions.ts";

const { values } = parseArgs({
  options: { entries: { type: "string", default: "5000" }, searches: { type: "string", default: "500" } },
});
const [entries, searches] = [Number(values.entries), Number(values.searches)];

/** Words with the frequencies of real text: the n-th most frequent word is 1 in n. */
const VOCABULARY = Array.from({ length: 20_000 }, (_, n) => `w${(n * 7_919).toString(36)}`);
let seed = 1;
const drawNumber = () => {
  seed = (seed * 48_271) % 2_147_483_647;
  return seed / 2_147_483_647;
};
const drawWord = () => VOCABULARY[Math.floor(VOCABULARY.length ** drawNumber()) - 1]!;
const drawWords = (n: number) => Array.from({ length: n }, drawWord).join(" ");

/**
 * How often the right passage is among the first five results: of the server, and of simpler indexes over the same
 * text.
 */
async function measureRecall(): Promise<void> {
  const isAmong = (found: readonly string[], title: string) => found.slice(0, 5).includes(title);
  const asked = PASSAGES.flatMap(({ title, questions }) => questions.map((question) => ({ title, question })));
  const share = (right: number) => `${(right / asked.length).toFixed(3)} (${right} of ${asked.length})`;
  const plain: [string, string, (question: string) => string[]][] = [
    ["every word, words as they are", "unicode61", (question) => question.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []],
    ["without stop words, words as they are", "unicode61", termsOf],
    ["without stop words, endings reduced", "porter unicode61 remove_diacritics 2", termsOf],
  ];
  for (const [name, tokenize, wordsOf] of plain) {
    const db = new Database(":memory:");
    db.exec(`CREATE VIRTUAL TABLE t USING fts5(title UNINDEXED, text, tokenize = '${tokenize}')`);
    for (const { title, text } of PASSAGES) db.query("INSERT INTO t VALUES (?, ?)").run(title, text);
    const find = db.query<{ title: string }, [string]>("SELECT title FROM t WHERE t MATCH ? ORDER BY rank LIMIT 5");
    const right = asked.filter(({ title, question }) =>
      isAmong(
        find.all(anyOf(wordsOf(question))).map((row) => row.title),
        title,
      ),
    );
    say(`recall@5, ${name}`, share(right.length));
    db.close();
  }
  const folder = join(data, "vaults", "scribe", "fact");
  mkdirSync(folder, { recursive: true });
  for (const [n, { title, date, text }] of PASSAGES.entries())
    writeFileSync(
      join(folder, `passage-${n}.md`),
      `---\ntitle: ${title}\ncreated: ${date}\nupdated: ${date}\n---\n${text}\n`,
    );
  while ((await count()) < entries + PASSAGES.length) await Bun.sleep(50);
  let right = 0;
  for (const { title, question } of asked) {
    const path = `/v1/memory/search?agent_id=scribe&limit=5&query=${encodeURIComponent(question)}`;
    const { body } = await server.request<{ items: { title: string }[] }>("GET", path);
    if (
      isAmong(
        body.items.map((hit) => hit.title),
        title,
      )
    )
      right++;
  }
  say("recall@5, the server's: endings reduced, title and date in the text", share(right));
}

const data = mkdtempSync(join(tmpdir(), "skep-bench-memory-"));
const vault = join(data, "vaults", "lead", "fact");
mkdirSync(vault, { recursive: true });
for (let n = 0; n < entries; n++)
  writeFileSync(
    join(vault, `entry-${n}.md`),
    `---\ntitle: ${drawWords(5)}\ntype: fact\n---\n${drawWords(60)}\n\n${drawWords(40)}\n`,
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
  const before = processorMs(server.pid);
  for (let n = 0; n < searches; n++) {
    const query = drawWords(1 + (n % 6));
    const asked = performance.now();
    const { status } = await server.request("GET", `/v1/memory/search?query=${encodeURIComponent(query)}`);
    if (status !== 200) throw new Error(`a search was answered with ${status}`);
    times.push(performance.now() - asked);
  }
  say("search of 1 to 6 words, p50, p99", `${median(times).toFixed(1)} ms, ${quantile(times, 0.99).toFixed(1)} ms`);
  say(
    "processor time of the server for one of them",
    `${((processorMs(server.pid) - before) / searches).toFixed(1)} ms`,
  );
  await measureRecall();
} finally {
  await server.remove();
}
