/**
 * Casts (`value as Type`), assertions that something is there (`value!`) and `any`: there the compiler checks nothing. The
 * product's own types end at its borders, and nowhere else.
 */
import { expect, test } from "bun:test";
import ts from "typescript-api";
import { filesOf, parse } from "../source-files.ts";

/**
 * How many casts each part of the product may have, and what they are for. A new one is a reason to look for a better type
 * first: a schema, a guard (`isOneOf`, `isObject`), `membersOf` for what is foreign, `ownJson` for what we wrote,
 * `statement<Row>` for rows, `keysOf`, `pick` and their like, a form's `choice`. Where the number falls, lower it.
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
 * How often each part says that an element is there (`rows[i]!`), which the compiler cannot know of lists and columns.
 * `symbolAt`, `pathOf` and their like say it once for all; a new one is a reason to look for `at`, a default or a guard
 * first. Where the number falls, lower it.
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

/** What a node is of these, if anything. `as const` is no cast. */
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

/** Every place of every file, those that tests are built of too. */
const places = filesOf("**/*.{ts,tsx}")
  .filter((file) => !/\/fixtures\/|\.gen\.ts$/.test(file))
  .flatMap(placesIn);
const ofProduct = (kind: Kind): Place[] =>
  places.filter((place) => place.kind === kind && place.part !== "testing" && !/\.test\.tsx:/.test(place.at));

/** Parts with more places than they may have. */
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
