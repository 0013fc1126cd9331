/**
 * Code that the grammars do not know or cannot read: which parts are read, and how many lines are reported as unread.
 */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createGrammars } from "./grammar.ts";
import { endingOf, languageOf } from "./languages.ts";
import { factsOf } from "./parse-file.ts";

async function unreadOf(path: string, text: string): Promise<number> {
  const grammars = await createGrammars();
  await grammars.load(languageOf(path)!.grammars.get(endingOf(path))!);
  return factsOf(path, text, grammars).unread;
}

for (const name of ["cpp/odd", "typescript/unreadable"])
  test(`every line of the fixture ${name} is read`, async () => {
    const folder = join(import.meta.dir, "fixtures", name);
    const files = readdirSync(folder).filter((file) => file !== "expected.txt");
    const unread = files.map(async (file) => [file, await unreadOf(file, readFileSync(join(folder, file), "utf8"))]);
    expect(await Promise.all(unread)).toEqual(files.map((file) => [file, 0]));
  });

test("of a file that is given up as a whole the lines count that nobody read, without comments and empty lines", async () => {
  const broken =
    "// Why.\n\n#if A\nint one() {\n  return 1;\n}\n\n) ] } @@ (\n/* and */\nint two() {\n  return one();\n}\n";
  expect(await unreadOf("a.cc", broken)).toBeLessThanOrEqual(2);
  expect(await unreadOf("a.cc", broken)).toBeGreaterThan(0);
  expect(await unreadOf("a.ts", "const a = 1;\n\n@@ ) (\n")).toBe(1);
});
