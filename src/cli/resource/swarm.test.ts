/** `skep swarm`, driven as a person would. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type RunOptions, skep, temporaryFolder } from "../../testing/command.ts";
import { startServer, type TestServer } from "../../testing/server.ts";

setDefaultTimeout(300_000);

const folder = temporaryFolder();
const script = join(folder.path, "script.yml");
let server: TestServer;
beforeAll(async () => {
  const complete = { tool: "complete", input: { outputs: { n: 1 }, summary: "I read: {{ user }}" } };
  const fail = { tool: "fail", input: { reason: "cannot" } };
  const agents = { scribe: [{ tool_calls: [complete] }], researcher: [{ tool_calls: [fail] }] };
  writeFileSync(script, JSON.stringify({ version: 1, agents }));
  server = await startServer({ env: { DEMO_SCRIPT: script } });
});
afterAll(async () => {
  await server.remove();
  folder.remove();
});

const cli = (args: readonly string[], options: RunOptions = {}) => skep([...args, "--data", server.data], options);
const file = (name: string, text: string): string => {
  const path = join(folder.path, name);
  writeFileSync(path, text);
  return path;
};
const GOOD = `agent_id: scribe
tasks:
  - { key: one, prompt: First }
  - { key: two, prompt: Second, depends_on: [one] }
`;

describe("skep swarm", () => {
  test("run --follow says what happens, task by task, shows how it ended, and exits with the matching code", async () => {
    const good = await cli(["swarm", "run", file("good.yml", GOOD), "--follow", "--outputs"]);
    expect([good.stderr, good.code]).toEqual(["", 0]);
    expect(good.stdout).toStartWith("▶ one (scribe)\n✔ one\n▶ two (scribe)\n✔ two\nsucceeded\n");
    expect(good.stdout).toContain("2 succeeded; at most 3 at once");
    expect(good.stdout).toContain("\ntwo\nI read: Second\n");
    const bad = await cli(["swarm", "run", "-", "--follow"], {
      stdin: JSON.stringify({
        agent_id: "researcher",
        tasks: [
          { key: "a", prompt: "x" },
          { key: "b", prompt: "y", depends_on: ["a"] },
        ],
      }),
    });
    expect([bad.stderr, bad.code]).toEqual(["", 1]);
    expect(bad.stdout).toContain(
      "✘ a failed: cannot\n✘ b skipped: A task that it depends on did not succeed.\nfailed\n",
    );
  });

  test("run, list, show and cancel answer in words and in JSON", async () => {
    const made = await cli(["swarm", "run", file("good.yml", GOOD)]);
    const [id = "", hint] = made.stdout.split("\n");
    expect([id.slice(0, 4), hint]).toEqual(["swm_", `follow it with: skep swarm show ${id} --follow`]);
    expect((await cli(["swarm", "show", id.slice(-6), "--follow"])).code).toBe(0);
    const shown = JSON.parse((await cli(["swarm", "show", id, "--json"])).stdout);
    expect(shown).toMatchObject({
      id,
      status: "succeeded",
      tasks: [{ key: "one", outputs: { n: 1 } }, { key: "two" }],
    });
    const list = await cli(["swarm", "list"]);
    expect(list.stdout).toBe((await cli(["swarm"])).stdout);
    expect(list.stdout).toContain(id);
    const late = await cli(["swarm", "cancel", id]);
    expect([late.code, late.stderr]).toEqual([1, "skep: The swarm has ended already.\n"]);
  });

  test.each([
    [
      "a circle",
      "agent_id: scribe\ntasks: [{ key: a, prompt: x, depends_on: [b] }, { key: b, prompt: y, depends_on: [a] }]",
      "tasks.0.depends_on: These tasks wait for each other: a → b → a.",
    ],
    ["no YAML", "agent_id: [", "wrong.yml: "],
    ["no map", "- one", "agent_id and tasks are needed"],
    ["no agent of that name", "agent_id: nobody\ntasks: [{ key: a, prompt: x }]", "There is no agent nobody."],
  ])("refuses %s in one line", async (_, text, why) => {
    const { code, stderr } = await cli(["swarm", "run", file("wrong.yml", text)]);
    expect([code, stderr.trimEnd().split("\n").length]).toEqual([1, 1]);
    expect(stderr).toContain(why);
  });
});
