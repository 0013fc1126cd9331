/** Limits which libraries a server loads before it answers. */
import { expect, test } from "bun:test";
import { dirname, join, relative } from "node:path";
import { SRC, textOf } from "./source-files.ts";

/**
 * Libraries that a start may load. Others are loaded on first use: the models' library alone takes a tenth of a start.
 */
const ALLOWED = [
  "@cfworker/json-schema",
  "@sinclair/typebox",
  "better-sqlite3",
  "commander",
  "croner",
  "drizzle-orm",
  "elysia",
  "eventsource-parser",
  "ipaddr.js",
  "p-queue",
  "pino",
  "swagger-ui-dist",
  "tar-stream",
  "yaml",
];

/** Libraries that are loaded at once with these files, each with the first file that imports it. */
function librariesOf(entries: string[]): Map<string, string> {
  const scanner = new Bun.Transpiler({ loader: "ts" });
  const seen = new Set<string>();
  const libraries = new Map<string, string>();
  const visit = (file: string) => {
    if (seen.has(file)) return;
    seen.add(file);
    for (const { path, kind } of scanner.scanImports(textOf(file))) {
      if (kind !== "import-statement" || /^(node|bun):|^bun$/.test(path)) continue;
      const library = /^(@[^/]+\/)?[^/]+/.exec(path)![0];
      if (!path.startsWith(".")) libraries.set(library, libraries.get(library) ?? file);
      else if (path.endsWith(".ts")) visit(relative(SRC, join(SRC, dirname(file), path)));
    }
  };
  for (const entry of entries) visit(entry);
  return libraries;
}

test("a start loads no library that it does not need", () => {
  const found = librariesOf(["main.ts", "cli/cli.ts", "cli/serve.ts", "app.ts"]);
  const others = [...found].filter(([library]) => !ALLOWED.includes(library));
  expect(others.map(([library, file]) => `${library} by ${file}: import() it where it is first used`)).toEqual([]);
  expect(
    ALLOWED.filter((library) => !found.has(library)),
    "listed, but no longer loaded by a start",
  ).toEqual([]);
});
