/**
 * A followed run on a real terminal of 80 and of 120 columns, compared with screens beside this file, and without a
 * terminal.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../testing/command.ts";
import { expectFixture } from "../../testing/fixture.ts";
import { skepCommand, startServer, type TestServer } from "../../testing/server.ts";
import { openTerminal, type TestTerminal } from "../../testing/terminal.ts";

setDefaultTimeout(300_000);

const PIPELINE = {
  id: "bell",
  name: "Bell",
  description: "Rings",
  version: 1,
  steps: [
    { id: "plan", agent: "lead", input: "Plan", outputs: ["goal"] },
    {
      id: "agree",
      approval: {
        message: "Ring at night?\n\nIt wakes the whole street, and the dog, and anybody asleep at the back.",
      },
      on_failure: { goto: "plan" },
    },
    { id: "ring", agent: "scribe", input: "Ring {{ item }}", for_each: ["one", "two"], outputs: ["tone"] },
    { id: "write", agent: "scribe", input: "Write", outputs: ["report"] },
  ],
};
const SCRIPT = `version: 1
default:
  - { text: "I look around first.\\n", tool_calls: [{ tool: ls, input: { path: "." } }] }
  - { text: "That is all.\\n", tool_calls: [{ tool: complete, input: { outputs: "{{ outputs }}", summary: "Rang." } }] }
`;

let server: TestServer;
const folder = temporaryFolder();
beforeAll(async () => {
  const script = join(folder.path, "script.yml");
  writeFileSync(script, SCRIPT);
  server = await startServer({ env: { DEMO_SCRIPT: script } });
  expect((await server.request("POST", "/v1/pipelines", { body: PIPELINE })).status).toBe(201);
});
afterAll(async () => {
  await server.remove();
  folder.remove();
});

const open = (args: string[], options: { columns: number; rows?: number; env?: Record<string, string> }) =>
  openTerminal(skepCommand(...args, "--data", server.data), { ...options, env: { HOME: folder.path, ...options.env } });
const follow = (columns: number, env: Record<string, string> = {}, ...more: string[]) =>
  open(["run", "bell", "Ring the bell", "--follow", ...more], { columns, env });
const fixture = (name: string) => join(import.meta.dir, `fixtures/${name}.txt`);

/** The screen without what differs between runs: ids, places, times. */
const steady = (terminal: TestTerminal): string =>
  terminal
    .text()
    .replaceAll(server.url, "http://127.0.0.1:8000")
    .replaceAll(server.data, "/data")
    .replace(/\b(run|proj)_[0-9a-z]{26}/g, "$1_id")
    .replace(/ +\d+\.\d s| +\d+:\d\d(?!\d)/g, " TIME")
    .replace(/\d+ tokens/g, "N tokens");

describe("a followed run at a terminal", () => {
  for (const columns of [80, 120])
    test(`of ${columns} columns shows its tree, its question and its end as kept in the fixtures`, async () => {
      const terminal = follow(columns);
      await terminal.shows(/Approve\?/);
      const asked = steady(terminal);
      terminal.type("\r");
      await terminal.shows(/Answer y or n/);
      terminal.type("maybe\r");
      await terminal.shows(/(Answer y or n[\s\S]*){2}/);
      terminal.type("yes but softly\r");
      expect(await terminal.exited).toBe(0);
      expectFixture(fixture(`question-${columns}`), asked);
      expectFixture(fixture(`run-${columns}`), steady(terminal));
      for (const line of terminal.text().split("\n")) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(columns);
      expect(terminal.readOutput()).toEndWith("\n");
      expect(terminal.readOutput()).toContain("\x1b[?25h");
    });

  test("a bare Enter is no answer and costs nothing; no goes back with the comment", async () => {
    const terminal = follow(80);
    await terminal.shows(/Approve\?/);
    for (const times of [1, 2, 3]) {
      terminal.type("\r");
      await terminal.shows(new RegExp(`(Answer y or n[\\s\\S]*){${times}}`));
    }
    const [run] = (await server.request<{ items: { id: string }[] }>("GET", "/v1/runs?limit=1")).body.items;
    const calls = async () =>
      (await server.request<{ items: unknown[] }>("GET", `/v1/llm-calls?run_id=${run!.id}`)).body.items;
    expect(await calls()).toHaveLength(2);
    terminal.type("n too loud\r");
    await terminal.shows(/too loud[\s\S]*waits for your answer[\s\S]*then a comment\]\s*$/);
    expect(await calls()).toHaveLength(4);
    terminal.type("y\r");
    expect(await terminal.exited).toBe(0);
  });

  test("a question that is answered elsewhere goes away, and the run continues", async () => {
    const terminal = follow(80);
    await terminal.shows(/Approve\?/);
    const [run] = (await server.request<{ items: { id: string }[] }>("GET", "/v1/runs?limit=1")).body.items;
    const body = { step_id: "agree", approved: true };
    expect((await server.request("POST", `/v1/runs/${run!.id}/approve`, { body })).status).toBe(200);
    expect(await terminal.exited).toBe(0);
    expect(terminal.text()).toContain("succeeded: run_");
  });

  test("a question that was answered is not asked again when somebody follows later", async () => {
    const [run] = (await server.request<{ items: { id: string }[] }>("GET", "/v1/runs?limit=1")).body.items;
    const terminal = open(["runs", run!.id, "--follow"], { columns: 80 });
    expect(await terminal.exited).toBe(0);
    expect(terminal.text()).not.toContain("Approve?");
    expect(terminal.text()).toContain("4 of 4 steps");
  });

  test("Ctrl-C leaves it with the cursor back, at the question too", async () => {
    const terminal = follow(80);
    await terminal.shows(/Approve\?/);
    terminal.type("\x03");
    expect(await terminal.exited).toBe(130);
    expect(terminal.text()).toMatch(/left run_\w+ waiting; it continues/);
    expect(terminal.readOutput().lastIndexOf("\x1b[?25h")).toBeGreaterThan(
      terminal.readOutput().lastIndexOf("\x1b[?25l"),
    );
  });

  test("a terminal that becomes narrower keeps one tree", async () => {
    const terminal = follow(120);
    await terminal.shows(/Approve\?/);
    terminal.resize(60, 30);
    terminal.type("y\r");
    expect(await terminal.exited).toBe(0);
    expect(terminal.text().match(/^✔ write/gm)).toHaveLength(1);
  });

  test("NO_COLOR removes the colours and keeps the tree; TERM=dumb removes both", async () => {
    for (const [env, moves] of [
      [{ NO_COLOR: "1" }, true],
      [{ TERM: "dumb" }, false],
    ] as const) {
      const terminal = follow(80, env);
      await terminal.shows(/Approve\?/);
      terminal.type("y\r");
      expect(await terminal.exited).toBe(0);
      expect(terminal.readOutput()).not.toMatch(/\x1b\[3\d?m|\x1b\[[0-9]m/);
      expect([env, terminal.readOutput().includes("\x1b[0J\x1b") || /\x1b\[\d+A/.test(terminal.readOutput())]).toEqual([
        env,
        moves,
      ]);
      expect(terminal.text()).toMatch(/succeeded: run_/);
    }
  });

  test("--text shows what agents write above the tree, in whole lines under their step", async () => {
    const terminal = follow(80, {}, "--text");
    await terminal.shows(/Approve\?/);
    terminal.type("y\r");
    expect(await terminal.exited).toBe(0);
    expect(terminal.text()).toMatch(/^plan\n {2}I look around first\.\n {2}That is all\.$/m);
    expect(terminal.text()).toMatch(/✔ write[\s\S]*succeeded/);
  });
});
