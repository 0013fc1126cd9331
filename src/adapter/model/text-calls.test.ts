/** Replies as models and servers give them whose template knows no tools. */
import { describe, expect, test } from "bun:test";
import type { ModelTool } from "../../engine/model.ts";
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
    ["an object that was cut off", '<tool_call>{"name": "ls", "arguments": {"path": "sr'],
  ])("%s: none", (_, text) => {
    expect(callsIn(text, TOOLS)).toBeUndefined();
  });

  test("a long text of half marks takes no longer than its length", () => {
    expect(callsIn("<tool_call><function=".repeat(20_000), TOOLS)).toBeUndefined();
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
