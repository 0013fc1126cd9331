/**
 * Documents: searching 200 of them over HTTP, reading a PDF of 196 pages, and what a decompression bomb costs the
 * server.
 *
 *   bun scripts/bench-documents.ts [--documents 200] [--searches 500]
 */
import { readFileSync } from "node:fs";
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { deflateSync } from "node:zlib";
import type { Document } from "../src/feature/documents/model.ts";
import { framesOf, framesUntil } from "../src/testing/event-reader.ts";
import { bookHtml, docxOf, pdfOf, printPdfs } from "../src/testing/paper.ts";
import { startServer } from "../src/testing/server.ts";
import { median, processorMs, quantile } from "./bench-figures.ts";

const { values } = parseArgs({
  options: { documents: { type: "string", default: "200" }, searches: { type: "string", default: "500" } },
});
const [documents, searches] = [Number(values.documents), Number(values.searches)];

/** Words with the frequencies of real text: the n-th most frequent word is 1 in n. The first ones are English. */
const COMMON =
  "the of and to a in is it you that he was for on are with as i his they be at one have this from or had by not but what all were we when your can said there use an each which she do how their if will up other about out many then them these so some her would make like him into time has look two more go see no way could my than been who its now find long down day did get come made may part".split(
    " ",
  );
const VOCABULARY = Array.from({ length: 20_000 }, (_, n) => COMMON[n] ?? `w${(n * 7_919).toString(36)}`);
let seed = 1;
const drawNumber = () => {
  seed = (seed * 48_271) % 2_147_483_647;
  return seed / 2_147_483_647;
};
const drawWord = () => VOCABULARY[Math.floor(VOCABULARY.length ** drawNumber()) - 1]!;
const drawWords = (n: number) => Array.from({ length: n }, drawWord).join(" ");
const createMarkdown = () =>
  `# ${drawWords(4)}\n\n${Array.from({ length: 25 }, () => `## ${drawWords(3)}\n\n${Array.from({ length: 5 }, () => drawWords(90)).join("\n\n")}`).join("\n\n")}`;

const server = await startServer({ env: { RATE_LIMIT: "0" } });
const readRss = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))?.[1]) / 1024;
const untilRead = (id: string) =>
  framesUntil(
    framesOf<{ data: { document_id?: string; change?: string } }>(server, "/v1/events/stream?after=0"),
    ({ event, data }) => event === "document_changed" && data.data.document_id === id && data.data.change === "read",
  );
const ingest = async (body: unknown) =>
  (await server.request<Document>("POST", "/v1/ingest/document", { body })).body.id;
async function ingestFile(name: string, bytes: Uint8Array<ArrayBuffer>): Promise<Document> {
  const body = new FormData();
  body.append("file", new File([bytes], name));
  const id = await ingest(body);
  await untilRead(id);
  return (await server.request<Document>("GET", `/v1/documents/${id}`)).body;
}
const say = (what: string, figure: string) => console.log(`| ${what} | ${figure} |`);

try {
  console.log(`load ${loadavg()[0]?.toFixed(1)}`);
  const started = performance.now();
  let last = "";
  for (let n = 0; n < documents; n++) last = await ingest({ content: createMarkdown(), media_type: "text/markdown" });
  await untilRead(last);
  say(`${documents} documents read`, `${((performance.now() - started) / 1_000).toFixed(1)} s`);
  const { body } = await server.request<{ items: Document[] }>("GET", "/v1/documents?limit=200");
  say("paragraphs of the first 200", String(body.items.reduce((sum, { chunks }) => sum + chunks, 0)));
  const times: number[] = [];
  const used = processorMs(server.pid);
  for (let n = 0; n < searches; n++) {
    const query = drawWords(1 + (n % 6));
    const begun = performance.now();
    await server.request("GET", `/v1/documents/search?query=${encodeURIComponent(query)}`);
    times.push(performance.now() - begun);
  }
  say("search of 1 to 6 words, p50, p99", `${median(times).toFixed(1)} ms, ${quantile(times, 0.99).toFixed(1)} ms`);
  say("processor time of the server for one of them", `${((processorMs(server.pid) - used) / searches).toFixed(1)} ms`);

  const [book] = await printPdfs([{ html: bookHtml(28, 4, 10, drawWords), how: { outline: true } }]);
  const before = readRss();
  const begun = performance.now();
  const read = await ingestFile("book.pdf", book!);
  const seconds = (performance.now() - begun) / 1_000;
  say(`PDF of ${read.pages} pages, ${read.sections} sections, ${book!.length} bytes`, `${seconds.toFixed(1)} s`);
  say("server's memory before and after it", `${before.toFixed(0)} MB, ${readRss().toFixed(0)} MB`);
  const zeros = deflateSync(deflateSync(Buffer.alloc(600 * 1024 ** 2, 0x20), { level: 9 }), { level: 9 });
  const bomb = pdfOf(zeros, ["FlateDecode", "FlateDecode"]);
  const calm = readRss();
  const failed = await ingestFile("bomb.pdf", bomb);
  say(
    `PDF of ${bomb.length} bytes that unpacks to 600 MB: ${failed.status}`,
    `${calm.toFixed(0)} MB, ${readRss().toFixed(0)} MB`,
  );
  const word = docxOf(Buffer.alloc(400 * 1024 ** 2, 0x20).toString());
  const quiet = readRss();
  const refused = await ingestFile("bomb.docx", word);
  say(
    `Word file of ${word.length} bytes that unpacks to 400 MB: ${refused.status}`,
    `${quiet.toFixed(0)} MB, ${readRss().toFixed(0)} MB`,
  );
} finally {
  await server.remove();
}
