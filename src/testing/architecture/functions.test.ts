/** How long functions are. */
import { expect, setDefaultTimeout, test } from "bun:test";
import ts from "typescript-api";
import { filesOf, textOf } from "./source-files.ts";

// Each long file is parsed: on a busy machine that takes longer than the usual bound.
setDefaultTimeout(300_000);

const MOST_LINES = 150;
/** Functions that are longer with the functions in them: what makes a service of closures. Where the number falls, lower it. */
const MOST_HOLDERS = 29;

interface Measured {
  name: string;
  lines: number;
  /** Without those of the functions in it. */
  own: number;
}

/** Functions of a text that have more lines than are allowed, those in them included. */
function longFunctions(file: string, text: string): Measured[] {
  const kind = file.endsWith("x") ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, false, kind);
  const lineOf = (at: number) => source.getLineAndCharacterOfPosition(at).line;
  const linesOf = (node: ts.Node) => lineOf(node.end) - lineOf(node.getStart(source)) + 1;
  const linesWithin = (node: ts.Node): number => {
    let lines = 0;
    ts.forEachChild(node, (child) => {
      lines += ts.isFunctionLike(child) ? linesOf(child) - 1 : linesWithin(child);
    });
    return lines;
  };
  const found: Measured[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && linesOf(node) > MOST_LINES) {
      const name = node.name?.getText(source) ?? "=>";
      const lines = linesOf(node);
      found.push({
        name: `${file}:${lineOf(node.getStart(source)) + 1} ${name}`,
        lines,
        own: lines - linesWithin(node),
      });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

test("a function's lines are counted with and without those of the functions in it", () => {
  const filler = "  work();\n".repeat(100);
  const text = `function outer() {\n${filler}  function inner() {\n${filler}  }\n}\nfunction short() {}\n`;
  expect(longFunctions("x.ts", text)).toEqual([{ name: "x.ts:1 outer", lines: 204, own: 103 }]);
});

test(`no function has more than ${MOST_LINES} lines of its own, and no more hold so many than did`, () => {
  const product = filesOf("**/*.{ts,tsx}").filter(
    (file) => !/^testing\/|\/fixtures\/|\.test\.tsx$|\.gen\.ts$/.test(file),
  );
  const found = product.flatMap((file) => {
    const text = textOf(file);
    return text.split("\n").length > MOST_LINES ? longFunctions(file, text) : [];
  });
  expect(found.filter(({ own }) => own > MOST_LINES)).toEqual([]);
  const holders = found.map(({ name, lines }) => `${name} ${lines}`);
  expect(holders.length <= MOST_HOLDERS ? [] : holders).toEqual([]);
});
