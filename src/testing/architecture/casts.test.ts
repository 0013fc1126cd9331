/** Casts (`value as Type`): where the product's own types end, and nowhere else. */
import { expect, test } from "bun:test";
import ts from "typescript-api";
import { filesOf, textOf } from "./source-files.ts";

/**
 * How many each part of the product may have, and what they are for. A new one is a reason to look for a better type
 * first: a schema, a guard (`isOneOf`, `isObject`), `membersOf` for what is foreign, `ownJson` for what we wrote,
 * `statement<Row>` for rows, `keysOf`, `pick` and their like, a form's `choice`. Where the number falls, lower it.
 */
const BORDERS: Record<string, [most: number, why: string]> = {
  adapter: [6, "libraries, engines and services whose types say less than they do"],
  app: [4, "features put together by name"],
  cli: [4, "answers of the API, which each command reads in its own way"],
  core: [7, "the helpers named above, and generic walks over JSON"],
  engine: [3, "what a schema has just checked"],
  feature: [14, "columns of JSON whose type depends on another column, and libraries of schemas"],
  graph: [27, "messages between processes, the parser's memory, the graph engine, numbers of rows"],
  http: [4, "schemas of any kind"],
  store: [12, "rows, archives and the C library's lock"],
  text: [7, "messages between processes, the PDF library"],
  web: [41, "the DOM, and answers that the description types too loosely"],
  "working-copy": [6, "functions of the C library"],
};

test("the command line reads answers by the API's own types", () => {
  const product = filesOf("cli/**/*.ts").filter((file) => !file.endsWith(".test.ts"));
  expect(product.flatMap((file) => anysIn(file).map((line) => `${file}:${line}`))).toEqual([]);
});

/** Lines of a file that say `any`. */
const anysIn = (file: string): number[] => linesIn(file, /\bany\b/, (node) => node.kind === ts.SyntaxKind.AnyKeyword);
/** Lines of a file's casts, `as const` left out. */
const castsIn = (file: string): number[] =>
  linesIn(file, /\bas\b/, (node) => ts.isAsExpression(node) && !ts.isConstTypeReference(node.type));

/** Lines of the nodes that are meant. @param word what a file without them need not have: such a file is not parsed. */
function linesIn(file: string, word: RegExp, isMeant: (node: ts.Node) => boolean): number[] {
  const text = textOf(file);
  if (!word.test(text)) return [];
  const kind = file.endsWith("x") ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, false, kind);
  const found: number[] = [];
  const visit = (node: ts.Node): void => {
    if (isMeant(node)) found.push(source.getLineAndCharacterOfPosition(node.end).line + 1);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

test("no part has more casts than it had", () => {
  const product = filesOf("**/*.{ts,tsx}").filter(
    (file) => !/^testing\/|\/fixtures\/|\.test\.tsx$|\.gen\.ts$/.test(file),
  );
  const places = new Map<string, string[]>();
  for (const file of product) {
    const part = file.split("/")[0]!;
    for (const line of castsIn(file)) places.set(part, [...(places.get(part) ?? []), `${file}:${line}`]);
  }
  const over = [...places].flatMap(([part, found]) => {
    const [most] = BORDERS[part] ?? [0];
    return found.length <= most ? [] : [`${part}: ${found.length} casts, at most ${most}: ${found.join(" ")}`];
  });
  expect(over).toEqual([]);
  // Each file is parsed: on a busy machine that takes longer than the usual bound.
}, 300_000);

/**
 * How often the graph says that an element is there (`rows[i]!`), which the compiler cannot know of columns. `symbolAt`,
 * `pathOf` and their like say it once for all. Where the number falls, lower it.
 */
const MOST_ASSERTED = 930;

test("the graph asserts no more often than it did that an element is there", () => {
  const product = filesOf("graph/**/*.ts").filter((file) => !/\/fixtures\//.test(file));
  const found = product.flatMap((file) => linesIn(file, /!/, ts.isNonNullExpression));
  expect(found.length).toBeLessThanOrEqual(MOST_ASSERTED);
});

test("no literal is spread into another one: its members stand in it", () => {
  const spread = (node: ts.Node) => {
    if (!ts.isSpreadAssignment(node) && !ts.isSpreadElement(node) && !ts.isJsxSpreadAttribute(node)) return false;
    return ts.isObjectLiteralExpression(node.expression) || ts.isArrayLiteralExpression(node.expression);
  };
  const places = filesOf("**/*.{ts,tsx}")
    .filter((file) => !/\/fixtures\/|\.gen\.ts$/.test(file))
    .flatMap((file) => linesIn(file, /\.\.\.[{[]/, spread).map((line) => `${file}:${line}`));
  expect(places).toEqual([]);
});
