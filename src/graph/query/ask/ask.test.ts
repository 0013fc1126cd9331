/**
 * Questions of agents about the code as a whole, asked through a session, as the API, the command line and the tools
 * do.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expectWork, processorMs } from "../../../testing/busy-machine.ts";
import { createSourceTree, type SourceTree } from "../../../testing/source-tree.ts";
import { createGraphSession, type GraphSession } from "../../serve/session.ts";
import { toolText } from "../../serve/tool-calls.ts";
import type { AskOptions, AskResult } from "./ask.ts";

setDefaultTimeout(300_000);

const FILES = {
  "src/server.ts":
    'import { route } from "./route.ts";\nimport { limit } from "./settings.ts";\nexport function handleRequest(path: string) {\n  limit();\n  return route(path);\n}\n',
  "src/route.ts":
    'import { sendOver } from "./transport.ts";\nexport function route(path: string) {\n  sendOver(path);\n  return sendOver(path + "/");\n}\n',
  "src/transport.ts":
    'import type { route } from "./route.ts";\nexport type Route = typeof route;\nexport function sendOver(path: string) { return path; }\n',
  "src/settings.ts":
    'export function limit() {\n  return Number(process.env.MAX_PARCELS ?? 3);\n}\nexport function named() {\n  return process.env["MAX_PARCELS"];\n}\nfunction forgotten() { return 1; }\n',
  "src/schema.ts":
    'export const schema = {\n  MAX_PARCELS: "number",\n};\nexport function takeOut() {\n  const { MAX_PARCELS, HOST } = process.env;\n  process.env.MAX_PARCELS = "4";\n  return MAX_PARCELS + HOST;\n}\nexport const path = (config: { cacheSize: number }) => config.cacheSize + "app.cache-size";\n',
  "deploy/app.env": "# MAX_PARCELS is a number\nexport MAX_PARCELS=31\n",
  "deploy/compose.yaml":
    "services:\n  app:\n    environment:\n      MAX_PARCELS: \u0024{MAX_PARCELS:-3}\n      - HOST=$MAX_PARCELS\n",
  "deploy/settings.json": '{ "app": { "app.cache-size": 3 } }\n',
  "package-lock.json": '{ "app.cache-size": 3 }\n',
  "src/loose.ts":
    "export class Left { flyAway() {} }\nexport class Right { flyAway() {} }\nexport function both(bird: any, other: unknown) {\n  bird.flyAway();\n}\n",
  "test/server.test.ts":
    'import { handleRequest } from "../src/server.ts";\nexport function testServer() { handleRequest("/"); }\n',
  "test/transport.test.ts":
    'import { sendOver } from "../src/transport.ts";\nexport function testTransport() { sendOver("request transport"); }\n',
};

let tree: SourceTree;
let session: GraphSession;
beforeAll(async () => {
  tree = createSourceTree(FILES);
  session = createGraphSession({ root: tree.root, store: tree.store });
  await session.index({ force: false });
});
afterAll(() => {
  session.close();
  tree.remove();
});

function ask(options: Omit<AskOptions, "limit">): AskResult {
  const found = session.ask({ limit: 50, ...options });
  if (found.found !== "one") throw new Error(found.found);
  return found.answer;
}
const listNames = (answer: AskResult, group = 0) =>
  answer.groups[group]?.entries.map(({ symbol }) => symbol.name) ?? [];

describe("a question about the code as a whole", () => {
  test("path: the shortest way between two symbols, with lines; backwards where only that leads", () => {
    const there = ask({ question: "path", subject: "handleRequest", to: "sendOver" });
    expect(listNames(there)).toEqual(["handleRequest", "route", "sendOver"]);
    expect(there.groups[0]!.entries.map(({ line }) => line)).toEqual([undefined, 5, 3]);
    const back = ask({ question: "path", subject: "sendOver", to: "handleRequest" });
    expect(back.summary).toContain("one leads back");
    expect(listNames(back)).toEqual(["handleRequest", "route", "sendOver"]);
    expect(ask({ question: "path", subject: "forgotten", to: "route" }).groups).toEqual([]);
  });

  test("path: a graph of many layers that all call each other is searched once a node", async () => {
    const layers = 12;
    const width = 12;
    const source = Array.from({ length: layers }, (_, layer) =>
      Array.from({ length: width }, (_, i) => {
        const calls =
          layer + 1 < layers ? Array.from({ length: width }, (_, j) => `f${layer + 1}_${j}();`).join(" ") : "";
        return `export function f${layer}_${i}() { ${calls} }`;
      }).join("\n"),
    ).join("\n");
    const wide = createSourceTree({ "wide.ts": source }, { git: false });
    const other = createGraphSession({ root: wide.root, store: wide.store });
    await other.index({ force: false });
    const before = processorMs();
    const found = other.ask({ question: "path", subject: "f0_0", to: `f${layers - 1}_0`, limit: 50 });
    const spent = processorMs() - before;
    expect(found.found === "one" && found.answer.groups[0]!.entries.length).toBe(layers);
    expectWork("the search", spent, 200);
    other.close();
    wide.remove();
  });

  test("tests: those that reach a symbol, apart from the product code that calls it", () => {
    const answer = ask({ question: "tests", subject: "sendOver" });
    expect(listNames(answer, 0)).toEqual(["testTransport", "testServer"]);
    expect(answer.groups[0]!.entries.map(({ depth }) => depth)).toEqual([1, 3]);
    expect(listNames(answer, 1)).toEqual(["route"]);
  });

  test("tests: through what helps tests, and no example, though it stands apart from product code too", async () => {
    const helped = createSourceTree(
      {
        "src/price.ts": "export function price() { return 1; }\n",
        "examples/shop/show.ts": 'import { price } from "../../src/price.ts";\nexport function show() { price(); }\n',
        "examples/shop/test/show.test.ts":
          'import { show } from "../show.ts";\nexport function testShow() { show(); }\n',
        "test/helper.ts": 'import { price } from "../src/price.ts";\nexport function cart() { return price(); }\n',
        "test/cart.test.ts":
          'import { cart } from "./helper.ts";\nexport function testCart(again = false) { cart(); if (again) testCart(); }\n',
      },
      { git: false },
    );
    const other = createGraphSession({ root: helped.root, store: helped.store });
    await other.index({ force: false });
    const found = other.ask({ question: "tests", subject: "price", limit: 50 });
    expect(found.found === "one" && found.answer.groups.map(({ title }) => title)).toEqual(["tests"]);
    expect(found.found === "one" && listNames(found.answer).toSorted()).toEqual(["testCart", "testShow"]);
    other.close();
    helped.remove();
  });

  test("dead_code: what nothing mentions", () => {
    const answer = ask({ question: "dead_code", path: "src" });
    expect(answer.groups[0]).toMatchObject({ title: "nothing mentions them", total: 1 });
    expect(listNames(answer)).toEqual(["forgotten"]);
    expect(answer.groups.flatMap(({ entries }) => entries.map(({ symbol }) => symbol.name))).not.toContain("route");
  });

  test("cycles: files that import each other, as a circle of imports", () => {
    const answer = ask({ question: "cycles" });
    expect(answer.groups.length).toBe(1);
    const files = answer.groups[0]!.entries.map(({ symbol }) => symbol.qualified_name);
    expect(files).toEqual(["src/route.ts", "src/transport.ts", "src/route.ts"]);
    expect(ask({ question: "cycles", path: "test" }).groups).toEqual([]);
  });

  test("reads: every place that reads an environment variable, by member or in quotes", () => {
    const places = (subject: string) =>
      ask({ question: "reads", subject }).groups.map(({ title, entries }) => [
        title,
        ...entries.map(({ symbol, line }) => `${symbol.name}:${line}`),
      ]);
    expect(places("MAX_PARCELS")).toEqual([
      ["read in", "takeOut:5", "limit:2", "named:5", "compose.yaml:5"],
      ["set or declared in", "schema:2", "takeOut:6", "app.env:2", "compose.yaml:4"],
    ]);
    expect(places("HOST")).toEqual([
      ["read in", "takeOut:5"],
      ["set or declared in", "compose.yaml:5"],
    ]);
    expect(places("cacheSize")).toEqual([["read in", "path:9"]]);
    expect(places("app.cache-size")).toEqual([
      ["read in", "path:9"],
      ["set or declared in", "settings.json:1"],
    ]);
    expect(ask({ question: "reads", subject: "NO_SUCH" }).groups).toEqual([]);
    expect(() => ask({ question: "reads", subject: "who reads it" })).toThrow("begins with a letter");
  });

  test("reads: a value of a file of variables is not shown", async () => {
    const text = await toolText(session, "code_graph_ask", { question: "reads", subject: "MAX_PARCELS" });
    expect(text).toContain("deploy/app.env at line 2 MAX_PARCELS=…");
    expect(text).not.toContain("31");
  });

  test("reads: the answer follows edits of configuration files and of sources, and a damaged index is made again", async () => {
    const other = createSourceTree({ "a.ts": 'export const a = process.env["HARBOUR"];\n' });
    const own = createGraphSession({ root: other.root, store: other.store });
    const count = () => {
      const found = own.ask({ question: "reads", subject: "HARBOUR", limit: 50 });
      return found.found === "one" ? found.answer.groups.map(({ total }) => total) : [];
    };
    await own.index({ force: false });
    expect(count()).toEqual([1]);
    other.write("conf/app.toml", "HARBOUR = 1\n");
    other.write("b.ts", "export const b = process.env.HARBOUR;\n");
    await own.index({ force: false });
    expect(count()).toEqual([2, 1]);
    other.write("conf/app.toml", "OTHER = 1\n");
    expect(count()).toEqual([2]);
    const [folder] = readdirSync(other.store).filter((name) => /^g\d+$/.test(name));
    writeFileSync(join(other.store, folder!, "keys.bin"), "broken");
    expect(count).toThrow("index again");
    await own.index({ force: false });
    expect(count()).toEqual([2]);
    own.close();
    other.remove();
  });

  test("flow: the chain of calls that a question in words is about, product before tests", () => {
    const answer = ask({ question: "flow", subject: "how does a request get to the transport?" });
    expect(listNames(answer)).toEqual(["handleRequest", "route", "sendOver"]);
    const { items } = session.query({
      query: "how does a request get to the transport?",
      limit: 3,
      includeCode: false,
    });
    expect(items.map(({ symbol }) => symbol.file_path).filter((path) => path.startsWith("test/"))).toEqual([]);
  });

  test("a caller with two call sites shows both lines", () => {
    const context = session.context("sendOver");
    const caller = context.found === "one" ? context.context.callers.find(({ name }) => name === "route") : undefined;
    expect(caller?.lines).toEqual([3, 4]);
  });

  test("impact says which unresolved calls of the name may be calls of the target", () => {
    const found = session.impact({ target: "Left.flyAway", direction: "upstream", maxDepth: 3, minConfidence: 0 });
    const { hidden, total } = found.found === "one" ? found.impact : { hidden: undefined, total: -1 };
    expect(total).toBe(0);
    expect(hidden?.symbols.map(({ name, line }) => `${name}:${line}`)).toEqual(["both:4"]);
  });

  test("a property that Cypher does not know is an error, not an empty answer", async () => {
    const tryCypher = (query: string) => session.cypher(query, {}, 5).then(() => "answered", String);
    expect(await tryCypher("MATCH (n:Function) WHERE n.nmae = 'route' RETURN n.id")).toContain(
      "Cannot find property nmae",
    );
    expect(await tryCypher("MATCH (n:Function)-[c:CALLS]->(m) RETURN c.lien")).toContain("Cannot find property lien");
    expect(await tryCypher("MATCH (n {nmae: 'x'}) RETURN n.id")).toContain("Cannot find property nmae");
    expect(await tryCypher("MATCH (a)-[c:MAY_CALL]->(b) RETURN c.line")).toBe("answered");
  });

  test("near names are near", () => {
    const near = (text: string) => {
      const found = session.context(text);
      return found.found === "none" ? found.near : undefined;
    };
    expect(near("handleReqeust")).toEqual(["handleRequest"]);
    expect(near("sendOvr")).toEqual(["sendOver"]);
    expect(near("Left.flyAwya")).toEqual(["flyAway"]);
    expect(near("zzz")).toEqual([]);
    expect(near("e")).toEqual([]);
  });

  test("as a tool each answer is short text; what is missing or wrong is said", async () => {
    const tool = (args: Record<string, unknown>) => toolText(session, "code_graph_ask", args);
    expect(await tool({ question: "path", subject: "handleRequest", to: "sendOver" })).toContain(
      "route src/route.ts:2 CALLS at line 5",
    );
    for (const question of ["dead_code", "cycles"]) expect((await tool({ question })).length).toBeLessThan(4_000);
    expect(await tool({ question: "tests", subject: "handleReqest" })).toContain("near names: handleRequest");
    expect(tool({ question: "path", subject: "route" })).rejects.toThrow("needs to");
    expect(tool({ question: "riddle" })).rejects.toThrow("Question must be one of path, tests");
  });
});
