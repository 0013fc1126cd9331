/** A SCIP index that a project's set-up names: an untrusted file, which is imported whenever it changed. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, rmSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ScipSample, scipOf } from "../../testing/scip-sample.ts";
import { createSourceTree, type SourceTree } from "../../testing/source-tree.ts";
import { createGraphSession, type GraphSession } from "../serve/session.ts";
import { incomingScip, putScip } from "./exact-references.ts";
import { offerSetUp } from "./set-up.ts";

const WIRE = "export class Wire {\n  send() {}\n}\nexport class Pipe {\n  send() {}\n}\n";
const USE = "export function start(port) {\n  port.send();\n}\n";
const WIRE_PLACES: ScipSample[string] = [
  { line: 0, start: 13, end: 17, symbol: "t npm x 1 wire.ts/Wire#", definition: true },
  { line: 1, start: 2, end: 6, symbol: "t npm x 1 wire.ts/Wire#send().", definition: true },
  { line: 3, start: 13, end: 17, symbol: "t npm x 1 wire.ts/Pipe#", definition: true },
  { line: 4, start: 2, end: 6, symbol: "t npm x 1 wire.ts/Pipe#send().", definition: true },
];
const indexTo = (name: string, line = 1): Uint8Array =>
  scipOf({
    "wire.ts": WIRE_PLACES,
    "use.ts": [{ line, start: 7, end: 11, symbol: `t npm x 1 wire.ts/${name}#send().` }],
  });

let tree: SourceTree;
let session: GraphSession;
beforeEach(() => {
  tree = createSourceTree({ "wire.ts": WIRE, "use.ts": USE });
  session = createGraphSession({ root: tree.root, store: tree.store });
});
afterEach(() => {
  session.close();
  tree.remove();
});

const index = (scip?: string) => session.index({ force: false, scip });
const exact = (): string[] => {
  const graph = session.graph();
  const edges = Array.from({ length: graph.edgeCount }, (_, row) => graph.edge(row));
  return edges.filter(({ reason }) => reason === "exact").map(({ to, line }) => `${line} ${to.split("#")[1]}`);
};

test("it is taken in by the index job, once; a new one replaces it, and changed files lose what it said of them", async () => {
  tree.write("made/index.scip", indexTo("Pipe"));
  const first = await index("made/index.scip");
  expect([first.scip?.calls, first.scipError, exact()]).toEqual([1, undefined, ["2 Pipe.send"]]);
  expect((await index("made/index.scip")).changed).toBe(false);

  tree.write("use.ts", `// moved\n${USE}`);
  await index("made/index.scip");
  expect(exact()).toEqual([]);

  tree.write("made/index.scip", indexTo("Wire", 2));
  await index("made/index.scip");
  expect(exact()).toEqual(["3 Wire.send"]);
});

test("one that cannot be used is reported, and the graph stands without it until it is mended", async () => {
  const indexBroken = async (path: string): Promise<string | undefined> => {
    const { scipError } = await index(path);
    expect((await session.status()).exact.error).toBe(scipError as string);
    expect(existsSync(incomingScip(tree.store))).toBe(false);
    expect(session.context("start").found).toBe("one");
    return scipError;
  };
  const outside = join(tree.store, "outside.scip");
  await index();
  writeFileSync(outside, indexTo("Pipe"));
  symlinkSync(outside, join(tree.root, "link.scip"));
  expect(await indexBroken("link.scip")).toContain("link.scip cannot be read in the repository");
  expect(await indexBroken("none.scip")).toContain("none.scip cannot be read in the repository: ENOENT");
  expect(await indexBroken("../outside.scip")).toContain("cannot be read in the repository");
  tree.write("index.scip", "this is text");
  expect(await indexBroken("index.scip")).toStartWith("it ");
  expect(await indexBroken("index.scip")).toStartWith("it ");
  truncateSync(join(tree.root, "index.scip"), 51 * 1024 * 1024);
  expect(await indexBroken("index.scip")).toBe("index.scip is larger than 50 MiB");
  tree.write("index.scip", indexTo("Pipe", 0));
  expect(await indexBroken("index.scip")).toBeUndefined();
  expect(exact()).toEqual([]);

  rmSync(join(tree.root, "index.scip"));
  tree.write("index.scip", indexTo("Pipe"));
  expect((await index("index.scip")).scipError).toBeUndefined();
  expect(exact()).toEqual(["2 Pipe.send"]);
});

test("after a stop in the middle the next job takes it in; what a person sends goes first", async () => {
  tree.write("index.scip", indexTo("Pipe"));
  await index();
  // Stopped after the file was copied and before it was imported.
  expect(offerSetUp(tree.root, tree.store, "index.scip")).toBeFunction();
  await index("index.scip");
  expect(exact()).toEqual(["2 Pipe.send"]);

  const sent = join(tree.store, "sent.scip");
  writeFileSync(sent, indexTo("Wire"));
  await putScip(tree.store, sent);
  utimesSync(join(tree.root, "index.scip"), 1, 1);
  await index("index.scip");
  expect(exact()).toEqual(["2 Wire.send"]);
});
