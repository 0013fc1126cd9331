/**
 * Functions that act must be named by a verb. A past participle, which describes the result, is not allowed as a name.
 */
import { expect, test } from "bun:test";
import ts from "typescript-api";
import { filesOf, parse } from "../source-files.ts";

/** Irregular past participles that somebody might use as a name. */
const IRREGULAR =
  "begun|bound|broken|built|chosen|drawn|driven|found|frozen|given|gone|grown|heard|held|hidden|kept|known|led|left|lost|made|met|paid|said|seen|sent|shown|spent|spoken|stolen|taken|thrown|told|unmet|withheld|won|written";
const PARTICIPLE = new RegExp(`^(?:[a-z]+ed|${IRREGULAR})$`);
const VERBS = new Set(["embed", "exceed", "feed", "need", "proceed", "seed", "speed"]);

/** Whether a function is async or returns nothing. Such functions are called for their effect, not for their result. */
function acts(node: ts.SignatureDeclaration, source: ts.SourceFile): boolean {
  const isAsync = ts.getCombinedModifierFlags(node) & ts.ModifierFlags.Async;
  return Boolean(isAsync) || /^(?:void$|Promise<|AsyncGenerator<)/.test(node.type?.getText(source) ?? "");
}

/** The functions of a file that act but whose name is only a past participle. */
function misnamedIn(file: string, text?: string): string[] {
  const source = parse(file, text);
  const found: string[] = [];
  const look = (name: ts.Node, node: ts.SignatureDeclaration): void => {
    const word = name.getText(source);
    if (!PARTICIPLE.test(word) || VERBS.has(word) || !acts(node, source)) return;
    found.push(`${file}:${source.getLineAndCharacterOfPosition(name.getStart(source)).line + 1} ${word}`);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionDeclaration(node) && node.name) look(node.name, node);
    const made = ts.isVariableDeclaration(node) ? node.initializer : undefined;
    if (made && (ts.isArrowFunction(made) || ts.isFunctionExpression(made)) && ts.isVariableDeclaration(node))
      look(node.name, made);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

test("functions that act are found by their names; those that answer, values and verbs are left alone", () => {
  const text = `
    async function opened() {}
    const kept = (row: string): void => {};
    function written(): Promise<void> { return Promise.resolve(); }
    function shortened(text: string): string { return text; }
    async function openedFile() {}
    const feed = async () => {};
    const taken = new Set<string>();`;
  expect(misnamedIn("x.ts", text)).toEqual(["x.ts:2 opened", "x.ts:3 kept", "x.ts:4 written"]);
});

test("a function that acts is named by a verb", () => {
  const product = filesOf("**/*.{ts,tsx}").filter(
    (file) => !/^testing\/|\/fixtures\/|\.test\.tsx$|\.gen\.ts$/.test(file),
  );
  expect(product.flatMap((file) => misnamedIn(file))).toEqual([]);
});
