/**
 * A31 and A39: whatever a model, a page or a schema gives to the server, its event loop must keep answering others.
 * Every tool of the engine and every keyword of JSON Schema is tested with input that is meant to be slow. Features'
 * tools are in stall-features.test.ts.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type Case, lines, MiB, one, type StallRig, stallRig } from "./stall-rig.ts";

setDefaultTimeout(300_000);

const edit = (old_text: string, new_text: string, more: Record<string, unknown> = {}) =>
  one("edit", { path: "f", edits: [{ old_text, new_text, ...more }] });

/** Half a megabyte of nested brackets. */
const deep = (pairs: number) => `${'{"a":['.repeat(pairs)}1${"]}".repeat(pairs)}`;
const DEEP = deep(60_000);
const TOOLS: Case[] = [
  {
    name: "any: nested 10,000 levels deep",
    calls: one("write", deep(5_000)),
    says: /must be a JSON object, not \(arguments nested more than 200 levels deep\)/,
  },
  {
    name: "edit: not there, in 3 million lines",
    files: { f: lines(3_000_000, "a") },
    calls: edit(lines(25_000, " a  b"), "x"),
    says: /at most|not in the file/,
  },
  {
    name: "edit: not there, in 100,000 lines",
    files: { f: lines(100_000, "a b c d e f g h") },
    calls: edit(lines(2_000, "a  b c d e f g"), "x"),
    says: /not in the file/,
  },
  {
    name: "edit: almost there, in 250,000 characters",
    files: { f: lines(32_000, "a b c d") },
    calls: edit(`${lines(16_000, "a b  c d")}x`, "x"),
    says: /not in the file/,
  },
  {
    name: "edit: almost there, at every place",
    files: { f: "ab".repeat(2 * MiB) },
    calls: edit(`${"ab".repeat(200_000)}ba`, "x"),
    says: /not in the file/,
  },
  {
    name: "edit: everywhere",
    files: { f: "a".repeat(4 * MiB) },
    calls: edit("a", "b", { replace_all: true }),
    says: /more than 100000 times/,
  },
  {
    name: "edit: grows without end",
    files: { f: "aaaa".repeat(10_000) },
    calls: one("edit", {
      path: "f",
      edits: [1, 2].map(() => ({ old_text: "a", new_text: "a".repeat(100_000), replace_all: true })),
    }),
    says: /would have 4000000000 characters/,
  },
  {
    name: "edit: a hundred in 4 MiB",
    files: { f: lines(100_000, "one two three four five six seven") },
    calls: one("edit", {
      path: "f",
      edits: Array.from({ length: 100 }, (_, i) => ({
        old_text: i % 2 ? "one" : "two",
        new_text: i % 2 ? "two" : "one",
        replace_all: true,
      })),
    }),
    says: /Edited|more than 100000 times/,
  },
  {
    name: "edit: white space alone",
    files: { f: " ".repeat(250_000) },
    calls: edit(`${" ".repeat(250_000)}x`, "y"),
    says: /not in the file/,
  },
  {
    name: "read: 16 MiB of line breaks",
    files: { f: "\n".repeat(16 * MiB) },
    calls: one("read", { path: "f" }),
    says: /of 16777216/,
  },
  {
    name: "read: one line of 16 MiB",
    files: { f: "x".repeat(16 * MiB) },
    calls: one("read", { path: "f" }),
    says: /line cut/,
  },
  {
    name: "read: the last of 3 million lines",
    files: { f: lines(3_000_000, "a") },
    calls: one("read", { path: "f", offset: 3_000_000 }),
    says: /3000000\\ta/,
  },
  {
    name: "write: a megabyte of line breaks",
    calls: one("write", { path: "f", content: "\n".repeat(400_000) }),
    says: /400000 lines/,
  },
  {
    name: "ls: 10,000 files",
    files: Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`d/${i}`, ""])),
    calls: one("ls", { path: "d" }),
    says: /more; use find/,
  },
  {
    name: "find: a pattern of stars over 20,000 files",
    files: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`d${i % 20}/${"a".repeat(60)}${i}`, ""])),
    calls: one("find", { pattern: `${"*a".repeat(200)}b` }),
    says: /Nothing found/,
  },
  {
    name: "find: braces over 20,000 files",
    files: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`d${i % 20}/${"a".repeat(60)}${i}`, ""])),
    calls: one("find", { pattern: "{*a,*b}".repeat(70) }),
    says: /./,
  },
  {
    name: "find: hostile .gitignore",
    files: {
      ".gitignore": lines(1_000, `${"*a".repeat(200)}b`),
      ...Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`d${i % 5}/${"a".repeat(60)}${i}`, ""])),
    },
    calls: one("find", { pattern: "*" }),
    says: /./,
  },
  {
    name: "grep: a pattern that backtracks",
    files: { f: `${"a".repeat(100_000)}!\n` },
    calls: one("grep", { pattern: "^(a+)+$", path: "f" }),
    says: /./,
  },
  {
    name: "grep: a million matches",
    files: { f: lines(1_000_000, "a") },
    calls: one("grep", { pattern: "a" }),
    says: /more than 500 lines/,
  },
  {
    name: "grep: one match of 16 MiB",
    files: { f: `${"a".repeat(16 * MiB - 1)}\n` },
    calls: one("grep", { pattern: "a" }),
    says: /./,
  },
  {
    name: "grep: a glob of stars",
    files: Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`${"a".repeat(60)}${i}`, "a\n"])),
    calls: one("grep", { pattern: "b", glob: `${"*a".repeat(200)}b` }),
    says: /No matches/,
  },
  { name: "bash: refused", calls: one("bash", { command: "a".repeat(90_000) }), says: /./ },
  {
    name: "create_skill: a name that backtracks",
    calls: one("create_skill", { name: `${"a-".repeat(200_000)}!`, description: "x", content: "x" }),
    says: /does not fit|match/,
  },
  {
    name: "create_skill: content of brackets",
    calls: one("create_skill", { name: "brackets", description: "[".repeat(400), content: "[{&*!%".repeat(16_000) }),
    says: /kept/,
  },
  { name: "load_skill: a file of dots", calls: one("load_skill", { name: "x", file: "../".repeat(160) }), says: /./ },
  { name: "get_run_history", calls: one("get_run_history", { since: "9".repeat(40) }), says: /./ },
  {
    name: "code_graph_query: 400,000 words",
    calls: one("code_graph_query", { query: "ab ".repeat(130_000) }),
    says: /./,
  },
  {
    name: "code_graph_context: a name of separators",
    calls: one("code_graph_context", { symbol_name: ".:#/".repeat(100_000) }),
    says: /./,
  },
  {
    name: "code_graph_impact: a name of separators",
    calls: one("code_graph_impact", { target: ".:#/".repeat(100_000) }),
    says: /./,
  },
  ...["path", "tests", "reads", "flow"].map((question) => ({
    name: `code_graph_ask: ${question} of separators`,
    calls: one("code_graph_ask", { question, subject: ".:#/ ".repeat(80_000), to: "x" }),
    says: /./,
  })),
  { name: "code_graph_changes", calls: one("code_graph_changes", {}), says: /./ },
  {
    name: "fetch_url: an address of dots",
    calls: one("fetch_url", { url: `http://127.0.0.1/${"../".repeat(1_000)}` }),
    says: /./,
  },
  {
    name: "complete: outputs 20,000 deep",
    calls: one("complete", `{"summary":"x","outputs":{"a":${"[".repeat(20_000)}${"]".repeat(20_000)}}}`),
    says: /./,
  },
  {
    name: "complete: outputs of 400,000 members",
    calls: one("complete", `{"summary":"x","outputs":{"a":[${"0,".repeat(400_000)}0],"b":{"c":[`),
    says: /must be a JSON object/,
  },
  { name: "fail: a reason too long", calls: one("fail", { reason: "x".repeat(500_000) }), says: /does not fit/ },
  { name: "no such tool", calls: one("x".repeat(60), "null"), says: /There is no tool/ },
  { name: "arguments that are null", calls: one("read", "null"), says: /must be a JSON object, not null/ },
  { name: "arguments that are a list", calls: one("ls", "[1]"), says: /must be a JSON object, not \[1\]/ },
  { name: "arguments that are not JSON", calls: one("ls", '{"path": '), says: /must be a JSON object/ },
  {
    name: "20,000 calls in one reply",
    calls: Array.from({ length: 20_000 }, () => ({ name: "ls", input: {} })),
    says: /a reply may hold 100 calls/,
  },
];

const many = (count: number, make: (i: number) => unknown = (i) => i) =>
  Array.from({ length: count }, (_, i) => make(i));
/**
 * For each keyword, a value that makes it slow. It causes seconds of work, which would be obvious if the server did it
 * itself. Only `$ref` takes longer than a check may take.
 */
const KEYWORDS: Record<string, { schema: Record<string, unknown>; value: unknown }> = {
  uniqueItems: { schema: { uniqueItems: true }, value: many(8_000, (i) => ({ a: { b: i } })) },
  pattern: { schema: { pattern: "^((a+)+)+$" }, value: `${"a".repeat(50_000)}!` },
  patternProperties: { schema: { patternProperties: { "^((a+)+)+$": {} } }, value: { [`${"a".repeat(50_000)}!`]: 1 } },
  propertyNames: { schema: { propertyNames: { pattern: "^((a+)+)+$" } }, value: { [`${"a".repeat(50_000)}!`]: 1 } },
  enum: { schema: { items: { enum: many(300, (i) => ({ a: [i] })) } }, value: many(20_000, () => ({ a: [299] })) },
  const: { schema: { items: { const: many(300) } }, value: many(800, () => many(100)) },
  anyOf: { schema: { items: { anyOf: many(300, (i) => ({ const: i })) } }, value: many(30_000, () => 299) },
  allOf: { schema: { items: { allOf: many(300, () => ({ type: "number" })) } }, value: many(40_000) },
  oneOf: { schema: { items: { oneOf: many(300, (i) => ({ const: i })) } }, value: many(30_000, () => 299) },
  not: { schema: { items: { not: { anyOf: many(300, (i) => ({ const: i })) } } }, value: many(30_000, () => -1) },
  if: {
    schema: { items: { if: { uniqueItems: true }, else: { uniqueItems: true } } },
    value: [many(8_000, (i) => ({ i }))],
  },
  contains: {
    schema: { contains: { enum: many(300, (i) => ({ i })) }, minContains: 100_000 },
    value: many(24_000, () => ({ i: 299 })),
  },
  $ref: {
    schema: {
      $defs: {
        a: { anyOf: [{ items: { $ref: "#/properties/v/$defs/a" } }, { items: { $ref: "#/properties/v/$defs/a" } }] },
      },
      $ref: "#/properties/v/$defs/a",
    },
    value: nest(22),
  },
  "$ref to itself": { schema: { $ref: "#/properties/v" }, value: 1 },
  format: { schema: { items: { format: "email" } }, value: many(1_000, () => `${"a.".repeat(100)}@`) },
  "format of dates and addresses": {
    schema: {
      allOf: ["date-time", "uri", "ipv6", "hostname", "idn-email", "regex", "json-pointer", "uri-template"].map(
        (format) => ({ format }),
      ),
    },
    value: "a.:-/".repeat(40_000),
  },
  items: {
    schema: { items: { items: { items: { type: "number" } } } },
    value: many(60, () => many(40, () => many(30))),
  },
  prefixItems: {
    schema: { prefixItems: many(300, () => ({ minLength: 1 })), items: { uniqueItems: true } },
    value: many(60_000, () => "x"),
  },
  unevaluatedItems: { schema: { unevaluatedItems: { uniqueItems: true } }, value: [many(8_000, (i) => ({ i }))] },
  properties: {
    schema: { properties: Object.fromEntries(many(300).map((i) => [`p${i}`, { type: "string" }])) },
    value: Object.fromEntries(many(20_000).map((i) => [`p${i}`, 1])),
  },
  additionalProperties: {
    schema: { additionalProperties: { enum: many(300, (i) => [i]) } },
    value: Object.fromEntries(many(15_000).map((i) => [`p${i}`, [299]])),
  },
  unevaluatedProperties: {
    schema: { unevaluatedProperties: { enum: many(300, (i) => [i]) } },
    value: Object.fromEntries(many(15_000).map((i) => [`p${i}`, [299]])),
  },
  dependentSchemas: {
    schema: { dependentSchemas: { p1: { uniqueItems: true, additionalProperties: { enum: many(300, (i) => [i]) } } } },
    value: Object.fromEntries(many(15_000).map((i) => [`p${i}`, [299]])),
  },
  dependentRequired: { schema: { dependentRequired: { p1: many(300, (i) => `q${i}`) } }, value: { p1: 1 } },
  required: { schema: { items: { required: many(300, (i) => `q${i}`) } }, value: many(20_000, () => ({})) },
  multipleOf: { schema: { items: { multipleOf: 1e-300 } }, value: many(20_000, (i) => 1e300 + i) },
  maxLength: { schema: { maxLength: 10, minLength: 5 }, value: "\u{1F600}".repeat(100_000) },
  type: { schema: { items: { type: ["null", "boolean", "object", "array", "string"] } }, value: many(40_000) },
};

function nest(depth: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < depth; i++) value = [value, value].slice(0, i % 2 ? 2 : 1);
  return value;
}

/** Pages of 2 MB each, the most that is fetched. */
const PAGES: Record<string, string> = {
  "nested tags": "<div>".repeat(400_000),
  "unclosed attributes": '<a href="'.repeat(200_000),
  "table cells": `<table><tr>${"<td>x".repeat(400_000)}`,
  "nested lists": "<ul><li>".repeat(250_000),
  links: '<a href="x">y</a>'.repeat(110_000),
  entities: "&amp;".repeat(400_000),
  spaces: " ".repeat(2_000_000),
  "headings in tables": "<table><tr><td><h1>".repeat(100_000),
};

const SCHEMAS: Case[] = Object.entries(KEYWORDS).map(([keyword, { schema, value }]) => ({
  name: keyword,
  calls: one("complete", { summary: "x", outputs: { v: value } }),
  schema: { type: "object", properties: { v: schema } },
  says: /Done|could not be held|do not fit/,
}));

describe("the event loop answers others while it works on", () => {
  let rig: StallRig;
  const pages = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: ({ url }) =>
      new Response(PAGES[decodeURIComponent(new URL(url).search.slice(1))], {
        headers: { "Content-Type": "text/html" },
      }),
  });

  beforeAll(async () => {
    rig = await stallRig();
    // Use everything once first, so that what is loaded on first use is loaded.
    await rig.play({ name: "warm up", calls: [...one("ls", {}), ...one("read", { path: "x" })], says: /./ });
    await rig.play({ ...SCHEMAS[0]!, name: "warm up" });
  });
  afterAll(async () => {
    await rig?.stop();
    await pages.stop(true);
  });

  describe("hostile input of a tool:", () => {
    test.each(TOOLS.map((one) => [one.name, one] as const))("%s", (_name, one) => rig.expectNoStall(one));
  });
  test.each(
    [
      ..."[ { - ? : , & * ! | > # % @ ` ' \" \\".split(" "),
      "- ",
      "? ",
      "a: ",
      "a:\n ",
      "{a,",
      "[[",
      "a: b\n",
      "- a\n",
      "{{ ",
      "{{ a.b }}",
      "<<: ",
      "\t",
      "\n",
      "é",
      "a: |\n ",
    ].map((piece) => [piece]),
  )("a file of %j: pipeline, agent, skill", async (piece) => {
    const text = piece.repeat(Math.floor(240_000 / piece.length));
    const step = (input: string) => ({ id: "p", name: "P", steps: [{ id: "a", agent: "stranger", input }] });
    for (const [path, body] of [
      ["/v1/pipelines", { source: text }],
      ["/v1/pipelines", { source: `id: p\nname: P\nsteps:\n  - ${text}` }],
      ["/v1/pipelines", step(text.slice(0, 200_000))],
      ["/v1/agents", { id: "x", source: `---\n${text}\n---\nx` }],
      ["/v1/agents", { id: "x", prompt: text.slice(0, 100_000), description: text.slice(0, 2_000) }],
      ["/v1/skills", { name: "x", description: text.slice(0, 500), content: text.slice(0, 100_000) }],
      ["/v1/skills", { source: `---\n${text}\n---\nx` }],
    ] as const) {
      const name = `${path} ${JSON.stringify(body)}`;
      await rig.requestWithoutStall(name, () => rig.server.request("POST", path, { body }));
    }
  });

  test("a body nested as deep as it can be is refused, wherever it is sent", async () => {
    for (const [method, path, body] of [
      ["POST", "/v1/projects", `{"name":"x","description":${DEEP}}`],
      ["POST", "/v1/runs", `{"pipeline_id":"hello","task_description":"x","inputs":${DEEP}}`],
      ["PATCH", "/v1/preferences", `{"x":${DEEP}}`],
      ["POST", "/v1/mcp/import", DEEP],
      ["PUT", "/v1/settings", `{"limits":${DEEP}}`],
      ["POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${DEEP}}`],
    ] as const) {
      const headers = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
      const send = async () => {
        const answer = await fetch(rig.server.url + path, { method, body, headers });
        return { status: answer.status, code: ((await answer.json()) as { code: string }).code };
      };
      expect([path, await send()]).toEqual([path, { status: 400, code: "too_much_json" }]);
      await rig.requestWithoutStall(path, send);
    }
  });

  describe("a page of", () => {
    test.each(Object.keys(PAGES))("%s", (name) =>
      rig.expectNoStall({
        name,
        calls: one("fetch_url", { url: `http://127.0.0.1:${pages.port}/?${encodeURIComponent(name)}` }),
        says: /Status 200|takes too long|too much memory|cannot be worked on/,
      }),
    );
  });

  describe("a schema's", () => {
    test.each(SCHEMAS.map((one) => [one.name, one] as const))("%s", (_name, one) => rig.expectNoStall(one));
  });
});
