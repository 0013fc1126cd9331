import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../core/clock.ts";
import type { ModelMessage, ModelRequest, ModelTool } from "../../engine/model.ts";
import type { AssistantPart } from "../../engine/parts.ts";
import { sample } from "./sample-outputs.ts";
import { parseScript } from "./script-file.ts";
import { createScriptedModel } from "./scripted.ts";

let base: string;
let root: string;
beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), "skep-scripts-"));
  root = join(base, "scripts");
  await mkdir(root);
});
afterAll(() => rm(base, { recursive: true }));

const tool = (name: string, parameters: Record<string, unknown> = { type: "object" }): ModelTool => ({
  name,
  description: name,
  parameters,
});
const TOOLS = ["ls", "read", "write", "complete", "fail"].map((name) => tool(name));

const request = (more: Partial<ModelRequest> = {}): ModelRequest => ({
  model: "demo/scripted",
  system: "system",
  messages: [{ role: "user", parts: [{ type: "text", text: "Say hello" }] }],
  tools: TOOLS,
  thinkingLevel: "off",
  scope: { agentId: "scribe", stepId: "greet", sessionId: "s" },
  signal: new AbortController().signal,
  ...more,
});

let made = 0;
async function createPlayer(text: string) {
  const name = `script-${made++}.yml`;
  await writeFile(join(root, name), text);
  const model = createScriptedModel({ clock: systemClock, scriptsDir: root });
  return (more: Partial<ModelRequest> = {}, scope: Partial<ModelRequest["scope"]> = {}) =>
    model.call(request({ ...more, scope: { agentId: "scribe", sessionId: "s", ...scope, script: name } }));
}

const text = (parts: AssistantPart[]) => parts.map((part) => (part.type === "text" ? part.text : "")).join("");
const calls = (parts: AssistantPart[]) => parts.filter((part) => part.type === "tool_call");
/** Runs the loop of an engine whose tools all answer `ok`. */
async function playThrough(
  model: { call: (request: ModelRequest) => Promise<{ parts: AssistantPart[] }> },
  tools = TOOLS,
) {
  const messages: ModelMessage[] = [{ role: "user", parts: [{ type: "text", text: "Say hello" }] }];
  for (let turn = 0; turn < 10; turn++) {
    const { parts } = await model.call(request({ messages, tools }));
    messages.push({ role: "assistant", parts });
    const made = calls(parts);
    if (made.length === 0 || made.some((part) => part.tool === "complete" || part.tool === "fail")) break;
    const results = made.map((part) => ({ call_id: part.call_id, tool: part.tool, ok: true, output: "ok" }));
    messages.push({ role: "tool", results });
  }
  return messages.flatMap((message) => (message.role === "assistant" ? message.parts : []));
}

describe("the built-in transcript", () => {
  test("says that it is scripted, looks around, writes HELLO.md and completes with a summary", async () => {
    const parts = await playThrough(createScriptedModel({ clock: systemClock }));
    expect(parts[0]).toMatchObject({ type: "text", text: expect.stringContaining("not an AI") });
    expect(calls(parts).map((part) => part.tool)).toEqual(["ls", "read", "write", "complete"]);
    expect(calls(parts)[2]!.input).toMatchObject({ path: "HELLO.md", content: expect.stringContaining("Say hello") });
    expect(calls(parts)[3]!.input).toMatchObject({ outputs: { summary: expect.any(String) } });
    expect(new Set(calls(parts).map((part) => part.call_id)).size).toBe(4);
  });

  test("leaves out tools that the agent lacks, and still completes", async () => {
    const parts = await playThrough(createScriptedModel({ clock: systemClock }), [tool("complete"), tool("fail")]);
    expect(calls(parts).map((part) => part.tool)).toEqual(["complete"]);
  });

  test("gives every output that the step asks for, so that a pipeline can be run dry", async () => {
    const outputs = {
      type: "object",
      required: ["verdict", "score"],
      properties: {
        verdict: { enum: ["approved", "changes"] },
        score: { type: "integer", minimum: 3 },
        tasks: { type: "array", items: { type: "object", properties: { title: { type: "string" } } } },
      },
    };
    const complete = tool("complete", { type: "object", properties: { outputs } });
    const parts = await playThrough(createScriptedModel({ clock: systemClock }), [complete]);
    expect(calls(parts)[0]!.input).toMatchObject({
      outputs: { verdict: "approved", score: 3, tasks: [{ title: expect.stringContaining("Scripted") }] },
    });
  });

  test("answers every turn of a chat, naming itself", async () => {
    const model = createScriptedModel({ clock: systemClock });
    const messages: ModelMessage[] = [];
    for (const said of ["first", "second", "third"]) {
      messages.push({ role: "user", parts: [{ type: "text", text: said }] });
      const answer = await model.call(request({ messages, tools: [tool("ls")] }));
      expect(answer.finish).toBe("stop");
      expect(text(answer.parts)).toContain("demo/scripted");
      expect(text(answer.parts)).toContain(`"${said}"`);
      messages.push({ role: "assistant", parts: answer.parts });
    }
  });
});

describe("a transcript file", () => {
  test("is keyed by step, then agent, then default", async () => {
    const play = await createPlayer(
      `{version: 1, steps: {design: [{text: S}]}, agents: {scribe: [{text: A}]}, default: [{text: D}]}`,
    );
    expect(text((await play({}, { stepId: "design" })).parts)).toBe("S");
    expect(text((await play({}, { stepId: "other" })).parts)).toBe("A");
    expect(text((await play({}, { agentId: "toString" })).parts)).toBe("D");
  });

  test("plays the turn after the assistant messages there are, the same for the same request", async () => {
    const play = await createPlayer(
      "version: 1\ndefault:\n  - text: one\n    tool_calls: [{tool: ls}]\n  - text: two\n",
    );
    const messages: ModelMessage[] = [
      { role: "user", parts: [{ type: "text", text: "go" }] },
      { role: "assistant", parts: [] },
    ];
    const [first, again, second] = [await play(), await play(), await play({ messages })];
    expect(text(first.parts)).toBe("one");
    expect(again.parts).toEqual(first.parts);
    expect(first).toMatchObject({ finish: "tool_calls", model: "demo/scripted", provider: "demo", cost_usd: 0 });
    expect(text(second.parts)).toBe("two");
    expect(second.finish).toBe("stop");
  });

  test("fills placeholders once, deep in inputs, and leaves unknown ones alone", async () => {
    const play = await createPlayer(
      `{version: 1, default: [{text: "{{ user }}|{{nobody}}", tool_calls: [{tool: write, input: {a: ["{{ last_tool_output }}"]}}]}]}`,
    );
    const messages: ModelMessage[] = [
      { role: "user", parts: [{ type: "text", text: "{{ last_tool_output }}" }] },
      { role: "tool", results: [{ call_id: "c", tool: "ls", ok: true, output: "README.md" }] },
    ];
    const answer = await play({ messages });
    expect(text(answer.parts)).toBe("{{ last_tool_output }}|{{nobody}}");
    expect(calls(answer.parts)[0]!.input).toEqual({ a: ["README.md"] });
  });

  test("streams in pieces at its pace", async () => {
    const play = await createPlayer("{version: 1, default: [{text: abcde🐝gh, thinking: hm, chunk: 3, delay_ms: 80}]}");
    const shown: string[] = [];
    const answer = await play({ onText: (piece) => void shown.push(piece) });
    expect(shown).toEqual(["abc", "de🐝", "gh"]);
    expect(answer.duration_ms).toBeGreaterThanOrEqual(70);
    expect(answer.parts).toMatchObject([
      { type: "thinking", text: "hm" },
      { type: "text", text: "abcde🐝gh" },
    ]);
    expect(answer.usage.output_tokens).toBeGreaterThan(0);
  });

  test("an abort ends a slow turn, without its tool calls", async () => {
    const play = await createPlayer(
      "{version: 1, default: [{text: abcdef, chunk: 1, delay_ms: 600000, tool_calls: [{tool: ls}]}]}",
    );
    const answer = await play({ signal: AbortSignal.timeout(50) });
    expect(answer).toMatchObject({ finish: "aborted" });
    expect(calls(answer.parts)).toEqual([]);
  });

  test("that calls a tool the agent lacks, or has come to its end, says so and fails", async () => {
    const lacks = await createPlayer("{version: 1, default: [{tool_calls: [{tool: fly}]}]}");
    expect(calls((await lacks()).parts)).toMatchObject([
      { tool: "fail", input: { reason: expect.stringContaining('"fly"') } },
    ]);
    const ended = await createPlayer("{version: 1, default: []}");
    expect(calls((await ended()).parts)).toMatchObject([{ tool: "fail" }]);
    const mute = await ended({ tools: [tool("complete")] });
    expect(mute).toMatchObject({ finish: "stop" });
    expect(text(mute.parts)).toContain("no turn 1");
  });

  test("that is wrong, missing or outside its folder is an error which shows none of its content", async () => {
    await writeFile(join(base, "secret.yml"), "root:x:0:0:TOPSECRET");
    await symlink(join(base, "secret.yml"), join(root, "link.yml"));
    await writeFile(join(root, "typo.yml"), "{version: 1, default: [{txt: TOPSECRET}]}");
    await writeFile(join(root, "broken.yml"), "version: 1\ndefault: [TOPSECRET: {");
    const model = createScriptedModel({ clock: systemClock, scriptsDir: root });
    for (const script of ["none.yml", "link.yml", "../secret.yml", "/etc/passwd", "typo.yml", "broken.yml"]) {
      const answer = await model.call(request({ scope: { agentId: "a", sessionId: "s", script } }));
      expect(answer, script).toMatchObject({ finish: "error", error: { code: "script_invalid", retryable: false } });
      expect(JSON.stringify(answer)).not.toContain("TOPSECRET");
    }
  });
});

test("a mistake in a transcript is reported with its place", () => {
  expect(() => parseScript("{version: 1, default: [{text: a, tool_cals: []}]}")).toThrow("/default/0/tool_cals");
  expect(() => parseScript("{version: 2}")).toThrow("/version");
  expect(() => parseScript("just text")).toThrow("transcript");
});

test("made-up values fit their schema's kind", () => {
  expect(sample({ type: "boolean" }, "x")).toBe(true);
  expect(sample({ const: 7 }, "x")).toBe(7);
  expect(sample({ anyOf: [{ type: "number", exclusiveMinimum: 4 }] }, "x")).toBe(5);
  expect(sample({ type: "array", minItems: 2, items: { enum: ["b"] } }, "x")).toEqual(["b", "b"]);
  expect(sample({ type: "string", maxLength: 5 }, "x")).toHaveLength(5);
});
