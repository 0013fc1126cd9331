/**
 * Finds `this` in object literals. A method loses its `this` when it is passed on as a function, and this fails only at
 * the call.
 */
import { expect, test } from "bun:test";
import { Glob } from "bun";
import ts from "typescript-api";
import { parse, SRC, textOf } from "../source-files.ts";

/** Lines with `this` outside of a class and of functions that declare the type of their `this`. */
function looseThis(file: string, text?: string): number[] {
  const source = parse(file, text);
  const found: number[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isClassLike(node)) return;
    if (ts.isFunctionLike(node) && node.parameters.some(({ name }) => name.getText(source) === "this")) return;
    if (node.kind === ts.SyntaxKind.ThisKeyword) found.push(source.getLineAndCharacterOfPosition(node.pos).line + 1);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

test("`this` is found in an object's methods, and left alone in classes, comments and texts", () => {
  const text = `
    const loose = { a() {}, b() { this.a(); }, c: () => ({ d() { return [1].map(() => this); } }) };
    class Bound { a = 1; b() { return { c: () => this.a }; } }
    function declared(this: Date) { return this.getTime(); }
    // this
    const text = "this.a()";`;
  expect(looseThis("x.ts", text)).toEqual([2, 2]);
});

test("no object's method uses `this`: what is passed on as a function works as it did in its object", () => {
  const files = [...new Glob("**/*.{ts,tsx}").scanSync(SRC)].filter((file) => !file.includes("/fixtures/")).sort();
  const saying = files.filter((file) => /\bthis\s*[.?[\]),;}]/.test(textOf(file)));
  expect(saying.flatMap((file) => looseThis(file).map((line) => `${file}:${line}`))).toEqual([]);
});
