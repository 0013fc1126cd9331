import { describe, expect, test } from "bun:test";
import { valueFault } from "../core/json-reader.ts";
import { LIMITS } from "../core/limits.ts";
import { parseJson } from "./json-body.ts";

const code = (act: () => unknown): string => {
  try {
    act();
    return "none";
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describe("a stranger's JSON", () => {
  test("is read as it is, ordinary escapes and names among it", () => {
    const value = { a: [1, "\u00e9\n", { toJSON: 1, constructor: "c" }], "": null };
    expect(parseJson(JSON.stringify(value))).toEqual(value);
    expect(parseJson(String.raw`"\u0041"`)).toBe("A");
  });
  test("loses what would make a value more, or less, than plain, however it is spelt", () => {
    for (const text of [
      '{"a":{"__proto__":{"admin":true},"toString":1,"b":2}}',
      String.raw`{"a":{"__pr\u006fto__":{"admin":true},"toStr\u0069ng":1,"b":2}}`,
    ]) {
      const { a } = parseJson(text) as { a: Record<string, unknown> };
      expect(Object.keys(a)).toEqual(["b"]);
      expect(`${a}`).toBe("[object Object]");
      expect(a["admin"]).toBeUndefined();
    }
  });
  test("may be nested so deep, and no deeper; brackets in a text count for nothing", () => {
    const nest = (levels: number) =>
      `${'{"a":['.repeat(levels / 2)}"\\\\\\"${"[".repeat(999)}"${"]}".repeat(levels / 2)}`;
    expect(JSON.stringify(parseJson(nest(LIMITS.jsonLevels)))).toBe(nest(LIMITS.jsonLevels));
    for (const text of [nest(LIMITS.jsonLevels + 2), "[".repeat(400_000), `"${"[".repeat(999)}`])
      expect([text.length, code(() => parseJson(text))]).toEqual([
        text.length,
        text[0] === '"' ? "malformed" : "too_much_json",
      ]);
    const value = (levels: number): unknown => (levels === 0 ? 1 : { a: [value(levels - 2)] });
    expect([LIMITS.jsonLevels, LIMITS.jsonLevels + 2].map((levels) => valueFault(value(levels)))).toEqual([
      undefined,
      "nested more than 200 levels deep",
    ]);
  });
  test("that is not valid is the sender's mistake", () => {
    for (const text of ["", "{", "{'a':1}", '{"a":1}x', "NaN"])
      expect(() => parseJson(text)).toThrow(expect.objectContaining({ status: 400, code: "malformed" }));
  });
});
