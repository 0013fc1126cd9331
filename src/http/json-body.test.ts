import { describe, expect, test } from "bun:test";
import { parseJson } from "./json-body.ts";

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
  test("that is not valid is the sender's mistake", () => {
    for (const text of ["", "{", "{'a':1}", '{"a":1}x', "NaN"])
      expect(() => parseJson(text)).toThrow(expect.objectContaining({ status: 400, code: "malformed" }));
  });
});
