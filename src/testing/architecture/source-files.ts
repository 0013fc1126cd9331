/** The files of the product as the architecture's tests read them. */
import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { Glob } from "bun";

export const SRC = resolve(import.meta.dir, "../..");
export const textOf = (file: string): string => readFileSync(join(SRC, file), "utf8");

/** Paths below src of the files that fit, tests left out. */
export const filesOf = (pattern: string): string[] =>
  [...new Glob(pattern).scanSync(SRC)].filter((file) => !file.endsWith(".test.ts")).sort();

/** Everything of ours that a file imports, types too, as paths below src. */
export const importsWithTypes = (file: string): string[] =>
  [...textOf(file).matchAll(/\bfrom "(\.[^"]+)"/g)].map(([, path]) =>
    relative(SRC, resolve(SRC, dirname(file), path!)),
  );
