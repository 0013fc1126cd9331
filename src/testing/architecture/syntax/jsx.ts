/** Limits how deeply the dashboard's markup is nested. Deeper parts should become components of their own. */
import { expect, test } from "bun:test";
import ts from "typescript-api";
import { filesOf, parse } from "../source-files.ts";

/** Most elements within each other. */
const MOST = 8;

/** The depth and line of the most deeply nested element in a file. */
function deepestIn(file: string): { depth: number; line: number } {
  const source = parse(file);
  const deepest = { depth: 0, line: 0 };
  const visit = (node: ts.Node, above: number): void => {
    const isElement = ts.isJsxElement(node) || ts.isJsxSelfClosingElement(node) || ts.isJsxFragment(node);
    const depth = isElement ? above + 1 : above;
    if (depth > deepest.depth)
      Object.assign(deepest, { depth, line: source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1 });
    ts.forEachChild(node, (child) => visit(child, depth));
  };
  visit(source, 0);
  return deepest;
}

test("no element is deeper than eight", () => {
  const deep = filesOf("web/**/*.tsx")
    .map((file) => ({ file, ...deepestIn(file) }))
    .filter(({ depth }) => depth > MOST)
    .map(({ file, depth, line }) => `${file}:${line} is ${depth} deep`);
  expect(deep).toEqual([]);
});
