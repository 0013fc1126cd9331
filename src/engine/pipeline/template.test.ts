import { describe, expect, test } from "bun:test";
import { LIMITS } from "../../core/limits.ts";
import { expectWork, processorMs } from "../../testing/busy-machine.ts";
import { asMarkdown, parseTemplate, renderTemplate, soleVariable } from "./template.ts";

const scope = {
  task_description: "fix {{ inputs.secret }}",
  inputs: { secret: "s3cret", empty: "" },
  steps: { design: { outputs: { tasks: [{ title: "one" }, { title: "two" }], ok: true, count: 0 } } },
};

describe("a template", () => {
  test.each([
    ["plain", "plain"],
    ["{{steps.design.outputs.count}} {{ steps.design.outputs.ok }}", "0 true"],
    ["{{ steps.design.outputs.tasks.1.title }}", "two"],
    ["[{{ inputs.empty }}{{ steps.none.outputs.x }}]", "[]"],
    ['{{ "{{" }} x }}', "{{ x }}"],
    ["{{ '}}' }}", "}}"],
    ["a { b } c", "a { b } c"],
  ])("%s gives %s", (template, expected) => {
    expect(renderTemplate(template, scope)).toBe(expected);
    expect(parseTemplate(template).problems).toEqual([]);
  });

  test("for people, lists and objects are lists of Markdown, and texts stay as they are", () => {
    const tasks = [
      { title: "One", files: ["a.ts", "b.ts"] },
      { title: "Two\nlines", files: [] },
    ];
    expect(
      renderTemplate("Tasks:\n{{ tasks }}\n{{ words }}{{ none }}", { tasks, words: "as **said**" }, asMarkdown),
    ).toBe(
      [
        "Tasks:",
        "- **title**: One  ",
        "  **files**: ",
        "  - a.ts",
        "  - b.ts",
        "- **title**: Two",
        "  lines  ",
        "  **files**: ",
        "as **said**",
      ].join("\n"),
    );
  });

  test("lists and objects become JSON", () => {
    expect(JSON.parse(renderTemplate("{{ steps.design.outputs.tasks }}", scope))).toEqual([
      { title: "one" },
      { title: "two" },
    ]);
  });

  test("what was put in is never read as a template", () => {
    expect(renderTemplate("{{ task_description }}", scope)).toBe("fix {{ inputs.secret }}");
  });

  test.each([
    "__proto__",
    "constructor",
    "inputs.constructor.constructor",
    "steps.toString",
    "inputs.secret.length",
    "steps.design.outputs.tasks.length",
  ])("%s gives nothing", (path) => {
    expect(renderTemplate(`[{{ ${path} }}]`, scope)).toBe("[]");
  });

  test.each([
    ["x {{ 1 + 1 }}", 2],
    ["{{ inputs.secret | upper }}", 0],
    ["{{ constructor }}", 0],
    ["{{ a.__proto__.b }}", 0],
    ["{{ }}", 0],
    ["{{ f() }}", 0],
    ["ab {{ inputs.secret", 3],
    ["{{ #each x }}", 0],
  ])("%s is a problem at character %p", (template, offset) => {
    expect(parseTemplate(template).problems[0]?.offset).toBe(offset);
  });

  test("a lone variable is distinguished from a text with one", () => {
    expect(soleVariable(" {{ steps.design.outputs.tasks }} ")).toEqual(["steps", "design", "outputs", "tasks"]);
    expect(soleVariable("x {{ inputs.secret }}")).toBeNull();
    expect(soleVariable("plain")).toBeNull();
  });

  test("the result is bounded, and says what it left out", () => {
    const big = { inputs: { x: "y".repeat(150_000) } };
    const out = renderTemplate("{{ inputs.x }}{{ inputs.x }}", big);
    expect(out.length).toBeLessThan(LIMITS.textCharacters + 100);
    expect(out).toEndWith("[100000 characters left out]");
  });

  test("100 kB of braces and quotes take no time", () => {
    const started = processorMs();
    for (const piece of ["{", "{{", "}}", "{{}}", "{{ ", "{{'", '{{"a', "{{ a ", "{{ a }}", "{{ ' }}", " "])
      renderTemplate(piece.repeat(100_000 / piece.length), scope);
    expectWork("rendering them", processorMs() - started, 200);
  });
});
