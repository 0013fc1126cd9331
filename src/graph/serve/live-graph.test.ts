/**
 * An index in memory: which edits it applies, which it leaves to a whole index, and when it is dropped.
 * incremental.test.ts checks its results.
 */
import { afterEach, expect, test } from "bun:test";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createSourceTree, SHOP, type SourceTree } from "../../testing/source-tree.ts";
import type { CodeGraph } from "../code-graph.ts";
import { exportLines } from "./export.ts";
import { createLiveSlot } from "./live-slot.ts";
import { createGraphSession } from "./session.ts";

const trees: SourceTree[] = [];
afterEach(() => {
  for (const tree of trees.splice(0)) tree.remove();
});

const EDITED = SHOP["src/tax.ts"].replace("round(amount * 1.2)", "round(gross(amount))");
const GROSS = `${EDITED}\nfunction gross(amount: number): number {\n  return amount * Number(process.env.TAX_RATE);\n}\n`;

async function shop(slot = createLiveSlot()) {
  const tree = createSourceTree(SHOP);
  trees.push(tree);
  const place = { root: tree.root, store: tree.store };
  const session = createGraphSession(place, slot);
  await session.index({ force: false });
  return { tree, place, session };
}

function callersOf(session: ReturnType<typeof createGraphSession>, symbol: string): string[] {
  const answer = session.context(symbol);
  return answer.found === "one" ? answer.context.callers.map(({ name }) => name) : [answer.found];
}

test("an edit is in the answers at once, on disk when it is written, and everything is up to date then", async () => {
  const { tree, place, session } = await shop();
  session.query({ query: "tax", limit: 1, includeCode: false });
  tree.write("src/tax.ts", GROSS);
  expect((await session.status()).dirty).toBe(true);
  expect(await session.edit(true)).toMatchObject({ parsed: 1, changed: true });
  expect(callersOf(session, "gross")).toEqual(["withTax"]);
  expect(session.query({ query: "gross", limit: 1, includeCode: false }).items[0]?.symbol.name).toBe("gross");
  const read = session.ask({ question: "reads", subject: "TAX_RATE", limit: 10 });
  expect(JSON.stringify(read)).toContain("src/tax.ts");
  expect(await session.status()).toMatchObject({ dirty: false });
  const other = createGraphSession(place);
  expect(callersOf(other, "gross")).toEqual(["none"]);
  session.write();
  expect(callersOf(other, "gross")).toEqual(["withTax"]);
  expect(await other.status()).toMatchObject({ dirty: false });
});

test("an expected edit finds the index open: what it is opened from is not read any more", async () => {
  const slot = createLiveSlot();
  const isFree = () => slot.isFree;
  const { tree, session } = await shop(slot);
  await session.status();
  session.expectEdit();
  while (isFree()) await Bun.sleep(5);
  rmSync(join(tree.store, "g1", "files.bin"));
  tree.write("src/tax.ts", GROSS);
  expect(await session.edit(false)).toMatchObject({ parsed: 1 });
  expect(callersOf(session, "gross")).toEqual(["withTax"]);
  session.close();
  expect(isFree(), "a closed session keeps the place of others").toBe(true);
});

test("an edit that is only expected takes nothing from a session that has one, nor is one expected of files that changed", async () => {
  const slot = createLiveSlot();
  const [first, second] = [await shop(slot), await shop(slot)];
  first.tree.write("src/tax.ts", GROSS);
  expect(await first.session.edit(false)).toMatchObject({ parsed: 1 });
  await second.session.status();
  second.session.expectEdit();
  await Bun.sleep(600);
  // The edits of the first session are not on disk. They last as long as no other session takes its place.
  expect(callersOf(first.session, "gross")).toEqual(["withTax"]);
  first.session.close();
  second.tree.write("src/tax.ts", GROSS);
  await second.session.status();
  second.session.expectEdit();
  await Bun.sleep(600);
  expect(slot.isFree, "an index was opened for files that it does not have").toBe(true);
});

test("names and words are found after many edits, whether they were asked for between them or not", async () => {
  const { tree, place, session } = await shop();
  const names: string[] = [];
  for (let round = 0; round < 4; round++) {
    names.push(`step${round}`);
    tree.write("src/tax.ts", `${SHOP["src/tax.ts"]}${names.map((name) => `\nexport const ${name} = 1;`).join("")}\n`);
    expect(await session.edit(false)).toMatchObject({ parsed: 1 });
    const full = createGraphSession({ ...place, store: `${tree.store}-${round}` });
    await full.index({ force: true });
    for (const name of ["round", "tax.ts", "main", ...names])
      expect([name, session.graph().findByName(name)]).toEqual([name, full.graph().findByName(name)]);
    const search = (one: typeof session) => one.query({ query: "step round", limit: 20, includeCode: false });
    if (round !== 1) expect(search(session)).toEqual(search(full));
  }
  tree.write("src/tax.ts", SHOP["src/tax.ts"]);
  await session.edit(false);
  expect(session.graph().findByName("step0")).toEqual([]);
});

test("what a graph says stays true over many edits of one file, also in the graph before the latest", async () => {
  const { tree, place, session } = await shop();
  const linesOf = (graph: CodeGraph) => [...exportLines(graph, "jsonl")];
  tree.write("src/cart.ts", `${SHOP["src/cart.ts"]}\n`);
  await session.edit(false);
  for (let round = 1; round <= 12; round++) {
    const more = Array.from(
      { length: round },
      (_, i) => `\n/** Number ${i} of ${round}. */\nexport const more${i} = 1;`,
    );
    const before = session.graph();
    const linesBefore = linesOf(before);
    tree.write("src/cart.ts", `${SHOP["src/cart.ts"]}${more.join("")}\n`);
    expect(await session.edit(false)).toMatchObject({ parsed: 1 });
    expect(linesOf(before)).toEqual(linesBefore);
  }
  const full = createGraphSession({ ...place, store: `${tree.store}-full` });
  await full.index({ force: true });
  expect(linesOf(session.graph())).toEqual(linesOf(full.graph()));
});

test("clusters and flows after an edit are found when they are asked for", async () => {
  const { tree, place, session } = await shop();
  tree.write("src/tax.ts", GROSS);
  await session.edit(false);
  const flows = session.processes({ start: 0, count: 10 });
  const full = createGraphSession({ ...place, store: `${tree.store}-full` });
  await full.index({ force: true });
  expect(flows).toEqual(full.processes({ start: 0, count: 10 }));
  expect(session.communities({ start: 0, count: 10 })).toEqual(full.communities({ start: 0, count: 10 }));
});

test("files that come or go, and settings that change, are left to a whole index", async () => {
  const { tree, session } = await shop();
  tree.write("src/bill.ts", 'import { withTax } from "./tax.ts";\nexport const bill = () => withTax(1);\n');
  expect(await session.edit(false)).toBeUndefined();
  await session.index({ force: false });
  tree.write("src/tax.ts", GROSS);
  expect(await session.edit(false)).toMatchObject({ parsed: 1 });
  rmSync(`${tree.root}/src/bill.ts`);
  expect(await session.edit(false)).toBeUndefined();
  await session.index({ force: false });
  tree.write("tsconfig.json", "{}");
  expect(await session.edit(false)).toBeUndefined();
  await session.index({ force: false });
  expect(callersOf(session, "gross")).toEqual(["withTax"]);
});

test("an index that another process wrote meanwhile is what the next edit goes on from", async () => {
  const { tree, place, session } = await shop();
  tree.write("src/tax.ts", GROSS);
  await session.edit(false);
  tree.write("src/bill.ts", 'import { withTax } from "./tax.ts";\nexport const bill = () => withTax(1);\n');
  await createGraphSession(place).index({ force: false });
  expect(callersOf(session, "withTax").sort()).toEqual(["bill", "total"]);
  tree.write("src/tax.ts", `${GROSS}\nexport const late = () => withTax(2);\n`);
  expect(await session.edit(false)).toMatchObject({ parsed: 1 });
  expect(callersOf(session, "withTax").sort()).toEqual(["bill", "late", "total"]);
  expect(callersOf(session, "gross")).toEqual(["withTax"]);
});

test("an index job takes an edit into the graph that there is, and resolves the whole only where it has to", async () => {
  const { tree, session } = await shop();
  const begunBy = async (force: boolean) => {
    const begun = new Set<string>();
    const progress: Parameters<typeof session.index>[0]["progress"] = (phases) => {
      for (const { name, state } of phases) if (state === "running") begun.add(name);
    };
    await session.index({ force, progress });
    return begun.has("resolution");
  };
  tree.write("src/tax.ts", GROSS);
  expect(await begunBy(false)).toBe(false);
  expect(callersOf(session, "gross")).toEqual(["withTax"]);
  expect(await begunBy(true)).toBe(true);
});

test("the graph of what was deleted is not made again by an edit that was to be written", async () => {
  const { tree, session } = await shop();
  tree.write("src/tax.ts", GROSS);
  await session.edit(false);
  rmSync(tree.store, { recursive: true });
  session.write();
  expect(await session.status()).toMatchObject({ state: "not_indexed" });
  expect(existsSync(tree.store)).toBe(false);
});
