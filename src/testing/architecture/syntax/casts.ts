/**
 * Counts casts (`value as Type`), non-null assertions (`value!`) and `any`, where the compiler checks nothing. They are
 * meant only for the borders of the product, where its own types end.
 */
import { expect, test } from "bun:test";
import ts from "typescript-api";
import { filesOf, parse } from "../source-files.ts";

/**
 * How many casts each part of the product may have, and what for. Before adding one, look for a better type: a schema,
 * a guard (`isOneOf`, `isObject`), `membersOf` for foreign data, `ownJson` for data that we wrote, `statement<Row>` for
 * rows, `keysOf`, `pick` and the like, a form's `choice`. If the number falls, lower the limit.
 */
const CASTS: Record<string, [most: number, why: string]> = {
  adapter: [6, "libraries, engines and services whose types say less than they do"],
  app: [4, "features put together by name"],
  cli: [4, "answers of the API, which each command reads in its own way"],
  core: [7, "the helpers named above, and generic walks over JSON"],
  engine: [3, "what a schema has just checked"],
  feature: [14, "columns of JSON whose type depends on another column, and libraries of schemas"],
  graph: [25, "messages between processes, the parser's memory, the graph engine, numbers of rows"],
  http: [4, "schemas of any kind"],
  store: [12, "rows, archives and the C library's lock"],
  text: [7, "messages between processes, the PDF library"],
  web: [41, "the DOM, and answers that the description types too loosely"],
  "working-copy": [6, "functions of the C library"],
};

/**
 * How often each part asserts that an element exists (`rows[i]!`), which the compiler cannot know of lists and columns.
 * Helpers such as `symbolAt` and `pathOf` assert it once for all callers. Before adding one, look for `at`, a default
 * or a guard. If the number falls, lower the limit.
 */
const ASSERTIONS: Record<string, number> = {
  adapter: 42,
  cli: 64,
  core: 19,
  engine: 24,
  feature: 206,
  graph: 765,
  http: 3,
  store: 20,
  text: 15,
  web: 120,
  "working-copy": 13,
};

type Kind = "any" | "assertion" | "cast" | "spread";

/** Which of these a node is, if any. `as const` is no cast. */
function kindOf(node: ts.Node): Kind | undefined {
  if (node.kind === ts.SyntaxKind.AnyKeyword) return "any";
  if (ts.isNonNullExpression(node)) return "assertion";
  if (ts.isAsExpression(node)) return ts.isConstTypeReference(node.type) ? undefined : "cast";
  if (!ts.isSpreadAssignment(node) && !ts.isSpreadElement(node) && !ts.isJsxSpreadAttribute(node)) return undefined;
  const isLiteral = ts.isObjectLiteralExpression(node.expression) || ts.isArrayLiteralExpression(node.expression);
  return isLiteral ? "spread" : undefined;
}

interface Place {
  kind: Kind;
  part: string;
  at: string;
}

function placesIn(file: string): Place[] {
  const source = parse(file);
  const part = file.split("/")[0] ?? "";
  const found: Place[] = [];
  const visit = (node: ts.Node): void => {
    const kind = kindOf(node);
    if (kind) found.push({ kind, part, at: `${file}:${source.getLineAndCharacterOfPosition(node.end).line + 1}` });
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** All such places in all files, including those that only tests use. */
const places = filesOf("**/*.{ts,tsx}")
  .filter((file) => !/\/fixtures\/|\.gen\.ts$/.test(file))
  .flatMap(placesIn);
const ofProduct = (kind: Kind): Place[] =>
  places.filter((place) => place.kind === kind && place.part !== "testing" && !/\.test\.tsx:/.test(place.at));

/** Describes the parts that have more places than allowed. */
function over(found: readonly Place[], mostOf: (part: string) => number): string[] {
  const parts = Map.groupBy(found, ({ part }) => part);
  return [...parts].flatMap(([part, own]) => {
    const most = mostOf(part);
    if (own.length <= most) return [];
    return [`${part}: ${own.length}, at most ${most}: ${own.map(({ at }) => at).join(" ")}`];
  });
}

test("nothing in the product is `any`", () => {
  expect(ofProduct("any").map(({ at }) => at)).toEqual([]);
});

test("no part has more casts than it had", () => {
  expect(over(ofProduct("cast"), (part) => CASTS[part]?.[0] ?? 0)).toEqual([]);
});

test("no part asserts more often than it did that something is there", () => {
  expect(over(ofProduct("assertion"), (part) => ASSERTIONS[part] ?? 0)).toEqual([]);
});

test("no literal is spread into another one: its members stand in it", () => {
  expect(places.filter(({ kind }) => kind === "spread").map(({ at }) => at)).toEqual([]);
});
