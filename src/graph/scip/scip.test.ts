/**
 * SCIP indexes: calls that a compiler reported replace those that the graph found, for files that did not change since.
 */
import { afterEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ScipSample, scipOf } from "../../testing/scip-sample.ts";
import { createSourceTree, type SourceTree } from "../../testing/source-tree.ts";
import { exportLines } from "../serve/export.ts";
import { createGraphSession, type GraphSession } from "../serve/session.ts";
import { incomingScip, putScip } from "./exact-references.ts";
import { readScip, ScipError } from "./read-scip.ts";

const trees: SourceTree[] = [];
afterEach(() => {
  for (const tree of trees.splice(0)) tree.remove();
});

/** Two classes have a method `send`. It is called once on a value of which the graph alone knows nothing. */
const SOURCES = {
  "src/wire.ts": "export class Wire {\n  send() {}\n}\nexport class Pipe {\n  send() {}\n}\n",
  "src/use.ts":
    'import { Wire } from "./wire.ts";\nexport function start(port) {\n  port.send();\n  new Wire().send();\n}\n',
};

const INDEX: ScipSample = {
  "src/wire.ts": [
    { line: 0, start: 13, end: 17, symbol: "t npm x 1 wire.ts/Wire#", definition: true },
    { line: 1, start: 2, end: 6, symbol: "t npm x 1 wire.ts/Wire#send().", definition: true },
    { line: 3, start: 13, end: 17, symbol: "t npm x 1 wire.ts/Pipe#", definition: true },
    { line: 4, start: 2, end: 6, symbol: "t npm x 1 wire.ts/Pipe#send().", definition: true },
  ],
  "src/use.ts": [
    { line: 1, start: 16, end: 21, symbol: "t npm x 1 use.ts/start().", definition: true },
    { line: 2, start: 7, end: 11, symbol: "t npm x 1 wire.ts/Pipe#send()." },
    { line: 3, start: 6, end: 10, symbol: "t npm x 1 wire.ts/Wire#" },
    // The graph finds another target here. The compiler's answer is used.
    { line: 3, start: 13, end: 17, symbol: "t npm x 1 wire.ts/Pipe#send()." },
  ],
};

function shop(): { tree: SourceTree; session: GraphSession } {
  const tree = createSourceTree(SOURCES);
  trees.push(tree);
  return { tree, session: createGraphSession({ root: tree.root, store: tree.store }) };
}

/** Imports a SCIP index, as the command that a person runs does. */
async function importScip({ store }: SourceTree, session: GraphSession, bytes: Uint8Array) {
  const file = join(store, "sent.scip");
  mkdirSync(store, { recursive: true });
  writeFileSync(file, bytes);
  await putScip(store, file);
  return session.index({ force: false });
}

/** Calls of a graph: `line type name reason`. */
function callsOf(session: GraphSession): string[] {
  const graph = session.graph();
  const found: string[] = [];
  for (let row = 0; row < graph.edgeCount; row++) {
    const { type, to, line, reason } = graph.edge(row);
    if (type === "CALLS" || type === "MAY_CALL") found.push(`${line} ${type} ${to.split("#")[1]} ${reason}`);
  }
  return found.sort();
}

const FOUND = ["4 CALLS Wire import", "4 CALLS Wire.send receiver_type"];
const EXACT = ["3 CALLS Pipe.send exact", "4 CALLS Pipe.send exact", "4 CALLS Wire exact"];

test("calls that a compiler knows replace those found, until the file changes, and hold again when it is as before", async () => {
  const { tree, session } = shop();
  await session.index({ force: false });
  expect(callsOf(session)).toEqual(FOUND);
  const { scip, changed } = await importScip(tree, session, scipOf(INDEX));
  expect([scip, changed]).toEqual([{ files: 2, calls: 3, stale: [], stale_count: 0 }, true]);
  expect(callsOf(session)).toEqual(EXACT);
  expect(await session.status()).toMatchObject({ state: "ready", dirty: false, exact: { files: 2, calls: 3 } });
  expect(existsSync(incomingScip(tree.store))).toBe(false);

  // Another file changes. What is known of this one still holds.
  tree.write("src/wire.ts", `// moved down\n${SOURCES["src/wire.ts"]}`);
  await session.index({ force: false });
  expect(callsOf(session)).toEqual(EXACT);
  expect((await session.status()).exact).toEqual({ files: 1, calls: 3 });

  tree.write("src/use.ts", `${SOURCES["src/use.ts"]}// changed\n`);
  await session.index({ force: false });
  expect(callsOf(session)).toEqual(FOUND);

  tree.write("src/use.ts", SOURCES["src/use.ts"]);
  await session.index({ force: false });
  expect(callsOf(session)).toEqual(EXACT);
  const incremental = [...exportLines(session.graph(), "jsonl")];
  await session.index({ force: true });
  expect([...exportLines(session.graph(), "jsonl")]).toEqual(incremental);
});

test("a document that does not fit its file as it is now is named and left out", async () => {
  const { tree, session } = shop();
  tree.write("src/use.ts", `\n\n${SOURCES["src/use.ts"]}`);
  const { scip } = await importScip(tree, session, scipOf({ ...INDEX, "../outside.ts": [], "src/none.ts": [] }));
  expect(scip).toEqual({ files: 1, calls: 0, stale: ["src/use.ts", "../outside.ts", "src/none.ts"], stale_count: 3 });
  expect(callsOf(session).filter((call) => call.includes("exact"))).toEqual([]);
});

test("an index that cannot be used says why, is removed, and leaves the graph as it was", async () => {
  const { tree, session } = shop();
  await session.index({ force: false });
  const use = (bytes: Uint8Array) =>
    importScip(tree, session, bytes).then(
      () => "used",
      (error: Error) => error.message,
    );
  expect(await use(Buffer.from("hello, this is text"))).toStartWith("The SCIP index cannot be used: it ");
  expect(await use(new Uint8Array(0))).toBe("The SCIP index cannot be used: it names no file of the folder.");
  const strange = scipOf({ "src/use.ts": [{ line: 999, start: 0, end: 1, symbol: "t x/a()." }] });
  expect(await use(strange)).toContain("none of its 1 documents fits a file as it is now, such as src/use.ts");
  expect(existsSync(incomingScip(tree.store))).toBe(false);
  expect(callsOf(session)).toEqual(FOUND);
});

test("whatever bytes it is given, the decoder ends with documents or a ScipError", () => {
  const whole = scipOf(INDEX);
  const attempt = (bytes: Uint8Array): boolean => {
    try {
      return [...readScip(bytes)].length >= 0;
    } catch (error) {
      return error instanceof ScipError;
    }
  };
  for (let length = 0; length < whole.length; length++) expect(attempt(whole.subarray(0, length))).toBe(true);
  for (let at = 0; at < whole.length; at++) {
    const damaged = Uint8Array.from(whole);
    for (const value of [0, 0x7f, 0x80, 0xff]) {
      damaged[at] = value;
      expect(attempt(damaged)).toBe(true);
    }
  }
  // A length of 2^63 bytes, and a name over the bound.
  expect(attempt(Uint8Array.of(0x12, 255, 255, 255, 255, 255, 255, 255, 255, 127))).toBe(true);
  expect(() => [...readScip(scipOf({ ["x".repeat(20_000)]: [] }))]).toThrow("longer than 16384 bytes");
  // Half a million times the symbol "a", each in ten bytes: few bytes, and many objects when they are read.
  const many = Buffer.alloc(10 * 500_001, Buffer.from([18, 8, 10, 3, 0, 0, 1, 18, 1, 97]));
  const length = [0, 7, 14, 21].map((bits) => ((many.length >>> bits) & 127) | (bits < 21 ? 128 : 0));
  expect(() => [...readScip(Buffer.concat([Buffer.from([18, ...length]), many]))]).toThrow("more than 500000");
});
