/** Untrusted files are read with their structure. Whatever is wrong with a file only ends the reading of that file. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { strToU8 } from "fflate";
import { hasBrowser } from "../testing/browser.ts";
import { deflateSpaces, docx, docxOf, docxOfSpaces, pdfOf, printPdfs } from "../testing/paper.ts";
import { skepCommand } from "../testing/server.ts";
import type { ExtractedSection } from "./extract/model.ts";
import { createExtractor, EXTRACTOR_LIMITS } from "./extractor.ts";

setDefaultTimeout(300_000);

const folder = mkdtempSync(join(tmpdir(), "skep-extract-"));
const extractor = createExtractor(skepCommand("extract"));
afterAll(async () => {
  await extractor.close();
  rmSync(folder, { recursive: true, force: true });
});

let files = 0;
async function read(content: string | Uint8Array, hint = "", reader = extractor) {
  const path = join(folder, `file-${++files}`);
  writeFileSync(path, content);
  const sections: ExtractedSection[] = [];
  const section = (one: ExtractedSection) => void sections.push(one);
  const document = await reader.extract({ path, hint, signal: new AbortController().signal, section });
  return { document, sections, headings: sections.map(({ level, title }) => `${level} ${title}`) };
}
const refusalOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "read",
    ({ status, code, detail }) => `${status} ${code}: ${detail}`,
  );

const BEES = `<!doctype html><html lang="en"><head><title>Handbook of Bees</title></head><body style="font:12px serif">
  <h1>Handbook of Bees</h1><p>An introduction to keeping bees in a city.</p>
  <h2>The hive</h2><p>A hive has one queen, and a queen has one hive for as long as she lives.</p>
  <ul><li>one queen</li><li>many workers</li></ul>
  <table><tr><th>Month</th><th>Weight of the hive</th></tr><tr><td>May</td><td>30 kg</td></tr><tr><td>June</td><td>42 kg</td></tr></table>
  <h2 style="break-before:page">The year</h2><p>The year of the bees has two halves, and the second is the longer one.</p>
  <h3>Spring</h3><p>Look every nine days for queen cells, which hang from the lower edge of the frames.</p>
  <h3>Winter</h3><p>Leave it alone.</p></body></html>`;
const BEE_HEADINGS = ["1 Handbook of Bees", "2 The hive", "2 The year", "3 Spring", "3 Winter"];
const TABLE = "| Month | Weight of the hive |\n| --- | --- |\n| May | 30 kg |\n| June | 42 kg |";

describe.skipIf(!hasBrowser())("a PDF as a browser prints it", () => {
  const ways = [
    { outline: true, tagged: true },
    { outline: false, tagged: true },
    { outline: true, tagged: false },
    { outline: false, tagged: false },
  ];
  /** The browser writes an outline only together with tags, so this removes the tags. */
  const withoutTags = (pdf: Uint8Array): Uint8Array =>
    Buffer.from(Buffer.from(pdf).toString("latin1").replaceAll("/StructTreeRoot", "/NoSuchTreeRoot"), "latin1");
  let printed: Uint8Array[];
  beforeAll(async () => {
    const pdfs = await printPdfs(ways.map(({ outline }) => ({ html: BEES, how: { outline } })));
    printed = pdfs.map((pdf, index) => (ways[index]!.tagged ? pdf : withoutTags(pdf)));
  });

  test.each(ways.map((how, index) => ({ ...how, index })))(
    "has its headings with levels and pages, its table and its reading order (outline: $outline, tags: $tagged)",
    async ({ index, tagged }) => {
      const { document, sections, headings } = await read(printed[index]!);
      expect(document).toEqual({ media_type: "application/pdf", title: "Handbook of Bees", pages: 2 });
      expect(headings).toEqual(BEE_HEADINGS);
      expect(sections.map(({ page }) => page)).toEqual([1, 1, 2, 2, 2]);
      expect(sections[1]!.text).toContain(tagged ? TABLE : "| May | 30 kg |");
      expect(sections[1]!.text).toStartWith("A hive has one queen");
      if (tagged) expect(sections[1]!.text).toContain("- one queen\n- many workers");
      expect(sections[3]!.text).toBe(
        "Look every nine days for queen cells, which hang from the lower edge of the frames.",
      );
    },
  );
});

describe("a document", () => {
  test("of Word has its headings by their styles, and its tables", async () => {
    const table = [
      ["Month", "Weight"],
      ["May", "30 kg"],
    ];
    const { document, sections, headings } = await read(
      docx(["# Bees", "First words.", "## The hive", table, "After the table."]),
    );
    expect(document.media_type).toEndWith("wordprocessingml.document");
    expect(document.title).toBe("Bees");
    expect(headings).toEqual(["1 Bees", "2 The hive"]);
    expect(sections[1]!.text).toMatch(/\| Month +\| Weight +\|/);
    expect(sections[1]!.text).toEndWith("After the table.");
  });

  test("of HTML is read without scripts, styles and navigation", async () => {
    const html = `<!doctype html><title>A &amp; B</title><nav>Menu</nav><script>alert(1)</script><style>x{}</style>
      <h1>One</h1><p>Words <b>of</b> one.</p><h2>Two</h2><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>`;
    const { document, sections, headings } = await read(html);
    expect(document).toEqual({ media_type: "text/html", title: "A & B" });
    expect(headings).toEqual(["1 One", "2 Two"]);
    expect(sections[0]!.text).toBe("Words **of** one.");
    expect(JSON.stringify(sections)).not.toMatch(/alert|Menu|x\{\}/);
    expect(sections[1]!.text).toContain("| 1 ");
  });

  test("of Markdown keeps what only looks like a heading inside code", async () => {
    const { headings, sections } = await read(
      "Before.\n\n# One\n\n```\n# not one\n```\n\nTwo\n---\nWords.",
      "text/markdown",
    );
    expect(headings).toEqual(["1 ", "1 One", "2 Two"]);
    expect(sections[1]!.text).toContain("# not one");
  });

  test("of plain text without headings is read in parts of a bounded length", async () => {
    const { sections } = await read(`${"words and more words ".repeat(10)}\n\n`.repeat(1_000));
    expect(sections.length).toBeGreaterThan(3);
    expect(Math.max(...sections.map(({ text }) => text.length))).toBeLessThanOrEqual(40_000);
  });
});

describe("text as Windows writes it", () => {
  const WORDS = "# Grüße\n\nAn alle Bienen.";
  const big = (text: string) => Buffer.from(text, "utf16le").swap16();

  test.each([
    ["UTF-16", Buffer.from(`\uFEFF${WORDS}`, "utf16le")],
    ["UTF-16 with the high byte first", big(`\uFEFF${WORDS}`)],
  ])("%s is read", async (_what, bytes) => {
    const { headings, sections } = await read(bytes);
    expect([headings, sections[0]?.text]).toEqual([["1 Grüße"], expect.stringContaining("An alle Bienen.")]);
  });

  test("in an encoding that does not say which it is is refused with what to do", async () => {
    expect(await refusalOf(read(Buffer.from(WORDS, "latin1")))).toContain("Save it as UTF-8.");
    expect(await refusalOf(read(new Uint8Array([0, 1, 2, 200, 255])))).toContain("of no known kind");
  });
});

describe("A19, A21: a file that is hostile or broken fails with a reason, and this process does not grow", () => {
  const MIB = 1024 * 1024;
  const w = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
  /** 2.4 kB that unpack to 2 GB: two nested compressions. */
  const createNestedPdf = () => pdfOf(deflateSync(deflateSpaces(600), { level: 9 }), ["FlateDecode", "FlateDecode"]);

  const cases: [what: string, make: () => Uint8Array | string, why: RegExp][] = [
    ["a PDF whose page unpacks to 600 MB", createNestedPdf, /^422 unreadable/],
    ["a Word file that unpacks to 400 MB", () => docxOfSpaces(400), /it is a bomb/],
    ["a Word file that says it is small", () => docxOfSpaces(190, 10), /^422 unreadable|^read/],
    [
      "a Word file with a billion laughs",
      () =>
        docxOf(
          `<!DOCTYPE x [${Array.from({ length: 12 }, (_, n) => `<!ENTITY l${n} "${n ? `&l${n - 1};`.repeat(10) : "lol"}">`).join("")}]><w:document ${w}><w:body><w:p><w:r><w:t>&l11;</w:t></w:r></w:p></w:body></w:document>`,
        ),
      /^422 unreadable|^read/,
    ],
    ["HTML nested a million deep", () => `<html>${"<div>".repeat(1_000_000)}`, /^422 unreadable|^read/],
    [
      "a PDF that is cut",
      () => pdfOf(deflateSync(Buffer.from("BT ET")), ["FlateDecode"]).subarray(0, 200),
      /^422 unreadable/,
    ],
    ["a PDF of pictures", () => pdfOf(deflateSync(Buffer.from("q Q")), ["FlateDecode"]), /no text in it/],
    [
      "an archive that is not a document",
      () => docxOf("x", { "word/document.xml": strToU8("not xml") }),
      /not a Word file/,
    ],
    ["a program", () => Uint8Array.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, ...Array(64).fill(0)]), /PDF, DOCX, HTML/],
    ["text that is not valid", () => Uint8Array.from([0xc3, 0x28, 0, 1, 2]), /PDF, DOCX, HTML/],
  ];
  test.each(cases)("%s", async (_what, make, why) => {
    const file = make();
    Bun.gc(true);
    const before = process.memoryUsage().rss;
    expect(await refusalOf(read(file))).toMatch(why);
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * MIB);
    expect(extractor.pids()).toEqual([]);
    expect((await read("# Still\n\nthere")).headings).toEqual(["1 Still"]);
  });

  test("one that takes too long is ended at its limit, and nothing of it runs on", async () => {
    const slow = createExtractor(["sh", "-c", "exec sleep 60"], { ...EXTRACTOR_LIMITS, timeoutMs: 300 });
    const reading = refusalOf(read("x", "", slow));
    const pids = slow.pids();
    expect(await reading).toMatch(/too long/);
    expect(pids.some((pid) => existsSync(`/proc/${pid}`))).toBe(false);
  });

  test("one that is cancelled ends at once with the reason it was cancelled for", async () => {
    const path = join(folder, "long.html");
    writeFileSync(path, `<html>${"<p>words".repeat(400_000)}`);
    const stop = new AbortController();
    const reading = extractor.extract({ path, signal: stop.signal, section() {} });
    const [pid] = extractor.pids();
    stop.abort(new Error("enough"));
    expect(await reading.catch(({ message }) => message)).toBe("enough");
    expect(existsSync(`/proc/${pid}`)).toBe(false);
  });
});
