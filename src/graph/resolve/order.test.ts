/**
 * README.md of this folder describes the order of resolution and what its parts remember. This test compares it with
 * the code.
 */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { EDGE_STEPS } from "./calls/edges.ts";

const page = readFileSync(join(import.meta.dir, "README.md"), "utf8");

/**
 * The fields of each class in this folder, in order. Constructor parameters come first, with their types. The type is
 * undefined for a field that is initialized.
 */
function readClasses(): Map<string, [field: string, type: string | undefined][]> {
  const found = new Map<string, [string, string | undefined][]>();
  const files = [...new Glob("**/*.ts").scanSync(import.meta.dir)].filter((file) => !file.endsWith(".test.ts"));
  for (const file of files.sort()) {
    const text = readFileSync(join(import.meta.dir, file), "utf8");
    for (const [, name = "", body = ""] of text.matchAll(/^(?:export )?class (\w+) \{\n([\s\S]*?)\n\}$/gm)) {
      const fields = body.matchAll(/^ {2}(?:private )?(?:readonly )?(\w+)(?:: ([^=;]+))?(?: =|;)/gm);
      const parameters = /^ {2}constructor\(([\s\S]*?)\) \{/m.exec(body)?.[1] ?? "";
      const given = parameters.matchAll(/(?:private )?readonly (\w+): ([^,\n]+)/g);
      found.set(
        name,
        Array.from([...given, ...fields], ([, field = "", type]) => [field, type]),
      );
    }
  }
  return found;
}

/** The cells of each row of the table under a heading. */
function readTable(heading: string): string[][] {
  const section = page.split(/^## /m).find((part) => part.startsWith(heading)) ?? "";
  const rows = section.split("\n").filter((line) => line.startsWith("|"));
  return rows.slice(2).map((row) =>
    row
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.trim()),
  );
}

const classes = readClasses();
const namesIn = (cell: string): string[] => Array.from(cell.matchAll(/`(\w+)`/g), ([, name = ""]) => name);

test("the phases of a repository are the fields of Resolution, in their order", () => {
  const fields = (classes.get("Resolution") ?? []).map(([field]) => field);
  expect(readTable("Once for a repository").flatMap(([phase = ""]) => namesIn(phase))).toEqual(fields);
});

test("the steps of a file are those that run, in their order", () => {
  const steps = EDGE_STEPS.map(([name]) => name);
  expect(readTable("For each file").map(([step]) => step)).toEqual(steps);
});

test("every part of the engine is there, with what it remembers", () => {
  const parts = (classes.get("Engine") ?? []).map(([, type]) => type ?? "");
  const written = readTable("On demand");
  expect(written.flatMap(([part = ""]) => namesIn(part)).filter((name) => !parts.includes(name))).toEqual([]);
  const missing = parts.filter((part) => classes.has(part) && !written.some(([name]) => name === `\`${part}\``));
  expect(missing.filter((part) => part !== "Repository")).toEqual([]);
  const isState = (type = "") => !classes.has(type) || type.endsWith("Memo");
  for (const [part = "", , remembers = ""] of written) {
    const [name = ""] = namesIn(part);
    const state = (classes.get(name) ?? []).filter(([, type]) => isState(type)).map(([field]) => field);
    expect([name, ...namesIn(remembers)]).toEqual([name, ...state]);
  }
});
