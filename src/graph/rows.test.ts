/** Only one file knows how a missing row is written, and a row of one table cannot be used in another. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { FactsBuilder } from "./language/facts-builder.ts";
import { exists, isNone, NONE, rowAfter } from "./rows.ts";

/**
 * Folders whose numbers are rows, with the number of lines in which `-1` means something else: ranks, ends of texts,
 * files.
 */
const ROOMS: Record<string, number> = { language: 124, resolve: 41 };

test("that there is no row is written as NONE", () => {
  for (const [room, most] of Object.entries(ROOMS)) {
    const folder = join(import.meta.dir, room);
    const paths = (readdirSync(folder, { recursive: true }) as string[]).filter(
      (path) => path.endsWith(".ts") && !path.endsWith(".test.ts") && !path.includes("fixtures"),
    );
    const lines = paths.flatMap((path) => readFileSync(join(folder, path), "utf8").split("\n"));
    const found = lines.filter((line) => /(?<![\w)\]] ?)-1\b/.test(line) && !/^\s*(\/?\*|\/\/)/.test(line));
    expect(`${room}: ${Math.max(found.length, most)}`).toBe(`${room}: ${most}`);
  }
});

test("a row of one table does not go where a row of another is read", () => {
  const facts = new FactsBuilder("a.ts", "typescript");
  const name = facts.name("a");
  const type = facts.typeRef("T", facts.scope(NONE, 0));
  // @ts-expect-error a type is no expression
  facts.useValue(type, NONE, 1);
  // @ts-expect-error a name is no type
  facts.useType(name, NONE, 1);
  // @ts-expect-error a number is no row
  facts.types.op(0);
  expect([exists(type), isNone(NONE), rowAfter(type) - type]).toEqual([true, true, 1]);
});
