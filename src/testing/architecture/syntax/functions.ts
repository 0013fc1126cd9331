/** Limits the length of functions, including the functions inside them. */
import { expect, test } from "bun:test";
import ts from "typescript-api";
import { filesOf, parse, textOf } from "../source-files.ts";

const MOST_LINES = 150;

/** The functions of a file that have more lines than allowed. */
function longFunctions(file: string, text?: string): string[] {
  const source = parse(file, text);
  const lineOf = (at: number) => source.getLineAndCharacterOfPosition(at).line;
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node)) {
      const first = lineOf(node.getStart(source));
      const lines = lineOf(node.end) - first + 1;
      if (lines > MOST_LINES)
        found.push(`${file}:${first + 1} ${node.name?.getText(source) ?? "=>"} has ${lines} lines`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

test("the lines of a function are counted with those of the functions in it", () => {
  const filler = "  work();\n".repeat(100);
  const text = `function outer() {\n${filler}  function inner() {\n${filler}  }\n}\nfunction short() {}\n`;
  expect(longFunctions("x.ts", text)).toEqual(["x.ts:1 outer has 204 lines"]);
});

test(`no function has more than ${MOST_LINES} lines`, () => {
  const product = filesOf("**/*.{ts,tsx}").filter(
    (file) => !/^testing\/|\/fixtures\/|\.test\.tsx$|\.gen\.ts$/.test(file),
  );
  const long = product.filter((file) => textOf(file).split("\n").length > MOST_LINES);
  expect(long.flatMap((file) => longFunctions(file))).toEqual([]);
});
