/**
 * Every export must be used by another file. What no other file needs is not exported, so that readers need not look
 * for its users.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { Glob } from "bun";
import { SRC } from "./source-files.ts";

// Every file is read, which on a busy machine takes longer than the usual limit.
setDefaultTimeout(300_000);

const ROOT = resolve(SRC, "..");
/**
 * Files that are found by their place: the functions for JSX tags, and tables, which a test compares with the database.
 */
const BY_PLACE = /^src\/(web\/ui\/jsx-runtime\.ts|store\/tables\/)/;
const NAMED = /^(?:import|export)\s+(?:type\s+)?\{([^}]*)\}\s+from\s+"(\.[^"]+)"/gm;
/** Imports of a whole module, statically or at run time. */
const WHOLE = /\*\s+(?:as\s+\w+\s+)?from\s+"(\.[^"]+)"|\bimport\(\s*"(\.[^"]+)"/g;
/** Imports by path, in text that the build writes. */
const IN_TEXT = /"(src\/[\w./-]+\.tsx?)"/g;
const EXPORT = /^export (async function|function\*?|const|let|class|enum|interface|type) (\w+)/gm;

const isType = (kind: string): boolean => kind === "interface" || kind === "type";

const readSources = (): Map<string, string> => {
  const paths = [...new Glob("{src,scripts}/**/*.{ts,tsx}").scanSync(ROOT), "build.ts"];
  const own = paths.filter((path) => !path.includes("/fixtures/") && !path.endsWith(".gen.ts"));
  return new Map(own.sort().map((path) => [path, readFileSync(join(ROOT, path), "utf8")]));
};

test("everything that is exported, types too, is imported somewhere", () => {
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
  // Tests contain whole programs as text, whose exports do not count.
  const exporters = [...sources].filter(([path]) => !/\.test\.tsx?$/.test(path) && !wholes.has(path));
  const unused = exporters.flatMap(([path, text]) =>
    Array.from(text.matchAll(EXPORT))
      .filter(([, kind = "", name]) => !used.has(`${path} ${name}`) && (isType(kind) || !BY_PLACE.test(path)))
      .map(([, , name]) => `${path} ${name}`),
  );
  expect(exporters.length).toBeGreaterThan(1_000);
  expect(unused).toEqual([]);
});
