import { expect, test } from "bun:test";
import { createRowCache } from "./row-cache.ts";

const createCache = (most: number) => createRowCache<{ text: string }>({ inTransaction: false }, most);
/** A value whose JSON has this many characters. */
const value = (characters: number) => ({ text: "x".repeat(characters - '{"text":""}'.length) });

test("a value is found with the version that it was kept with, and no other", () => {
  const cache = createCache(10_000);
  cache.keep("a", 1, value(50));
  expect(cache.find("a", 1)).toEqual(value(50));
  expect([cache.find("a", 0), cache.find("a", 2), cache.find("b", 1)]).toEqual([undefined, undefined, undefined]);
  cache.keep("a", 2, value(60));
  expect([cache.find("a", 1), cache.find("a", 2)]).toEqual([undefined, value(60)]);
});

test("more than the bound is never kept: what came first goes, and what is large is not kept at all", () => {
  const cache = createCache(10_000);
  for (let n = 0; n < 300; n++) cache.keep(`row_${n}`, 1, value(100));
  const found = Array.from({ length: 300 }, (_, n) => n).filter((n) => cache.find(`row_${n}`, 1));
  expect(found).toEqual(Array.from({ length: 100 }, (_, n) => n + 200));
  // The same row, cached again and again, takes its space only once.
  for (let version = 2; version < 300; version++) cache.keep("row_299", version, value(100));
  expect(cache.find("row_200", 1)).toBeDefined();
  cache.keep("large", 1, value(101));
  expect(cache.find("large", 1)).toBeUndefined();
});

test("nobody who was given a value can change it for others", () => {
  const cache = createCache(10_000);
  cache.keep("a", 1, value(50));
  expect(() => Object.assign(cache.find("a", 1)!, { text: "changed" })).toThrow();
});
