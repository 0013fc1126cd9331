import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { piecesOf, spokenText } from "./spoken-text.ts";

describe("what is read aloud", () => {
  test("leaves out code, addresses and Markdown's marks, and ends each line with a stop", () => {
    const text =
      "# Result\n\nI **fixed** the `parser` in [main.ts](src/main.ts), see https://example.org/a?b.\n\n```ts\nconst a = 1;\n```\n- first _item_\n2. second\n> quoted\n\n| a | b |\n|---|:-:|\n| 1 | 2 |\n\n---\nsnake_case_name stays";
    expect(spokenText(text)).toBe(
      "Result.\n\nI fixed the parser in main.ts, see.\n\nfirst item.\nsecond.\nquoted.\n\na, b.\n\n1, 2.\n\nsnake_case_name stays.",
    );
  });

  test("a fence that is never closed, or is all there is, says nothing", () => {
    expect(spokenText("```\nrm -rf /\n")).toBe("");
    expect(spokenText("   \n---\n")).toBe("");
  });

  test("the pieces are within the limit, hold all of the text, and the first is one sentence", () => {
    expect(piecesOf("One. Two is longer. Three.", 100)).toEqual(["One.", "Two is longer. Three."]);
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 400 }), fc.integer({ min: 10, max: 60 }), (text, max) => {
        const pieces = piecesOf(text, max);
        for (const piece of pieces) expect(piece.length).toBeLessThanOrEqual(max);
        expect(pieces.join("").replace(/\s/g, "")).toBe(text.replace(/\s/g, ""));
      }),
    );
  });

  test("hostile lines are read in time that grows with their length", () => {
    const cost = (size: number) => {
      const texts = [
        "[".repeat(size),
        "*".repeat(size),
        "<a".repeat(size),
        "_a".repeat(size),
        "`".repeat(size),
        "![".repeat(size),
      ];
      const started = process.cpuUsage();
      for (const text of texts) spokenText(text);
      const { user, system } = process.cpuUsage(started);
      return user + system;
    };
    cost(1_000);
    const small = cost(5_000);
    expect(cost(50_000)).toBeLessThan(100 * Math.max(small, 2_000));
  });
});
