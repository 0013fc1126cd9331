/** What a file exports, another uses: what no other file needs stays inside, where its readers need not look for users. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { Glob } from "bun";
import { SRC } from "./source-files.ts";

// Every file is read: on a busy machine that takes longer than the usual bound.
setDefaultTimeout(300_000);

const ROOT = resolve(SRC, "..");
/** What is found by its place: the functions that stand for JSX tags, and tables, which a test compares with the database. */
const BY_PLACE = /^src\/(web\/ui\/jsx-runtime\.ts|store\/tables\/)/;
const NAMED = /^(?:import|export)\s+(?:type\s+)?\{([^}]*)\}\s+from\s+"(\.[^"]+)"/gm;
/** As a whole, or only when it runs. */
const WHOLE = /\*\s+(?:as\s+\w+\s+)?from\s+"(\.[^"]+)"|\bimport\(\s*"(\.[^"]+)"/g;
/** By its path, in what the build writes. */
const IN_TEXT = /"(src\/[\w./-]+\.tsx?)"/g;
const VALUE = /^export (?:async )?(?:function\*?|const|let|class) (\w+)/gm;

const readSources = (): Map<string, string> => {
  const paths = [...new Glob("{src,scripts}/**/*.{ts,tsx}").scanSync(ROOT), "build.ts"];
  const own = paths.filter((path) => !path.includes("/fixtures/") && !path.endsWith(".gen.ts"));
  return new Map(own.sort().map((path) => [path, readFileSync(join(ROOT, path), "utf8")]));
};

test("every function, constant and class that is exported is imported somewhere", () => {
  const sources = readSources();
  const used = new Set<string>();
  const wholes = new Set<string>();
  for (const [path, text] of sources) {
    const at = (to: string) => relative(ROOT, resolve(ROOT, dirname(path), to));
    for (const [, names = "", to = ""] of text.matchAll(NAMED))
      for (const name of names.split(","))
        used.add(
          `${at(to)} ${
            name
              .trim()
              .replace(/^type /, "")
              .split(" as ")[0]
          }`,
        );
    for (const [, to, lazily] of text.matchAll(WHOLE)) wholes.add(at(to ?? lazily ?? ""));
    for (const [, to = ""] of text.matchAll(IN_TEXT)) wholes.add(to);
  }
  const product = [...sources].filter(
    ([path]) => path.startsWith("src/") && !path.startsWith("src/testing/") && !/\.test\.tsx?$/.test(path),
  );
  const unused = product.flatMap(([path, text]) =>
    wholes.has(path) || BY_PLACE.test(path)
      ? []
      : Array.from(text.matchAll(VALUE), ([, name = ""]) => name)
          // A schema goes with its type.
          .filter((name) => !used.has(`${path} ${name}`) && !new RegExp(`^export type ${name}\\b`, "m").test(text))
          .map((name) => `${path} ${name}`),
  );
  expect(product.length).toBeGreaterThan(1_000);
  expect(unused).toEqual([]);
});
