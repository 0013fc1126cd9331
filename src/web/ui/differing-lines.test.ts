/// <reference types="bun-types/test" />
import { expect, test } from "bun:test";
import { differingLines } from "./differing-lines.ts";

const numbered = (count: number, name: string) => Array.from({ length: count }, (_, at) => `${name} ${at}`);
const text = (...middle: string[]) => [...numbered(40, "top"), ...middle, ...numbered(20, "bottom")].join("\n");

test("of two long texts only what differs is shown, with three lines around it and how many were left out", () => {
  const [yours, theirs] = differingLines(text("mine", "more"), text("theirs"));
  const around = (...middle: string[]) =>
    [
      "… 37 lines alike …",
      ...["top 37", "top 38", "top 39"],
      ...middle,
      ...["bottom 0", "bottom 1", "bottom 2"],
      "… 17 lines alike …",
    ].join("\n");
  expect([yours, theirs]).toEqual([around("mine", "more"), around("theirs")]);
});

test("short texts, an added end and a repeated line are shown as they are", () => {
  expect(differingLines("a\nb", "a\nc")).toEqual(["a\nb", "a\nc"]);
  expect(differingLines(text(), `${text()}\nend`)).toEqual([
    "… 57 lines alike …\nbottom 17\nbottom 18\nbottom 19",
    "… 57 lines alike …\nbottom 17\nbottom 18\nbottom 19\nend",
  ]);
  expect(differingLines("a\na", "a\na\na")).toEqual(["a\na", "a\na\na"]);
  expect(differingLines("same", "same")).toEqual(["same", "same"]);
});
