import { describe, expect, test } from "bun:test";
import { pathOf, pointerOf, readYaml, YAML_LIMITS } from "./yaml-text.ts";

const messageOf = (text: string) => readYaml(text).problems[0]?.message ?? "";

describe("readYaml", () => {
  test("gives the plain value and where each part of it is", () => {
    const yaml = readYaml("a: 1\nlist:\n  - x\n  - { b: two }\n");
    expect(yaml.problems).toEqual([]);
    expect(yaml.value).toEqual({ a: 1, list: ["x", { b: "two" }] });
    expect(yaml.locate(["list", 1, "b"])).toEqual({ line: 4, column: 10 });
    expect(yaml.locateKey(["list", 1, "b"])).toEqual({ line: 4, column: 7 });
    expect(yaml.locate(["list", 7, "none"])).toEqual({ line: 3, column: 3 });
  });

  test("counts lines from where the text is in its file", () => {
    expect(readYaml("a: 1\na: 2\n", 10).problems).toEqual([
      { line: 11, column: 1, pointer: "", message: "This key is given twice." },
    ]);
  });

  test.each([
    ["an alias bomb", "a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n", "Anchors and aliases"],
    ["a value that holds itself", "a: &x [*x]", "Anchors and aliases"],
    ["a tag", "a: !!js/function x", "Tags"],
    ["a directive", "%TAG ! x\n---\na: 1", "Directives"],
    ["a control character", "a: \u0001", "control character"],
    ["deep flow", "[".repeat(100_000), "nested deeper"],
    ["explicit keys in a row", "? ".repeat(50_000), "nested deeper"],
    ["lists in a row", "- ".repeat(50_000), "nested deeper"],
    ["deep blocks", Array.from({ length: 600 }, (_, i) => `${" ".repeat(i)}a:`).join("\n"), "indented"],
    ["very many keys", Array.from({ length: 20_000 }, (_, i) => `k${i}: 1`).join("\n"), "entries"],
    ["a text too long", "x".repeat(YAML_LIMITS.characters + 1), "longer than"],
    ["two documents", "a: 1\n---\nb: 2\n", "multiple documents"],
  ])("refuses %s", (_name, text, message) => {
    expect(messageOf(text)).toContain(message);
    expect(readYaml(text).value).toBeUndefined();
  });

  test("keys named like parts of every object are plain own keys and change nothing else", () => {
    const { value } = readYaml("__proto__: { polluted: true }\nconstructor: 1\n");
    expect(Object.keys(value as object)).toEqual(["__proto__", "constructor"]);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  test("text inside block scalars is never taken for structure", () => {
    const body = `${"  - & * ! % ? : [ {\n".repeat(50)}`;
    expect(readYaml(`a: |\n${body}`).problems).toEqual([]);
    expect(readYaml("a: it's 5 & 6 * 7!\nb: '*x'\n").problems).toEqual([]);
  });

  test("100 kB of any indicator is read or refused within a second", () => {
    for (const piece of [
      "[",
      "]",
      "{",
      "}",
      "- ",
      "? ",
      ": ",
      "a:",
      "a: ",
      '"',
      "'",
      "&a ",
      "*a ",
      "!",
      "%",
      "#",
      "|",
      ">",
      "\t",
      " ",
      "\n",
      ",",
      "\\",
      "`",
      "@",
      "a: ]\n",
      "- a\n",
      "{a,",
      "a: b\n ",
      "---\n",
      "...\n",
      "é",
    ]) {
      // Measures processor time, because the machine may be busy.
      const before = process.threadCpuUsage();
      readYaml(piece.repeat(Math.ceil(100_000 / piece.length)));
      const { user, system } = process.threadCpuUsage(before);
      expect({ piece, slow: user + system > 1e6 }).toEqual({ piece, slow: false });
    }
  });

  test("pointers and paths turn into each other", () => {
    expect(pathOf(pointerOf(["a/b", "~c", 3]))).toEqual(["a/b", "~c", "3"]);
  });
});
