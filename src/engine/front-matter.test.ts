import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { readFrontMatter, updateFrontMatter } from "./front-matter.ts";

const writeFrontMatter = (data: Record<string, unknown>, body: string) => updateFrontMatter("", data, body);

const FILE = `---
# who it is
name: Engineer   # shown in lists
tools: [read, write]

limits:
  # in MB
  memory: 512
---

# You build

---
not a fence of the head
`;

describe("readFrontMatter", () => {
  test("gives data and body", () => {
    const { data, body, problems } = readFrontMatter(FILE);
    expect(problems).toEqual([]);
    expect(data).toEqual({ name: "Engineer", tools: ["read", "write"], limits: { memory: 512 } });
    expect(body).toStartWith("\n# You build\n");
    expect(body).toContain("not a fence of the head");
  });

  test.each([
    ["no head", "just text\n", {}, "just text\n"],
    ["nothing", "", {}, ""],
    ["an empty head", "---\n---\nbody", {}, "body"],
    ["a head alone", "---\na: 1\n---", { a: 1 }, ""],
    ["Windows line ends", "---\r\na: 1\r\n---\r\n\r\nbody\r\n", { a: 1 }, "\r\nbody\r\n"],
    ["a byte order mark", "\uFEFF---\na: 1\n---\nbody", { a: 1 }, "body"],
    ["a rule in the text", "text\n---\na: 1\n---\n", {}, "text\n---\na: 1\n---\n"],
  ])("%s", (_name, text, data, body) => {
    expect(readFrontMatter(text)).toMatchObject({ data, body, problems: [] });
  });

  test.each([
    ["an open head", "---\na: 1\n", 1, "never closed"],
    ["broken YAML", "---\na: 1\nb: [\n---\n", 4, "]"],
    ["a list as head", "---\n- a\n---\n", 2, "`key: value`"],
    ["a key given twice", "---\na: 1\na: 2\n---\n", 3, "given twice"],
    ["an alias", "---\na: &x 1\nb: *x\n---\n", 2, "Anchors"],
  ])("%s is a problem with its line in the file", (_name, text, line, message) => {
    const { problems, data } = readFrontMatter(text);
    expect(problems[0]?.line).toBe(line);
    expect(problems[0]?.message).toContain(message);
    // Values that can be read still count.
    expect(data).toEqual(message === "given twice" ? { a: 2 } : {});
  });
});

describe("updateFrontMatter", () => {
  test("changes the given fields and keeps comments, order and body", () => {
    const text = updateFrontMatter(FILE, { name: "Builder", model: "ollama/qwen3", tools: ["read", "bash"] });
    expect(text).toBe(`---
# who it is
name: Builder # shown in lists
tools: [read, bash]

limits:
  # in MB
  memory: 512
model: ollama/qwen3
---

# You build

---
not a fence of the head
`);
  });

  test("removes keys, and changes nothing when nothing is asked", () => {
    expect(updateFrontMatter(FILE, {})).toBe(FILE);
    expect(readFrontMatter(updateFrontMatter(FILE, { tools: undefined })).data).toEqual({
      name: "Engineer",
      limits: { memory: 512 },
    });
  });

  test("keeps Windows line ends", () => {
    const text = updateFrontMatter("---\r\n# who\r\na: 1 # one\r\n---\r\nbody\r\n", { a: 2, b: [1] });
    expect(text).toBe("---\r\n# who\r\na: 2 # one\r\nb:\r\n  - 1\r\n---\r\nbody\r\n");
  });

  test("a head that cannot be read in bounded time is refused, not rewritten", () => {
    expect(() => updateFrontMatter(`---\n${"? ".repeat(30_000)}a\n---\n`, { a: 1 })).toThrow("broken");
  });

  test("replaces the body alone", () => {
    const text = updateFrontMatter(FILE, {}, "short\n");
    expect(text).toEndWith("memory: 512\n---\nshort\n");
    expect(readFrontMatter(text).data).toEqual(readFrontMatter(FILE).data);
  });

  test("a text without a head gets one", () => {
    expect(updateFrontMatter("hello\n", { a: 1 })).toBe("---\na: 1\n---\nhello\n");
    expect(writeFrontMatter({ a: 1 }, "---\nx: 1\n---\n")).toBe("---\na: 1\n---\n---\nx: 1\n---\n");
  });

  test("refuses to guess what a broken head meant", () => {
    expect(() => updateFrontMatter("---\na: [\n---\n", { b: 1 })).toThrow("broken");
  });

  test("keys of every object's own are written and read as plain keys", () => {
    const text = writeFrontMatter({ ["__proto__"]: { polluted: true }, constructor: 1 }, "");
    expect(Object.keys(readFrontMatter(text).data).sort()).toEqual(["__proto__", "constructor"]);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  test("what is written is read back, for any data and body", () => {
    const key = fc.stringMatching(/^[a-z_]{1,8}$/);
    const scalar = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.string({ unit: "grapheme" }));
    const value = fc.oneof(
      scalar,
      fc.array(scalar, { maxLength: 4 }),
      fc.dictionary(key, scalar, { minKeys: 1, maxKeys: 3 }),
    );
    const body = fc.string();
    fc.assert(
      fc.property(fc.dictionary(key, value, { minKeys: 1, maxKeys: 5 }), body, (data, text) => {
        const read = readFrontMatter(writeFrontMatter(data, text));
        expect(read.problems).toEqual([]);
        expect(JSON.stringify(read.data)).toBe(JSON.stringify(data));
        expect(read.body).toBe(text);
      }),
      { numRuns: 300 },
    );
  });
});
