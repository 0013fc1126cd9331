import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { expectWork, processorMs } from "../../testing/busy-machine.ts";
import { EXAMPLE } from "../../testing/pipeline-example.ts";
import { agentsOf, pipelineJsonSchema } from "./definition.ts";
import { parsePipeline } from "./parse.ts";

const pipeline = (...steps: string[]) =>
  `id: p\nname: P\ninputs: { issue: {} }\nsteps:\n${steps.map((step) => `  - ${step}\n`).join("")}`;
const step = (id: string, rest = "") => `{ id: ${id}, agent: a, input: x${rest ? `, ${rest}` : ""} }`;
const problemsOf = (text: string) =>
  parsePipeline(text).problems.map(({ line, column, message }) => `${line}:${column} ${message}`);
const firstOf = (text: string) => problemsOf(text)[0] ?? "no problem";

describe("parsePipeline", () => {
  test("reads the example", () => {
    const { definition, problems } = parsePipeline(EXAMPLE, { fileId: "feature" });
    expect(problems).toEqual([]);
    expect(definition?.steps.map(({ id }) => id)).toEqual(["design", "build", "review", "each", "ship"]);
    expect(agentsOf(definition!)).toEqual(["architect", "engineer", "reviewer"]);
  });

  test("a step that uses an output its source does not declare is an error at its place", () => {
    const text = EXAMPLE.replace("outputs: [design, tasks]", "outputs: [design]");
    expect(parsePipeline(text).problems).toEqual([
      {
        line: 25,
        column: 16,
        pointer: "/steps/3/for_each",
        message: 'The step "design" does not declare the output "tasks". Declared: design.',
      },
    ]);
  });

  test.each([
    ["not a map", "- 1", "1:1 A pipeline is a map"],
    ["nothing", "", "A pipeline is a map"],
    ["broken YAML", "id: [", "1:6"],
    [
      "an unknown key",
      "id: p\nname: P\nstep: []\nsteps: [{ id: a, agent: a, input: x }]",
      '3:1 "step" is unknown here.',
    ],
    ["an unknown key of a step", pipeline(step("a", "inputs: 1")), '"inputs" is unknown here. Known: id, name'],
    ["no steps", "id: p\nname: P\nsteps: []", "3:8 This must be a list of at most 200 entries, not empty."],
    ["a missing key", pipeline("{ id: a, agent: b }"), '5:5 "input" is missing.'],
    ["a step that is not a map", pipeline("hello"), "5:5 A step is a map"],
    ["a variable in a command", pipeline("{ id: a, run: 'echo {{ task_description }}' }"), "Put the value into env"],
    ["a command with input", pipeline("{ id: a, run: ls, input: x }"), '"input" is unknown here'],
    ["a command's bad variable", pipeline("{ id: a, run: ls, env: { 1A: x } }"), '"1A" is not a name of a variable'],
    ["an output no command has", pipeline("{ id: a, run: ls, route: { on: text, to: { x: a } } }"), '"text"'],
    ["a bad slug", pipeline(step("A_b")), "5:11 This must be small letters, digits and hyphens"],
    ["a bad choice", pipeline(step("a", "on_failure: explode")), "One of: fail, retry, continue."],
    [
      "a bad goto",
      pipeline(step("a", "on_failure: { goto: a, after: 3 }")),
      '"after" is unknown here. Known: goto, max_visits.',
    ],
    ["a number out of bounds", pipeline(step("a", "max_attempts: 99")), "Most attempts with"],
    [
      "an approval that retries",
      pipeline("{ id: a, approval: { message: x }, on_failure: retry }"),
      "One of: fail, continue.",
    ],
    ["an approval with an agent", pipeline("{ id: a, approval: { message: x }, agent: b }"), '"agent" is unknown here'],
    [
      "a route of a for_each",
      pipeline(step("a", "for_each: [1], route: { on: x, to: { y: a } }")),
      '"route" is unknown here',
    ],
    ["a step given twice", pipeline(step("a"), step("a")), '6:11 The step "a" is given twice.'],
    ["an unknown need", pipeline(step("a", "needs: [b]")), 'There is no step "b".'],
    ["an unknown goto", pipeline(step("a", "on_failure: { goto: b }")), 'There is no step "b".'],
    ["an unknown route", pipeline(step("a", "outputs: [v], route: { on: v, to: { x: b } }")), 'There is no step "b".'],
    ["a cycle", pipeline(step("a", "needs: [b]"), step("b", "needs: [a]")), "a → b → a"],
    ["a step that needs itself", pipeline(step("a", "needs: [a]")), "a → a"],
    [
      "forward routes that wait for each other",
      pipeline(step("a", "needs: [], on_failure: { goto: b }"), step("b", "needs: [], on_failure: { goto: a }")),
      "These steps wait for each other",
    ],
    [
      "a route by an output that is not declared",
      pipeline(step("a", "outputs: [x], route: { on: v, to: { y: a } }")),
      'the output "v"',
    ],
    [
      "a route by a value that cannot come",
      pipeline(
        step(
          "a",
          "output_schema: { type: object, properties: { v: { enum: [yes-it, no-it] } } }, route: { on: v, to: { maybe: a } }",
        ),
      ),
      'is never "maybe"',
    ],
    ["a schema that is not an object's", pipeline(step("a", "output_schema: { type: array }")), "type: object"],
    [
      "a schema with a pattern that is not valid",
      pipeline(step("a"), step("b", `output_schema: { type: object, properties: { v: { pattern: "(" } } }`)),
      "6:93 This is not a valid pattern",
    ],
    [
      "a schema with a reference to nothing",
      pipeline(step("a", `output_schema: { type: object, properties: { v: { $ref: "#/$defs/x" } } }`)),
      'There is nothing at "#/$defs/x"',
    ],
    [
      "an unknown variable",
      pipeline('{ id: a, agent: a, input: "x {{ task }}" }'),
      '5:34 There is no variable "task".',
    ],
    [
      "an output of a step that declares none",
      pipeline(step("a"), '{ id: b, agent: a, input: "{{ steps.a.outputs.x }}" }'),
      '6:32 The step "a" declares no outputs. Add `outputs: [x]` to it.',
    ],
    [
      "a route by an output of a step that declares none",
      pipeline(step("a", "route: { on: v, to: { x: a } }")),
      'does not declare the output "v"',
    ],
    ["an undeclared input", pipeline('{ id: a, agent: a, input: "{{ inputs.other }}" }'), 'declares no input "other"'],
    [
      "an unknown part of the project",
      pipeline('{ id: a, agent: a, input: "{{ project.owner }}" }'),
      '"project" has no "owner"',
    ],
    ["an unknown step", pipeline('{ id: a, agent: a, input: "{{ steps.b.outputs.x }}" }'), 'There is no step "b".'],
    [
      "an unknown part of a step",
      pipeline(step("a"), '{ id: b, agent: a, input: "{{ steps.a.result }}" }'),
      'has no "result"',
    ],
    ["item outside of for_each", pipeline('{ id: a, agent: a, input: "{{ item }}" }'), '"item" is known in the input'],
    ["code in a template", pipeline('{ id: a, agent: a, input: "{{ 1 + 1 }}" }'), "is not a variable"],
    ["braces left open", pipeline('{ id: a, agent: a, input: "{{ inputs.issue" }'), "never closed"],
    [
      "a step not run before",
      pipeline('{ id: a, agent: a, input: "{{ steps.b.outputs.x }}" }', step("b", "outputs: [x]")),
      'cannot have run before "a"',
    ],
    [
      "a step of a parallel branch",
      pipeline(
        step("a", "needs: [], outputs: [x]"),
        '{ id: b, needs: [], agent: a, input: "{{ steps.a.outputs.x }}" }',
      ),
      'cannot have run before "b"',
    ],
    [
      "itself without another try",
      pipeline('{ id: a, agent: a, input: "{{ steps.a.error }}" }'),
      "cannot have run before",
    ],
    ["a bad condition", pipeline(step("a", `when: "1 = 1"`)), "Write == to compare."],
    ["an unknown variable in a condition", pipeline(step("a", `when: "foo == 1"`)), 'There is no variable "foo".'],
    ["a for_each that is no variable", pipeline(step("a", "for_each: some text")), "a list or one variable"],
    ["a reserved id", "id: settings\nname: x\nsteps: [{ id: a, agent: a, input: x }]", "reserved word"],
    [
      "a reserved input name",
      "id: p\nname: x\ninputs: { __proto__: {} }\nsteps: [{ id: a, agent: a, input: x }]",
      "is not a name",
    ],
    ["a step named constructor", pipeline(step("constructor")), "is not a name"],
    ["an alias", "id: &x p\nname: *x\nsteps: []", "Anchors and aliases"],
  ])("%s is a problem", (_name, text, message) => {
    expect(firstOf(text)).toContain(message);
    expect(parsePipeline(text).definition).toBeUndefined();
  });

  test.each([
    [
      "a back-reference through a route",
      pipeline(
        '{ id: a, agent: a, input: "{{ steps.b.outputs.f }}" }',
        step("b", "outputs: [v, f], route: { on: v, to: { n: a } }"),
      ),
    ],
    [
      "a back-reference through goto",
      pipeline('{ id: a, agent: a, input: "{{ steps.b.error }}" }', step("b", "on_failure: { goto: a }")),
    ],
    ["its own error under retry", pipeline('{ id: a, agent: a, on_failure: retry, input: "{{ steps.a.error }}" }')],
    [
      "any output of a schema that names none",
      pipeline(
        step("a", "output_schema: { type: object }"),
        '{ id: b, agent: a, input: "{{ steps.a.outputs.any.thing.0 }}" }',
      ),
    ],
    ["needs of a later step", pipeline(step("a", "needs: [b]"), step("b", "needs: []"))],
    [
      "the whole of the outputs",
      pipeline(
        step("a", "outputs: [x]"),
        '{ id: b, agent: a, input: "{{ steps.a.outputs }}{{ inputs }}{{ project }}" }',
      ),
    ],
    [
      "the answer of an approval",
      pipeline("{ id: a, approval: { message: ok? } }", '{ id: b, agent: a, input: "{{ steps.a.outputs.comment }}" }'),
    ],
    ["a list written out", pipeline('{ id: a, agent: a, for_each: [1, two], input: "{{ item }} {{ index }}" }')],
  ])("%s is allowed", (_name, text) => {
    expect(problemsOf(text)).toEqual([]);
  });

  test("points into a block of text, at the line of the variable", () => {
    const text = "id: p\nname: P\nsteps:\n  - id: a\n    agent: a\n    input: |\n      one\n      two {{ nope }}\n";
    expect(problemsOf(text)[0]).toStartWith('8:11 There is no variable "nope".');
  });

  test("names of file and agents count when they are known", () => {
    const text = pipeline(step("a"));
    expect(parsePipeline(text, { fileId: "q" }).problems[0]?.message).toBe("The id must be the name of the file: q.");
    expect(parsePipeline(text, { agents: new Set(["b"]) }).problems[0]?.message).toBe('There is no agent "a".');
    expect(parsePipeline(text, { fileId: "p", agents: new Set(["a"]) }).problems).toEqual([]);
  });

  test("201 steps are too many", () => {
    expect(firstOf(pipeline(...Array.from({ length: 201 }, (_, i) => step(`s${i}`))))).toContain("at most 200 entries");
    expect(problemsOf(pipeline(...Array.from({ length: 200 }, (_, i) => step(`s${i}`))))).toEqual([]);
  });

  test("keys named like parts of every object pollute nothing", () => {
    parsePipeline(
      "__proto__: { polluted: 1 }\nid: p\nname: P\nsteps:\n  - { id: a, agent: a, input: x, __proto__: { polluted: 1 }, output_schema: { type: object, __proto__: { polluted: 1 } } }",
    );
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  test("any text, and the example with any piece changed, gives a definition or problems with places", () => {
    const changed = fc
      .tuple(fc.nat(EXAMPLE.length), fc.nat(30), fc.string({ maxLength: 10 }))
      .map(([at, cut, put]) => EXAMPLE.slice(0, at) + put + EXAMPLE.slice(at + cut));
    fc.assert(
      fc.property(fc.oneof(fc.string(), changed), (text) => {
        const { definition, problems } = parsePipeline(text);
        expect(definition === undefined).toBe(problems.length > 0);
        for (const { line, column, message } of problems) {
          expect(line).toBeGreaterThan(0);
          expect(column).toBeGreaterThan(0);
          expect(message.length).toBeGreaterThan(3);
        }
      }),
      { numRuns: 500 },
    );
  });

  test("100 kB in any field is judged within a second", () => {
    for (const big of [
      "a".repeat(100_000),
      "{{".repeat(50_000),
      "{{ a }}".repeat(14_000),
      "(".repeat(100_000),
      "a.".repeat(50_000),
      "-".repeat(100_000),
    ]) {
      const value = JSON.stringify(big);
      for (const field of ["id", "agent", "input", "when", "for_each", "model"]) {
        const fields = JSON.stringify({ id: "a", agent: "b", input: "x", [field]: "@" }).replace('"@"', value);
        const started = processorMs();
        parsePipeline(`id: p\nname: P\nsteps:\n  - ${fields}`);
        expectWork(`reading ${field}`, processorMs() - started, 200);
      }
    }
  });
});

describe("pipelineJsonSchema", () => {
  test("describes the format in JSON alone, closed to unknown keys", () => {
    const schema = pipelineJsonSchema();
    expect(schema["additionalProperties"]).toBe(false);
    expect(JSON.parse(JSON.stringify(schema))).toEqual(schema);
    const properties = schema["properties"] as { steps: { items: { anyOf: { required: string[] }[] } } };
    expect(properties.steps.items.anyOf.map(({ required }) => required)).toEqual([
      ["id", "agent", "input"],
      ["id", "agent", "input", "for_each"],
      ["id", "approval"],
      ["id", "run"],
    ]);
  });

  test("finds everything in one pass: shape, names, schemas, variables, conditions, braces without quotes", () => {
    const text = [
      "id: p",
      "name: P",
      "steps:",
      "  - id: one",
      "    agent: engineer",
      "    input: {{ task_description }}",
      "    output_schema:",
      "      type: object",
      "      properties:",
      "        a: { type: string, description: What was run, and what it showed. }",
      "        b: { type: string, desciption: x }",
      "        c: { type: string, default: null, x-note: null }",
      "  - id: two",
      "    needs: [onee]",
      "    agnt: engineer",
      '    input: "{{ steps.one.outputs.d }} {{ nope }}"',
      "  - id: three",
      "    agent: engineer",
      "    max_attempts: 99",
      "    input: Work.",
      '    when: "steps.two.outputs.x ="',
    ].join("\n");
    const said = parsePipeline(text).problems.map(({ line, message }) => `${line} ${message}`);
    const wanted = [
      /^6 A text that begins with \{\{ is put into quotes: /,
      /^10 JSON Schema has no keyword "and what it showed\."\. Put the text before it into quotes/,
      /^11 JSON Schema has no keyword "desciption"\. Did you mean description\?/,
      /^13 "agent" is missing/,
      /^14 There is no step "onee"/,
      /^15 "agnt" is unknown here/,
      /^16 The step "one" does not declare the output "d"/,
      /^16 There is no variable "nope"/,
      /^19 .* from 1 to 10/,
      /^21 Write == to compare/,
    ];
    expect(said).toEqual(wanted.map((pattern) => expect.stringMatching(pattern)));
  });

  test.each([
    ["a value", "input: {{ task_description }}"],
    ["the beginning of a value", "input: {{ task_description }} and more"],
    ["an entry of a list", "needs:\n      - {{ one }}\n    input: x"],
    ["a part of a variable", "input: {{ steps.one.outputs.a }}"],
  ])("two braces without quotes as %s are explained, once", (_name, lines) => {
    const text = `id: p\nname: P\nsteps:\n  - id: a\n    agent: engineer\n    ${lines}\n`;
    const { problems } = parsePipeline(text);
    expect(problems.map(({ message }) => message)).toEqual([expect.stringMatching(/^A text that begins with \{\{/)]);
  });

  test("a keyword of a schema without a value is a problem, null as a value is none", () => {
    const schema = (more: string) =>
      `id: p\nname: P\nsteps:\n  - { id: a, agent: b, input: x, output_schema: { type: object, ${more} } }\n`;
    expect(parsePipeline(schema("title:")).problems).toMatchObject([{ message: 'The keyword "title" has no value.' }]);
    expect(parsePipeline(schema("properties: { a: { const: null, default: null, x-ours: 1 } }")).problems).toEqual([]);
  });
});
