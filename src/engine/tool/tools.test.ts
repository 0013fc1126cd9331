import { afterAll, describe, expect, test } from "bun:test";
import { Problem } from "../../core/errors.ts";
import { createMasker } from "../../core/masking.ts";
import { skepCommand } from "../../testing/server.ts";
import { createTextWork } from "../../text/client.ts";
import type { Sandbox } from "../sandbox.ts";
import type { Tool, ToolContext } from "../tool.ts";
import { completeTool } from "./complete.ts";
import { createCreateSkillTool } from "./create-skill.ts";
import { failTool } from "./fail.ts";
import { createFetchUrlTool } from "./fetch-url.ts";
import { createGetRunHistoryTool } from "./get-run-history.ts";
import { createLoadSkillTool } from "./load-skill.ts";

const context: ToolContext = {
  execution: { id: "exe_1", sessionId: "sess_1", depth: 0, kind: "pipeline", agentId: "scribe" },
  callId: "call_1",
  sandbox: {} as Sandbox,
  aside: (wait) => wait,
  signal: new AbortController().signal,
  masker: createMasker({}),
  outside: () => undefined,
  onOutput() {},
};
const textWork = createTextWork({ command: skepCommand("text-worker") });
const { readableText } = textWork;
afterAll(() => textWork.close());
const bytes = (text: string) => new TextEncoder().encode(text);

describe("ending", () => {
  test("complete hands the outputs and the summary over and ends; fail ends with the reason", async () => {
    const done = await completeTool.run({ outputs: { a: 1 }, summary: "s" }, context);
    expect(done.end).toEqual({ status: "succeeded", outputs: { a: 1 }, summary: "s" });
    expect((await completeTool.run({ summary: "s" }, context)).end).toMatchObject({ outputs: {} });
    const failed = await failTool.run({ reason: "r" }, context);
    expect(failed.end).toEqual({ status: "failed", reason: "r" });
  });
});

describe("skills", () => {
  const asked: unknown[] = [];
  const load = createLoadSkillTool({
    loadSkill: ({ agentId }, name) => {
      asked.push([agentId, name]);
      return { name, content: "Look twice.", files: ["list.md"], trusted: name === "review" };
    },
    readSkillFile: ({ agentId }, ...rest) => {
      asked.push([agentId, ...rest]);
      return "the list";
    },
    listUnconfirmed: () => [{ name: "found", description: "Obey." }],
  });
  test("load_skill asks for the executing agent's skill, and names the files that come with it", async () => {
    const { output } = await load.run({ name: "review" }, context);
    expect(output).toContain("Look twice.");
    expect(output).toContain("list.md");
    expect((await load.run({ name: "review", file: "list.md" }, context)).output).toBe("the list");
    expect(asked).toEqual([
      ["scribe", "review"],
      ["scribe", "review"],
      ["scribe", "review", "list.md"],
    ]);
  });
  test("load_skill shows what nobody has confirmed as a quotation, and says that it marks the work", async () => {
    const listed = await load.run({}, context);
    expect(listed.output).toContain("> found: Obey.");
    const loaded = await load.run({ name: "found" }, context);
    expect(loaded.output).toContain("> Look twice.");
    const file = await load.run({ name: "found", file: "list.md" }, context);
    expect(file.output).toContain("> the list");
    for (const one of [listed, loaded, file]) expect(one.outside).toContain("nobody has confirmed");
    expect((await load.run({ name: "review" }, context)).outside).toBeUndefined();
  });
  test("create_skill writes at the executing agent's own level", async () => {
    const made: unknown[] = [];
    const create = createCreateSkillTool({ createSkill: ({ agentId }, ...rest) => void made.push([agentId, ...rest]) });
    await create.run({ name: "x", description: "d", content: "c" }, context);
    const marked = await create.run(
      { name: "y", description: "d", content: "c" },
      { ...context, outside: () => "Why." },
    );
    expect(marked.output).toContain("until a person confirms it, as this work may repeat outside text. Why.");
    expect(made).toEqual([
      ["scribe", { name: "x", description: "d", tags: [], content: "c" }, undefined],
      ["scribe", { name: "y", description: "d", tags: [], content: "c" }, "Why."],
    ]);
  });
});

describe("get_run_history", () => {
  test("passes its filter on with a default limit", async () => {
    const asked: unknown[] = [];
    const tool = createGetRunHistoryTool({
      outsideOf: () => undefined,
      runHistory: (execution, filter) => {
        asked.push([execution.agentId, filter]);
        return filter.status === "failed" ? [{ run_id: "run_1" }] : [];
      },
    });
    expect((await tool.run({ status: "failed" }, context)).output).toContain("run_1");
    expect((await tool.run({}, context)).output).toContain("no such runs");
    expect(asked[0]).toEqual(["scribe", { status: "failed", limit: 10 }]);
  });
});

describe("fetch_url", () => {
  const page = (contentType: string, text: string, status = 200) =>
    createFetchUrlTool({
      readableText,
      fetchPage: async (url) => ({ url, status, contentType, body: bytes(text), truncated: false }),
    });

  test("gives a page's words, headings and links, and neither its scripts nor its navigation", async () => {
    const html = `<html><head><style>b{}</style></head><body><nav>menu</nav><h1>Title</h1><p>One <b>two</b>.</p>
      <script>alert(1)</script><ul><li><a href="https://example.org/x">link</a></ul></body></html>`;
    const { ok, output } = await page("text/html; charset=utf-8", html).run({ url: "https://e.org/" }, context);
    expect(ok).toBe(true);
    for (const part of ["Title", "One two.", "https://example.org/x"]) expect(output).toContain(part);
    for (const part of ["alert", "menu", "b{}"]) expect(output).not.toContain(part);
  });

  test("a long text comes in parts that join to the whole", async () => {
    const whole = Array.from({ length: 9_000 }, (_, at) => `line ${at}`).join("\n");
    const tool = page("text/plain", whole);
    let joined = "";
    for (let offset: number | undefined = 0; offset !== undefined; ) {
      const { output } = await tool.run({ url: "https://e.org/", offset }, context);
      joined += output.replace(/^.*\nStatus 200\n\n/, "").replace(/\n\n\[\d+ characters more.*$/, "");
      const next = /continue with offset (\d+)/.exec(output)?.[1];
      offset = next === undefined ? undefined : Number(next);
    }
    expect(joined).toBe(whole);
  });

  test("an error status is a failed call that still shows the page; what is not text is refused", async () => {
    const missing = await page("text/plain", "gone", 404).run({ url: "https://e.org/" }, context);
    expect([missing.ok, missing.output.includes("gone")]).toEqual([false, true]);
    const picture = await page("image/png", "\0\0").run({ url: "https://e.org/" }, context);
    expect([picture.ok, picture.output.includes("not text")]).toEqual([false, true]);
  });

  test("the guard's refusal reaches the caller as it is", async () => {
    const refusing = createFetchUrlTool({
      readableText,
      fetchPage: async () => {
        throw new Problem(422, "address_refused", "no");
      },
    });
    expect(await refusing.run({ url: "http://10.0.0.1" }, context).catch((error) => error.code)).toBe(
      "address_refused",
    );
  });
});

test("every tool's name, description and parameters are there for the model", () => {
  const tools = [
    completeTool,
    failTool,
    createLoadSkillTool({
      loadSkill: () => ({ name: "", content: "", files: [], trusted: true }),
      readSkillFile: () => "",
      listUnconfirmed: () => [],
    }),
    createCreateSkillTool({ createSkill() {} }),
    createFetchUrlTool({ readableText, fetchPage: () => Promise.reject(new Error()) }),
    createGetRunHistoryTool({ outsideOf: () => undefined, runHistory: () => [] }),
  ] as Pick<Tool, "name" | "description" | "parameters">[];
  for (const { name, description, parameters } of tools) {
    expect(name).toMatch(/^[a-z_]+$/);
    expect(description.length).toBeGreaterThan(80);
    expect(parameters).toMatchObject({ type: "object" });
  }
});
