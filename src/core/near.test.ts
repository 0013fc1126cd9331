import { describe, expect, test } from "bun:test";
import { didYouMean, nearNames } from "./near.ts";

const NAMES = ["hello", "feature", "bugfix", "research", "import-repository"];

describe("near names", () => {
  test("a letter too many, too few, another or two that changed places lead to the name that was meant", () => {
    for (const word of ["helo", "helllo", "hallo", "ehllo", "HELLO", "hel", "hello-world"])
      expect([word, nearNames(word, NAMES)[0]]).toEqual([word, "hello"]);
    expect(nearNames("reserch", NAMES)).toEqual(["research"]);
  });

  test("what is like none of them leads nowhere, however long it is", () => {
    for (const word of ["xyz", "", "x".repeat(100_000)]) expect(nearNames(word, NAMES)).toEqual([]);
    expect(didYouMean("xyz", NAMES)).toBe("");
  });

  test("the nearest comes first, and no more than asked for", () => {
    expect(nearNames("aab", ["aac", "aab", "aad", "aae"], 2)).toEqual(["aab", "aac"]);
    expect(didYouMean("aax", ["aac", "aab"])).toBe("Did you mean aab or aac?");
  });
});
