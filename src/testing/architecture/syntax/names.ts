/**
 * Functions must be named by a verb. A past participle describes a result, so it is a name for values: as a function's
 * name it hides whether anything happens.
 */
import { expect, test } from "bun:test";
import ts from "typescript-api";
import { filesOf, parse } from "../source-files.ts";

/** Irregular past participles that somebody might use as a name. */
const IRREGULAR =
  "begun|bound|broken|built|chosen|done|drawn|driven|found|frozen|given|gone|grown|heard|held|hidden|kept|known|led|left|lost|made|met|paid|said|seen|sent|shown|spent|spoken|stolen|taken|thrown|told|unmet|withheld|won|written";
const PARTICIPLE = new RegExp(`^(?:[a-z]+ed|${IRREGULAR})$`);
const ALLOWED = new Set(
  [
    "embed exceed feed need proceed seed speed succeed",
    // Names of HTTP statuses, and of an operation of the graph.
    "accepted created unauthorized related",
    // Names that libraries prescribe.
    "onsessionclosed onsessioninitialized required",
  ].flatMap((words) => words.split(" ")),
);

const isFunction = (node: ts.Node | undefined): boolean =>
  node !== undefined && (ts.isArrowFunction(node) || ts.isFunctionExpression(node) || ts.isFunctionTypeNode(node));

/** The name under which a node declares a function, method, or member or parameter that holds a function. */
function functionName(node: ts.Node): ts.Node | undefined {
  if (ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node) || ts.isMethodSignature(node)) return node.name;
  if (ts.isVariableDeclaration(node) || ts.isPropertyAssignment(node))
    return isFunction(node.initializer) ? node.name : undefined;
  if (ts.isPropertySignature(node) || ts.isParameter(node)) return isFunction(node.type) ? node.name : undefined;
  return undefined;
}

/** The functions of a file whose name is only a past participle. */
function misnamedIn(file: string, text?: string): string[] {
  const source = parse(file, text);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    const name = functionName(node);
    const word = name?.getText(source) ?? "";
    if (name && PARTICIPLE.test(word) && !ALLOWED.has(word))
      found.push(`${file}:${source.getLineAndCharacterOfPosition(name.getStart(source)).line + 1} ${word}`);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

test("functions whose name is a past participle are found; values, verbs and longer names are left alone", () => {
  const text = `
    async function opened() {}
    const kept = (row: string): void => {};
    function shortened(text: string, done: () => void): string { return text; }
    interface Deps { asked(): void; sent: () => void; used: number }
    const deps = { asked() {}, sent: () => {}, used: 1 };
    async function openedFile() {}
    const feed = async () => {};
    const taken = new Set<string>();`;
  const words = ["2 opened", "3 kept", "4 shortened", "4 done", "5 asked", "5 sent", "6 asked", "6 sent"];
  expect(misnamedIn("x.ts", text)).toEqual(words.map((word) => `x.ts:${word}`));
});

test("a function is named by a verb", () => {
  const files = filesOf("**/*.{ts,tsx}").filter((file) => !/\/fixtures\/|\.gen\.ts$/.test(file));
  expect(files.flatMap((file) => misnamedIn(file))).toEqual([]);
});
