/** Tests of the dashboard must use it as a person does. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Glob } from "bun";

const ROOT = resolve(import.meta.dir, "../../..");

test("browser tests type with keys: a field that takes none would pass with a value set from outside", () => {
  const files = [...new Glob("{src,scripts}/**/*.ts").scanSync(ROOT)].filter((path) =>
    /playwright|\bPage\b|typeInto/.test(readFileSync(join(ROOT, path), "utf8")),
  );
  expect(files.length).toBeGreaterThan(15);
  const filling = files.filter((path) =>
    /(\)|\bpage|box|field|input|text|[Ee]ditor)\s*\.fill\(/.test(
      readFileSync(join(ROOT, path), "utf8").replaceAll(/Array\([^)]*\)\s*\.fill\(/g, ""),
    ),
  );
  expect(filling).toEqual([]);
});
