/** Which replies end an execution and which do not: truncated, filtered, empty, or without a tool call. */
import { afterEach, describe, expect, test } from "bun:test";
import { createRigs } from "../testing/engine-rig.ts";
import { createHandModel } from "../testing/hand-model.ts";
import { OPEN_PROJECTS } from "../testing/open-projects.ts";
import type { ModelReply, ModelRequest } from "./model.ts";
import { textOf } from "./parts.ts";

const rigs = createRigs();
afterEach(rigs.close);

async function run(step = "", agent = "") {
  const model = createHandModel();
  const pipeline = `id: one\nname: One\nsteps:\n  - id: work\n    agent: worker\n    input: Work\n${step}`;
  const agents = { worker: `---\nname: Worker\n${agent}---\nYou work.` };
  const rig = await rigs.startRig({ pipelines: { one: pipeline }, agents, models: model });
  const { id } = rig.create("one");
  return {
    model,
    async waitForEnd() {
      await rig.waitForEnd(id);
      const { views } = rig.services.runs;
      const [row] = rig.steps(id);
      return {
        ...views.step(id, "work", undefined, { kind: "local", admin: true, projects: OPEN_PROJECTS }),
        text: row?.text,
      };
    },
  };
}
const toReply = (text: string, finish: ModelReply["finish"]): Partial<ModelReply> => ({
  parts: [{ type: "text", text }],
  finish,
});
const lastWords = ({ messages }: ModelRequest): string => {
  const last = messages.at(-1);
  return last?.role === "user" ? textOf(last.parts) : "";
};

describe("a step that declares no outputs", () => {
  test.each([
    ["length", "reply_cut", /cut at its length limit. Continue .* A tool call that was cut was not made/],
    ["content_filter", "content_filter", /held your reply back/],
  ] as const)("is not ended by a reply that ended by %s: it is asked for again, twice", async (finish, code, ask) => {
    const { model, waitForEnd } = await run();
    (await model.next()).reply(toReply("half of it", finish));
    for (let turn = 0; turn < 2; turn++) {
      const next = await model.next();
      expect(lastWords(next.request)).toMatch(ask);
      next.reply(toReply("again", finish));
    }
    expect(await waitForEnd()).toMatchObject({
      status: "failed",
      error: { code, message: expect.stringContaining("asked again 2 times") },
    });
    expect(model.calls).toHaveLength(3);
  });

  test("whose agent goes round in a circle is told so, then ended", async () => {
    const { model, waitForEnd } = await run();
    for (let made = 1; made <= 8; made++) {
      const next = await model.next();
      const told = JSON.stringify(next.request.messages).includes("made the same call three times");
      expect([made, told]).toEqual([made, made > 3]);
      next.reply([{ tool: "ls", input: { path: "." } }]);
    }
    expect(await waitForEnd()).toMatchObject({ status: "failed", error: { code: "agent_loops" } });
  });

  test("may make the same call again when its answer was another, or after another call", async () => {
    const { model, waitForEnd } = await run();
    for (let made = 0; made < 8; made++)
      (await model.next()).reply([{ tool: "ls", input: { path: made % 2 ? "." : "./" } }]);
    (await model.next()).reply([{ tool: "complete", input: { summary: "done" } }]);
    expect(await waitForEnd()).toMatchObject({ status: "succeeded" });
  });

  test("continues after a cut reply as if nothing had happened", async () => {
    const { model, waitForEnd } = await run();
    (await model.next()).reply(toReply("half of it", "length"));
    (await model.next()).reply([{ tool: "complete", input: { summary: "whole" } }]);
    expect(await waitForEnd()).toMatchObject({ status: "succeeded", text: "whole", ended_by: "complete" });
  });

  test("whose agent stops with words is reminded once; when it stops again, its words are the result", async () => {
    const { model, waitForEnd } = await run();
    (await model.next()).reply("I am done");
    const reminded = await model.next();
    expect(lastWords(reminded.request)).toContain("Call `complete`");
    reminded.reply("The answer is 42");
    expect(await waitForEnd()).toMatchObject({
      status: "succeeded",
      outputs: {},
      text: "The answer is 42",
      ended_by: "text",
      error: null,
    });
  });

  test("is reminded once in all, also when the agent continues in between", async () => {
    const { model, waitForEnd } = await run();
    (await model.next()).reply("I am done");
    (await model.next()).reply([{ tool: "ls" }]);
    (await model.next()).reply("Now I am");
    expect(await waitForEnd()).toMatchObject({ status: "succeeded", text: "Now I am", ended_by: "text" });
  });

  test("is not ended by silence", async () => {
    const { model, waitForEnd } = await run();
    (await model.next()).reply("");
    (await model.next()).reply("  ");
    expect(await waitForEnd()).toMatchObject({ status: "failed", error: { code: "no_completion" } });
  });
});

describe("words as the result of a step that must give outputs", () => {
  const SCHEMA = `    output_schema: { type: object, required: [n], properties: { n: { type: integer } } }\n`;
  const fenced = 'Here it is:\n```json\n{ "n": 3 }\n```\n';
  test.each([
    ["the one output that is owed", "    outputs: [answer]\n", "It is 42", { answer: "It is 42" }],
    ["a JSON object of what is owed", "    outputs: [a, b]\n", '{ "a": 1, "b": "x" }', { a: 1, b: "x" }],
    ["a fenced JSON object that fits the schema", SCHEMA, fenced, { n: 3 }],
  ])("are %s", async (_what, step, text, outputs) => {
    const { model, waitForEnd } = await run(step);
    (await model.next()).reply("Done");
    (await model.next()).reply(text);
    expect(await waitForEnd()).toMatchObject({ status: "succeeded", outputs, ended_by: "text" });
  });

  test.each([
    ["several outputs", "    outputs: [a, b]\n", "Just words"],
    ["a schema that they do not fit", SCHEMA, '{ "n": "three" }'],
  ])("are not used for %s: the step fails and keeps them", async (_what, step, text) => {
    const { model, waitForEnd } = await run(step);
    (await model.next()).reply("Done");
    (await model.next()).reply(text);
    expect(await waitForEnd()).toMatchObject({
      status: "failed",
      error: { code: "no_completion" },
      text,
      ended_by: null,
    });
  });
});
