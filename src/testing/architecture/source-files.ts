/** The product's source files, as the architecture tests read them. */
import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { Glob } from "bun";
import ts from "typescript-api";

export const SRC = resolve(import.meta.dir, "../..");
export const textOf = (file: string): string => readFileSync(join(SRC, file), "utf8");

/** Paths below src of the files that match the pattern, without tests. */
export const filesOf = (pattern: string): string[] =>
  [...new Glob(pattern).scanSync(SRC)].filter((file) => !file.endsWith(".test.ts")).sort();

const parsed = new Map<string, ts.SourceFile>();

/** Parses a file below src, once per file, or the given text under that name. */
export function parse(file: string, text?: string): ts.SourceFile {
  const known = text === undefined ? parsed.get(file) : undefined;
  if (known) return known;
  const kind = file.endsWith("x") ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const source = ts.createSourceFile(file, text ?? textOf(file), ts.ScriptTarget.Latest, false, kind);
  if (text === undefined) parsed.set(file, source);
  return source;
}

/** All of our own modules that a file imports, including types, as paths below src. */
export const importsWithTypes = (file: string): string[] =>
  [...textOf(file).matchAll(/\bfrom "(\.[^"]+)"/g)].map(([, path]) =>
    relative(SRC, resolve(SRC, dirname(file), path!)),
  );
