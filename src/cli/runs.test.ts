/**
 * Runs from the command line, on a running server: created, shown, followed, left, cancelled, restarted and approved.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { skep, temporaryFolder } from "../testing/command.ts";
import { skepCommand, startServer, type TestServer } from "../testing/server.ts";

setDefaultTimeout(300_000);

const PIPELINE = (id: string, steps: object[]) => ({ id, name: id, description: id, version: 1, steps });
const SCRIPT = `version: 1
steps:
  slow: [{ text: "One moment.", chunk: 1, delay_ms: 300000 }]
  broken: [{ tool_calls: [{ tool: fail, input: { reason: "The bell is broken." } }] }]
default: [{ text: "Done.", tool_calls: [{ tool: complete, input: { outputs: "{{ outputs }}", summary: "Rang." } }] }]
`;

let server: TestServer;
const folder = temporaryFolder();
const cli = (...args: string[]) => skep([...args, "--data", server.data]);
const lines = (text: string) => text.split("\n").filter(Boolean);
/** Creates a run and returns its id. */
async function create(pipeline: string): Promise<string> {
  const body = { pipeline_id: pipeline, task_description: "Ring" };
  return (await server.request<{ id: string }>("POST", "/v1/runs", { body })).body.id;
}
/** Reads the run's stream until the server closes it at the run's end. */
const waitForEnd = (id: string) => server.request("GET", `/v1/events/stream?run_id=${id}`);

beforeAll(async () => {
  const script = join(folder.path, "script.yml");
  writeFileSync(script, SCRIPT);
  server = await startServer({ env: { DEMO_SCRIPT: script } });
  const pipelines = [
    PIPELINE("ring", [{ id: "ring", agent: "scribe", input: "Ring", outputs: ["tone"] }]),
    PIPELINE("slow", [{ id: "slow", agent: "scribe", input: "Ring slowly" }]),
    PIPELINE("broken", [{ id: "broken", agent: "scribe", input: "Ring" }]),
    PIPELINE("asked", [
      { id: "ask", approval: { message: "Ring at night?" } },
      { id: "ring", agent: "scribe", input: "Ring" },
    ]),
  ];
  for (const body of pipelines) expect((await server.request("POST", "/v1/pipelines", { body })).status).toBe(201);
});
afterAll(async () => {
  await server.remove();
  folder.remove();
});

describe("skep run on a server that runs", () => {
  test("creates the run, prints its id and how to follow it, and ends", async () => {
    const { code, stdout } = await cli("run", "ring", "Ring");
    expect(code).toBe(0);
    const [id, hint] = lines(stdout);
    expect(hint).toBe(`follow it with: skep runs ${id} --follow`);
    const followed = await cli("runs", id!, "--follow");
    expect(followed.code).toBe(0);
    expect(followed.stdout).toContain("▶ ring (scribe)");
    expect(followed.stdout).toMatch(new RegExp(`^succeeded: ${id}$`, "m"));
  });

  test("with --follow it shows the steps and ends with the outcome's code", async () => {
    const good = await cli("run", "ring", "Ring", "--follow");
    expect(good.code).toBe(0);
    expect(good.stdout).toMatch(
      /▶ ring \(scribe\)\nDone\.\n {2}· complete .*\n✔ ring\nsucceeded: run_\w+\n {2}ring:\n {4}tone: .*\n {2}folder: .*\n {2}cost: \$0\.00/,
    );
    const bad = await cli("run", "broken", "Ring", "--follow");
    expect(bad.code).toBe(1);
    expect(bad.stdout).toContain("✘ broken: The bell is broken.");
    expect(bad.stdout).toMatch(/^failed: run_\w+\n {2}broken: The bell is broken\.$/m);
  });

  test("with --json each event is a line, and the run the last", async () => {
    const { code, stdout } = await cli("run", "ring", "Ring", "--follow", "--json");
    expect(code).toBe(0);
    const all = lines(stdout).map((line) => JSON.parse(line) as { kind?: string; status?: string });
    expect(all[0]).toMatchObject({ kind: "run_created" });
    expect(all.at(-1)).toMatchObject({ status: "succeeded" });
  });

  test("what does not exist is one line: pipeline, project, model, input", async () => {
    const wrong: [args: string[], says: RegExp, code: number][] = [
      [["run", "nope", "Ring"], /There is no pipeline nope\. List them with: skep pipelines/, 1],
      [["run", "rung", "Ring"], /There is no pipeline rung\. Did you mean ring\?/, 1],
      [["run", "ring", "Ring", "--project", "nope"], /There is no project nope\. List/, 1],
      [
        ["run", "ring", "Ring", "--input", "tone=high"],
        /--input tone: .*There is no such input\. The pipeline takes none\./,
        1,
      ],
      [["agents", "set", "scribe", "temperature=abc"], /temperature must be a number from 0 to 2\.$/m, 1],
      [["agents", "set", "scribe", "thinking_level=huge"], /thinking_level must be one of off, low, medium, high/, 1],
      [["agents", "set", "scribe", "tools=read,fly"], /tools\.1: There is no tool "fly"\. There are: .*read, /, 1],
      [["settings", "set", "limits.max_turns=0"], /limits\.max_turns must be a whole number from 1 to \d+ or null/, 1],
      [["run", "ring", "Ring", "--model", "nope/x"], /model|provider/, 1],
      [["run", "ring", "Ring", "--input", "issue"], /--input.*NAME=VALUE/, 2],
      [["runs", "--limit", "x"], /limit/, 2],
      [["runs", "--status", "asleep"], /status/, 2],
    ];
    for (const [args, says, code] of wrong) {
      const ran = await cli(...args);
      expect(ran.stderr).toMatch(says);
      expect([args, lines(ran.stderr).length, ran.code]).toEqual([args, 1, code]);
    }
  });
});

describe("steering a run", () => {
  test("Ctrl-C leaves a followed run to continue; cancel stops it, and following then ends with 3", async () => {
    const id = await create("slow");
    const child = Bun.spawn(skepCommand("runs", id, "--follow", "--data", server.data), {
      env: { PATH: process.env["PATH"] ?? "" },
      stdin: "ignore" as const,
      ...({ stdout: "pipe", stderr: "pipe" } as const),
    });
    let said = "";
    for await (const chunk of child.stdout) {
      const before = said;
      said += new TextDecoder().decode(chunk);
      if (!before.includes("▶ slow") && said.includes("▶ slow")) child.kill("SIGINT");
    }
    expect(await child.exited).toBe(130);
    expect(said).toContain(`left ${id} running; it continues`);
    expect((await cli("runs", id)).stdout).toMatch(/^running: run_\w+\n\nSTEP .*\nslow +running +1 +scribe/);
    const cancelled = await cli("cancel", id);
    expect(cancelled.code).toBe(0);
    expect((await cli("runs", id, "--follow")).code).toBe(3);
    const again = await cli("cancel", id);
    expect(again.code).toBe(1);
    expect(lines(again.stderr)).toHaveLength(1);
  });

  test("restart continues a run that failed; one that succeeded is refused in one line", async () => {
    const id = await create("broken");
    await waitForEnd(id);
    expect((await cli("restart", id)).code).toBe(0);
    expect((await cli("runs", id, "--follow")).code).toBe(1);
    expect((await cli("runs", id)).stdout).toMatch(/broken +failed +2 /);
    const good = await create("ring");
    await waitForEnd(good);
    const refused = await cli("restart", good);
    expect([refused.code, lines(refused.stderr).length]).toEqual([1, 1]);
  });

  test("approve answers a step that waits for a person, yes or no", async () => {
    for (const [flags, outcome] of [
      [["--comment", "But softly"], "succeeded"],
      [["--reject"], "failed"],
    ] as const) {
      const id = await create("asked");
      const following = cli("runs", id, "--follow");
      const status = async () => (await server.request<{ status: string }>("GET", `/v1/runs/${id}`)).body.status;
      while ((await status()) !== "waiting") await Bun.sleep(20);
      expect((await cli("approve", id, "ask", ...flags)).code).toBe(0);
      const { stdout } = await following;
      expect(stdout).toContain("? ask: Ring at night?");
      expect(stdout).toContain(`answer with: skep approve ${id} ask`);
      expect(stdout).toMatch(new RegExp(`^${outcome}: ${id}`, "m"));
    }
  });

  test("the list is newest first and can be narrowed", async () => {
    const id = await create("ring");
    await waitForEnd(id);
    const { items } = JSON.parse((await cli("runs", "--json", "--pipeline", "ring", "--limit", "1")).stdout);
    expect(items.map((run: { id: string }) => run.id)).toEqual([id]);
    const failed = (await cli("runs", "--status", "failed")).stdout;
    expect(failed).toContain("broken");
    expect(failed).not.toContain(id);
  });
});
