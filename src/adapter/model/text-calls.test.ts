/** Replies as models and servers give them when the model's template does not support tools. */
import { describe, expect, test } from "bun:test";
import type { ModelTool } from "../../engine/model.ts";
import { pythonicCalls } from "./pythonic-calls.ts";
import { callsIn, repairObject } from "./text-calls.ts";

const TOOLS: ModelTool[] = [
  { name: "ls", description: "", parameters: { type: "object", properties: { path: { type: "string" } } } },
  {
    name: "read",
    description: "",
    parameters: { type: "object", properties: { path: { type: "string" }, limit: { type: "integer" } } },
  },
];
const LS = { tool: "ls", input: { path: "src" } };
const READ = { tool: "read", input: { path: "42", limit: 7 } };

describe("calls written as text", () => {
  test.each([
    ["Hermes", 'I look.\n<tool_call>\n{"name": "ls", "arguments": {"path": "src"}}\n</tool_call>', "I look.", [LS]],
    [
      "Hermes, two and the last not closed",
      '<tool_call>{"name":"ls","arguments":{"path":"src"}}</tool_call>\n<tool_call>{"name":"read","arguments":{"path":"42","limit":7}}',
      "",
      [LS, READ],
    ],
    [
      "Hermes, arguments as a text",
      '<tool_call>{"name":"ls","arguments":"{\\"path\\":\\"src\\"}"}</tool_call>',
      "",
      [LS],
    ],
    [
      "Qwen 3 Coder",
      "Now:\n<tool_call>\n<function=read>\n<parameter=path>\n42\n</parameter>\n<parameter=limit>\n7\n</parameter>\n</function>\n</tool_call>",
      "Now:",
      [READ],
    ],
    ["Qwen 3 Coder without a frame", "<function=ls><parameter=path>src</parameter></function>", "", [LS]],
    ["Llama 3 with its tag", '<|python_tag|>{"name": "ls", "parameters": {"path": "src"}}<|eom_id|>', "", [LS]],
    ["Llama 3, the object alone", '{"name": "ls", "parameters": {"path": "src"}}', "", [LS]],
    ["Llama 3, fenced", '```json\n{"name": "ls", "parameters": {"path": "src"}}\n```', "", [LS]],
    ["Llama 3.1, a function", '<function=ls>{"path": "src"}</function>', "", [LS]],
    ["Mistral, a list", '[TOOL_CALLS] [{"name": "ls", "arguments": {"path": "src"}}]', "", [LS]],
    [
      "Mistral, by name",
      '[TOOL_CALLS]ls[ARGS]{"path": "src"}[TOOL_CALLS]read[ARGS]{"path": "42", "limit": 7}',
      "",
      [LS, READ],
    ],
    [
      "Mistral, a list after words",
      'I look.[TOOL_CALLS][{"name": "ls", "arguments": {"path": "src"}, "id": "a1"}]',
      "I look.",
      [LS],
    ],
    ["Llama 4", "[ls(path='src'), read(path=\"42\", limit=7)]<|eot|>", "", [LS, READ]],
    ["Llama 4 between its tags", '<|python_start|>[ls(path="src")]<|python_end|><|eom|>', "", [LS]],
    ["Llama 3.2 with its tag", 'Now:\n<|python_tag|>[ls(path="src"),]<|eom_id|>', "Now:", [LS]],
    ["broken JSON in a call", "<tool_call>{'name': 'ls', 'arguments': {'path': 'src',}}</tool_call>", "", [LS]],
  ])("%s", (_, text, said, calls) => {
    expect(callsIn(text, TOOLS)).toEqual({ said, calls });
  });

  test.each([
    ["mere words", "I would call ls with src."],
    ["a tool that was not offered", '<tool_call>{"name": "rm", "arguments": {}}</tool_call>'],
    ["an example in fenced code", 'As in:\n```\n<tool_call>{"name": "ls", "arguments": {}}</tool_call>\n```'],
    ["a quotation in the middle", '<tool_call>{"name": "ls", "arguments": {}}</tool_call> is what the file says.'],
    ["an object that is an answer", '{"name": "Ada", "age": 36}'],
    ["a list of a tool that was not offered", '[rm(path="src")]'],
    ["a list that was cut off", '[ls(path="src"), read(path="4'],
    ["a list with words after it", '[ls(path="src")] lists the folder.'],
    ["a list with a sum", '[read(path="a", limit=3+4)]'],
    ["a list with a name", "[ls(path=folder)]"],
    ["a list without names", '[ls("src")]'],
    ["a list of numbers", "[1, 2]"],
    ["an object that was cut off", '<tool_call>{"name": "ls", "arguments": {"path": "sr'],
  ])("%s: none", (_, text) => {
    expect(callsIn(text, TOOLS)).toBeUndefined();
  });

  test("a long text of half marks takes no longer than its length", () => {
    expect(callsIn("<tool_call><function=".repeat(20_000), TOOLS)).toBeUndefined();
  });
});

describe("Llama's pythonic form", () => {
  test("has every literal of Python, as its documentation and the tests of vLLM's parser show them", () => {
    const text = `[register_user(name='John Doe', age=37, address={'city': 'San Francisco', 'state': 'CA'}, role=None,
      passed_test=True, aliases=['John', 'Johnny', []], rate=-1.5e3, said="it\\'s \\"so\\"\\n\\d", more="""a "b"\nc""")]`;
    const input = {
      name: "John Doe",
      age: 37,
      address: { city: "San Francisco", state: "CA" },
      role: null,
      passed_test: true,
      aliases: ["John", "Johnny", []],
      rate: -1500,
      said: `it's "so"\n\\d`,
      more: 'a "b"\nc',
    };
    expect(pythonicCalls(text)).toEqual([{ tool: "register_user", input }]);
    expect(pythonicCalls("[get_weather(city='San Francisco'), f()]")).toEqual([
      { tool: "get_weather", input: { city: "San Francisco" } },
      { tool: "f", input: {} },
    ]);
  });

  test("what is too deep, and half a text of any kind, is none, in no longer than its length", () => {
    expect(pythonicCalls(`[f(a=${"[".repeat(200_000)}`)).toBeUndefined();
    expect(pythonicCalls(`[f(a='${"\\'".repeat(200_000)}`)).toBeUndefined();
    expect(pythonicCalls(`[${"f(),".repeat(200_000)}`)).toBeUndefined();
    const odd = '[f(__proto__={"a": 1})]';
    expect(Object.keys(pythonicCalls(odd)?.[0]?.input ?? {})).toEqual(["__proto__"]);
  });
});

describe("broken JSON", () => {
  test.each([
    ['{"path": "a",}', { path: "a" }],
    ["{'path': 'a'}", { path: "a" }],
    ['{path: "a", deep: True}', { path: "a", deep: true }],
    ['```json\n{"path": "a"}\n```', { path: "a" }],
    ['{"text": "two\nlines"}', { text: "two\nlines" }],
    ['"{\\"path\\": \\"a\\"}"', { path: "a" }],
  ])("%s is repaired", (text, value) => {
    expect(repairObject(text)).toEqual(value);
  });

  test.each([
    '{"path": "a',
    '{"text": "int f() { return 1; }',
    "src",
    "[1, 2]",
    '{"a": {"b": "c"',
    '{"a": {"b": "c"}',
    "{a: [1, 2}",
  ])("%s may mean something else: it stays as it is", (text) => {
    expect(repairObject(text)).toBeUndefined();
  });
});
