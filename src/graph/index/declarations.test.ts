/** In every answer, JavaScript and a declaration file beside it are one module. */
import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createSourceTree, type SourceTree } from "../../testing/source-tree.ts";
import { createGraphSession, type GraphSession } from "../serve/session.ts";
import { toolText } from "../serve/tool-calls.ts";

setDefaultTimeout(300_000);

const FILES = {
  "kit.d.ts":
    "export interface Options { loud: boolean }\n/** Makes a kit. */\nexport function makeKit(name: string): Kit;\nexport function makeKit(name: string, options: Options): Kit;\nexport class Kit { play(): void; }\n",
  "kit.js":
    'const { tune } = require("./tune")\nclass Kit {\n  play () {\n    return tune(this)\n  }\n  hidden () {}\n}\nfunction makeKit (name, options) {\n  tune(name)\n  return new Kit()\n}\nmodule.exports = { makeKit, Kit }\n',
  "tune.js": "function tune (x) { return x }\nmodule.exports = { tune }\n",
  "use.ts":
    "import { makeKit } from './kit.js';\nexport function main() {\n  const kit = makeKit('a');\n  kit.play();\n}\n",
};

let tree: SourceTree;
let session: GraphSession;
async function open(files: Readonly<Record<string, string>> = FILES): Promise<void> {
  tree = createSourceTree(files);
  session = createGraphSession({ root: tree.root, store: tree.store });
  await session.index({ force: false });
}
afterEach(() => {
  session.close();
  tree.remove();
});

function contextOf(name: string, filePath?: string) {
  const found = session.context(name, filePath);
  if (found.found !== "one") throw new Error(`${name}: ${found.found}`);
  return found.context;
}
const names = (list: readonly { qualified_name: string }[]) => list.map(({ qualified_name }) => qualified_name);

describe("JavaScript with declarations beside it", () => {
  test("a function is one node: the declaration's types, the implementation's body and calls", async () => {
    await open();
    const { symbol, callers, callees, code } = contextOf("makeKit");
    expect(symbol).toMatchObject({
      id: "Function:kit.d.ts#makeKit",
      signature: expect.stringContaining("name: string"),
      doc: "Makes a kit",
      implementation: { file_path: "kit.js", start_line: 8, end_line: 11 },
    });
    expect(code).toContain("return new Kit()");
    expect(names(callers)).toEqual(["main"]);
    expect(names(callees).sort()).toEqual(["Kit", "tune"]);
    expect(contextOf("makeKit", "kit.js").symbol.id).toBe(symbol.id);
    expect(contextOf("Function:kit.js#makeKit").symbol.id).toBe(symbol.id);
  });

  test("a class has the members of both; an undeclared one stays where it is written", async () => {
    await open();
    expect(names(contextOf("Kit").members)).toEqual(["Kit.play", "Kit.hidden"]);
    expect(contextOf("Kit.play").symbol).toMatchObject({ file_path: "kit.d.ts", implementation: { start_line: 3 } });
    expect(contextOf("Kit.hidden").symbol).toMatchObject({ file_path: "kit.js" });
  });

  test("impact, paths and Cypher go through it", async () => {
    await open();
    const found = session.impact({ target: "tune", direction: "upstream", maxDepth: 3, minConfidence: 0 });
    expect(found.found === "one" && found.impact.depths.map(({ symbols }) => names(symbols).sort())).toEqual([
      ["Kit.play", "makeKit", "tune.js"],
      ["kit.js", "main"],
    ]);
    const { rows } = await session.cypher(
      "MATCH (a)-[:CALLS]->(b)-[:CALLS]->(c {name: 'tune'}) WHERE a.name = 'main' RETURN b.id ORDER BY b.id",
      {},
      10,
    );
    expect(rows.flat()).toEqual(["Function:kit.d.ts#makeKit", "Method:kit.d.ts#Kit.play"]);
  });

  test("what only the declarations name is not dead code", async () => {
    await open({ ...FILES, "tune.js": `${FILES["tune.js"]}function idle () {}\n` });
    const found = session.ask({ question: "dead_code", limit: 50 });
    const dead = found.found === "one" ? found.answer.groups.flatMap(({ entries }) => entries) : [];
    expect(names(dead.map(({ symbol }) => symbol))).toEqual(["idle"]);
  });

  test("a tool's text leads to the body, where the lines of its calls are", async () => {
    await open();
    const text = await toolText(session, "code_graph_context", { symbol_name: "tune" });
    expect(text).toContain("makeKit kit.js:8 (declared kit.d.ts:3) at line 9");
  });

  test("an edit of either file gives what a whole index gives", async () => {
    await open();
    const edits = [
      { "kit.d.ts": FILES["kit.d.ts"].replace("export class Kit { play(): void; }", "export type Kit = any;") },
      { "kit.d.ts": `${FILES["kit.d.ts"]}export function tuneAll(): void;\n` },
      { "kit.js": FILES["kit.js"].replace("tune(name)", "this") },
      { "use.ts": "import { makeKit } from './kit.js';\nexport const other = () => makeKit('b');\n" },
    ];
    for (const edit of edits) {
      for (const [path, text] of Object.entries(edit)) tree.write(path, text);
      await session.index({ force: false });
      const step = [...exportLines(session)];
      await session.index({ force: true });
      expect(step).toEqual([...exportLines(session)]);
    }
  });
});

function* exportLines(from: GraphSession): Generator<string> {
  const graph = from.graph();
  const lines: string[] = [];
  for (let row = 0; row < graph.nodeCount; row++) lines.push(JSON.stringify(graph.node(row)));
  for (let edge = 0; edge < graph.edgeCount; edge++) lines.push(JSON.stringify(graph.edge(edge)));
  yield* lines.sort();
}
