/**
 * Questions about files that change, answered from the existing index by real workers, whose looks at the files are
 * delayed.
 */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { skepCommand } from "../../testing/server.ts";
import { createSourceTree, SHOP } from "../../testing/source-tree.ts";
import { NOT_COMPARED, OLDER } from "../model.ts";
import { createGraphClient } from "./client.ts";
import { createFreshAnswers } from "./fresh-answers.ts";

setDefaultTimeout(300_000);
const left: (() => unknown)[] = [];
afterEach(async () => {
  for (const remove of left.splice(0).reverse()) await remove();
});

const BILL = 'import { withTax } from "./tax.ts";\nexport const bill = () => withTax(1);\n';
/** Longer than anything takes, even on a busy machine. */
const LONG = 120_000;

/** Holds up a look at the files, or an index, until the test opens it. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((done) => (open = done));
  return { open, opened };
}

function shop() {
  const tree = createSourceTree(SHOP);
  left.push(tree.remove);
  const client = createGraphClient({ command: skepCommand("graph-worker", join(tree.store, "addons")) });
  left.push(client.close);
  const place = { root: tree.root, gitDir: join(tree.root, ".git"), store: join(tree.store, "graph") };
  const calls: string[] = [];
  const gates = new Map<string, Promise<void>>();
  const held: Pick<typeof client, "project"> = {
    project(at) {
      const graph = client.project(at);
      const through = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
        calls.push(name);
        await gates.get(name);
        return work();
      };
      return {
        ...graph,
        status: () => through("status", graph.status),
        index: (options) => through("index", () => graph.index(options)),
      };
    },
  };
  const hold = (name: "status" | "index") => {
    const { open, opened } = gate();
    gates.set(name, opened);
    return open;
  };
  const answers = (patience: { compareMs: number; indexMs: number }) => {
    const fresh = createFreshAnswers(held, patience);
    return () => fresh.tool(place, "code_graph_context", { symbol_name: "withTax" });
  };
  return { place, calls, hold, answers };
}

test("a question does not wait for a look at the files: it answers from the index, and says so", async () => {
  const { place, hold, answers } = shop();
  const patient = answers({ compareMs: LONG, indexMs: LONG });
  expect(await patient()).toContain("Cart.total src/cart.ts:11 at line 12");
  writeFileSync(join(place.root, "src/bill.ts"), BILL);
  const open = hold("status");
  const said = await answers({ compareMs: 0, indexMs: 0 })();
  expect(said).toEndWith(`\n\n${NOT_COMPARED}`);
  expect(said).toContain("Cart.total src/cart.ts:11");
  expect(said).not.toContain("bill");
  open();
  expect(await patient()).toContain("bill src/bill.ts:2");
});

test("files that are known to have changed are indexed beside the question, once for all who ask", async () => {
  const { place, calls, hold, answers } = shop();
  const patient = answers({ compareMs: LONG, indexMs: LONG });
  await patient();
  writeFileSync(join(place.root, "src/bill.ts"), BILL);
  const open = hold("index");
  const hasty = answers({ compareMs: LONG, indexMs: 0 });
  expect(await hasty()).toEndWith(`\n\n${OLDER}`);
  calls.length = 0;
  // These calls wait together for the update that follows the running one.
  const asked = Promise.all([hasty(), hasty(), hasty()]);
  open();
  for (const said of await asked) expect(said).toContain("withTax");
  expect(calls).toEqual(["status"]);
  expect(await patient()).toContain("bill src/bill.ts:2");
});

test("where there is no index, or none that can be read, the question waits for one", async () => {
  const { place, answers } = shop();
  const hasty = answers({ compareMs: 0, indexMs: 0 });
  expect(await hasty()).toContain("Cart.total src/cart.ts:11");
  rmSync(place.store, { recursive: true });
  expect(await hasty()).toContain("Cart.total src/cart.ts:11");
  const snapshot = join(place.store, "g1/graph.bin");
  const bytes = readFileSync(snapshot);
  bytes.fill(7, bytes.length / 2);
  writeFileSync(snapshot, bytes);
  // Another process, because the first one has the graph in memory.
  const other = createGraphClient({ command: skepCommand("graph-worker", join(place.store, "../addons")) });
  left.push(other.close);
  const said = await createFreshAnswers(other).tool(place, "code_graph_context", { symbol_name: "withTax" });
  expect(said).toContain("Cart.total src/cart.ts:11");
});
