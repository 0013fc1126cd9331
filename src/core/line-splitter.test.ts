import { expect, test } from "bun:test";
import { createLineSplitter, type Line } from "./line-splitter.ts";

const read = (text: string, cut: number, options: { maxBytes: number; atReturns?: boolean }): Line[] => {
  const lines: Line[] = [];
  const splitter = createLineSplitter({ ...options, onLine: (line) => lines.push(line) });
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += cut) splitter.add(bytes.subarray(at, at + cut));
  splitter.end();
  return lines;
};

test.each([1, 2, 3, 1_000])("lines are the same however they come (pieces of %d)", (cut) => {
  const texts = (text: string, atReturns = false) =>
    read(text, cut, { maxBytes: 100, atReturns }).map((line) => line.text);
  expect(texts("a\n\nbé\r\nlast")).toEqual(["a", "", "bé\r", "last"]);
  expect(texts("a\r\rb\r\nc\n\nd\r", true)).toEqual(["a", "", "b", "c", "", "d"]);
});

test.each([1, 7, 1_000])("a line that is too long keeps its beginning and its end (pieces of %d)", (cut) => {
  expect(read(`${"x".repeat(500)}END\nnext\n`, cut, { maxBytes: 10 })).toEqual([
    { text: "x".repeat(10), bytes: 503, tail: expect.stringMatching(/^x+END$/) },
    { text: "next", bytes: 4 },
  ]);
});
