/** Work on untrusted text runs in other processes. Whatever happens there, the next piece of work is done. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { endedAtLimit } from "../testing/busy-machine.ts";
import { skepCommand } from "../testing/server.ts";
import { createTextWork, type TextLimits } from "./client.ts";
import { readableText } from "./page.ts";

setDefaultTimeout(300_000);

const bytes = (text: string) => new TextEncoder().encode(text);
const opened: ReturnType<typeof createTextWork>[] = [];
afterAll(() => Promise.all(opened.map((work) => work.close())));

function textWork(limits: Partial<TextLimits> = {}) {
  const reasons: string[] = [];
  const work = createTextWork({
    command: skepCommand("text-worker"),
    limits,
    onRestart: (reason) => reasons.push(reason),
  });
  opened.push(work);
  return { work, reasons };
}

const refusalOf = (work: Promise<unknown>) => work.catch(({ status, code, detail }) => [status, code, detail]);
/** The text of a page with an x; something else when the page was not read. */
const page = (work: ReturnType<typeof createTextWork>, owner: string): Promise<unknown> =>
  refusalOf(work.readableText(owner, "text/html", bytes("<p>x</p>")));
const CATASTROPHE = { type: "object", properties: { a: { type: "string", pattern: "^((a+)+)+$" } } };

describe("the text worker", () => {
  test("reads pages and holds values to schemas as this process would", async () => {
    const { work } = textWork();
    const html = "<h1>Title</h1><script>x</script><p>One <b>two</b>.</p>";
    expect(await work.readableText("me", "text/html", bytes(html))).toBe(readableText("text/html", bytes(html)));
    expect(await work.readableText("me", "image/png", bytes("x"))).toBe(null);
    const schema = { type: "object", properties: { tags: { type: "array", uniqueItems: true } } };
    expect(await work.schemaFaults("me", schema, { tags: [1, 2] })).toEqual([]);
    expect((await work.schemaFaults("me", schema, { tags: [1, 1] })).join()).toContain("/tags");
    expect(work.pids().length).toBe(1);
  });

  test("what costs little is checked here, without a process", async () => {
    const { work } = textWork();
    const schema = { type: "object", properties: { path: { type: "string", minLength: 1 } }, required: ["path"] };
    expect(await work.schemaFaults("me", schema, { path: "x".repeat(1_000_000) })).toEqual([]);
    expect((await work.schemaFaults("me", schema, {})).join()).toContain("path");
    expect(work.pids()).toEqual([]);
  });

  test("a pattern that backtracks forever is stopped at the limit, and others continue meanwhile", async () => {
    const value = { a: `${"a".repeat(50_000)}!` };
    const { others, outcome, reasons } = await endedAtLimit(
      1_500,
      async (timeoutMs) => {
        const { work, reasons } = textWork({ timeoutMs });
        const stuck = refusalOf(work.schemaFaults("hostile", { ...CATASTROPHE, uniqueItems: true }, value));
        const other = await page(work, "other");
        const outcome = await stuck;
        const stopped = [...reasons];
        return { others: [other, await page(work, "hostile")], outcome, reasons: stopped };
      },
      ({ others }) => others.every((text) => text === "x"),
    );
    expect(others).toEqual(["x", "x"]);
    // The runtime itself may give up on such a pattern.
    if (reasons.length > 0) {
      expect(outcome).toEqual([422, "too_hard", "The value with this schema takes too long to work on."]);
      expect(reasons).toEqual(["text worker did not answer schemaFaults in time"]);
    }
  });

  test("a comparison of all with all is stopped at the limit", async () => {
    const { work, reasons } = textWork({ timeoutMs: 1_000 });
    const many = Array.from({ length: 25_000 }, (_, i) => ({ a: { b: { c: i } } }));
    const schema = { type: "object", properties: { list: { type: "array", uniqueItems: true } } };
    expect(await refusalOf(work.schemaFaults("me", schema, { list: many }))).toEqual([
      422,
      "too_hard",
      "The value with this schema takes too long to work on.",
    ]);
    expect(reasons).toEqual(["text worker did not answer schemaFaults in time"]);
  });

  test("a schema that leads back to itself is refused, and ends nothing", async () => {
    const { work } = textWork();
    const [status, code] = (await refusalOf(work.schemaFaults("me", { $ref: "#" }, {}))) as unknown[];
    expect([status, code]).toEqual([422, "too_hard"]);
    expect(await work.readableText("me", "text/html", bytes("<p>x</p>"))).toBe("x");
  });

  test("one owner's work waits for its own, not for others'; an idle process ends by itself", async () => {
    const many = Array.from({ length: 25_000 }, (_, i) => ({ a: { b: { c: i } } }));
    const schema = { type: "object", properties: { list: { type: "array", uniqueItems: true } } };
    const { ended, later } = await endedAtLimit(
      1_500,
      async (timeoutMs) => {
        const { work } = textWork({ timeoutMs, idleMs: 200 });
        const ended: unknown[] = [];
        const hard = [0, 1, 2].map(() => refusalOf(work.schemaFaults("greedy", schema, { list: many })));
        const easy = page(work, "modest").then((text) => ended.push(text));
        await Promise.all([...hard.map((one) => one.then(() => ended.push("greedy"))), easy]);
        const pids = work.pids();
        while (pids.some((pid) => existsSync(`/proc/${pid}`))) await Bun.sleep(20);
        return { ended, later: await page(work, "later") };
      },
      ({ ended, later }) => ended[0] === "x" && later === "x",
    );
    expect(ended).toEqual(["x", "greedy", "greedy", "greedy"]);
    expect(later).toBe("x");
  });
});

describe("a page", () => {
  test("is read in the charset that its header or its own text names", () => {
    const latin = Uint8Array.from([0x63, 0x61, 0x66, 0xe9]);
    expect(readableText("text/plain; charset=ISO-8859-1", latin)).toBe("café");
    const declared = Uint8Array.from([...bytes('<meta charset="latin1"><body>'), ...latin]);
    expect(readableText("text/html", declared)).toBe("café");
    expect(readableText("text/plain; charset=nonsense", bytes("x"))).toBe("x");
  });

  test.each([
    ["tags nested 200,000 deep", "<div>".repeat(200_000)],
    ["200,000 unclosed attributes", '<a href="'.repeat(200_000)],
    ["200,000 siblings", "<p>x</p>".repeat(200_000)],
    ["200,000 table cells", `<table><tr>${"<td>x".repeat(200_000)}`],
    ["200,000 nested lists", "<ul><li>".repeat(200_000)],
    ["2 MB of entities", "&amp;".repeat(400_000)],
    ["2 MB of spaces", " ".repeat(2_000_000)],
  ])("that is hostile is read or refused: %s", async (_what, html) => {
    const { work } = textWork();
    const outcome = await work.readableText("me", "text/html", bytes(html)).catch(({ code }) => code);
    expect(typeof outcome).toBe("string");
  });
});
