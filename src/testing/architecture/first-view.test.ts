/** What the dashboard's first rendering must not load. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const WEB = resolve(import.meta.dir, "../../web");
const ENTRIES = ["main.tsx", "theme.ts"];

/**
 * Files of the first view that name the browser's formats, and how often. These are created only when a date or time is
 * first written.
 */
const ALLOWED: Record<string, number> = { "ui/format.ts": 5 };

/** Every dashboard file that is loaded at once with these entries, without files of parts that are loaded later. */
function loadedAtOnce(entries: string[]): string[] {
  const scanner = new Bun.Transpiler({ loader: "tsx" });
  const seen = new Set<string>();
  const visit = (file: string) => {
    if (seen.has(file)) return;
    seen.add(file);
    for (const { path, kind } of scanner.scanImports(readFileSync(file, "utf8")))
      if (kind === "import-statement" && /^\.{1,2}\/.*\.tsx?$/.test(path)) visit(join(dirname(file), path));
  };
  for (const entry of entries) visit(join(WEB, entry));
  return [...seen];
}

test("the first view uses none of the browser's formats, whose first use takes 40 to 100 ms", () => {
  const files = loadedAtOnce(ENTRIES);
  // Otherwise the imports were not read.
  expect(files.length).toBeGreaterThan(60);
  const found: Record<string, number> = {};
  for (const file of files) {
    const uses = readFileSync(file, "utf8").match(/\bIntl\.\w|\.toLocale(Date|Time)?String\(|\blocaleCompare\(/g) ?? [];
    if (uses.length > 0) found[relative(WEB, file)] = uses.length;
  }
  expect(found).toEqual(ALLOWED);
});
