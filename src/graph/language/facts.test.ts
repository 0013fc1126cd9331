/** Packed facts are opened only if their header is valid, and give back what was packed. */
import { expect, test } from "bun:test";
import { type FileFacts, openFacts, packFacts } from "./facts.ts";
import { createGrammars } from "./grammar.ts";
import { languageOf } from "./languages.ts";
import { factsOf } from "./parse-file.ts";
import { TABLE_NAMES } from "./tables/tables.ts";

const SOURCE = 'namespace été { export function total(a: number) { return process.env["PORT"] + a; } }\n';

async function someFacts(): Promise<FileFacts> {
  const grammars = await createGrammars();
  for (const grammar of languageOf("a.ts")?.grammars.values() ?? []) await grammars.load(grammar);
  return factsOf("a.ts", SOURCE, grammars);
}

const contentsOf = (facts: FileFacts) => ({
  texts: [facts.strings, [...facts.keys], facts.lines, facts.unread],
  tables: TABLE_NAMES.map((name) => [...facts[name].toCells()]),
});

test("facts are the same when they were packed, in whatever memory they lie", async () => {
  const facts = await someFacts();
  const packed = packFacts(facts);
  const shared = new Uint8Array(new SharedArrayBuffer(packed.length + 4), 4);
  const unaligned = new Uint8Array(packed.length + 1).subarray(1);
  for (const place of [new Uint8Array(packed.length), shared, unaligned]) {
    place.set(packed);
    const opened = openFacts(place, "typescript");
    expect(opened && contentsOf(opened.read())).toEqual(contentsOf(facts));
    expect(TABLE_NAMES.map((name) => [opened?.has(name), opened?.table(name).toCells()])).toEqual(
      TABLE_NAMES.map((name) => [facts[name].length > 0, facts[name].toCells()]),
    );
    expect(opened?.symbolCount).toBe(facts.symbols.length);
    expect([opened?.lines, opened?.unread, [...(opened?.keys ?? [])]]).toEqual([2, 0, [...facts.keys]]);
  }
});

test("facts that are cut short, of another version, or whose lengths cannot be true are not opened", async () => {
  const packed = packFacts(await someFacts());
  for (let length = 0; length < packed.length; length++)
    expect(openFacts(packed.slice(0, length), "typescript")).toBeUndefined();
  // The version, the lengths of texts, and those of all tables.
  for (const word of [0, 2, 5, ...TABLE_NAMES.map((_, table) => 6 + table)])
    for (const wrong of [-1, 2 ** 30]) {
      const damaged = packed.slice();
      new Int32Array(damaged.buffer, 0, 6 + TABLE_NAMES.length)[word] = wrong;
      expect([word, openFacts(damaged, "typescript")]).toEqual([word, undefined]);
    }
});
