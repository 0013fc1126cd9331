import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { LOCAL_ADMIN } from "../http/caller.ts";
import { endedAtLimit } from "../testing/busy-machine.ts";
import { dockerForTests, testImage } from "../testing/docker-image.ts";
import { createRigs, type Rig } from "../testing/engine-rig.ts";

const { startRig, close } = createRigs();
afterEach(close);
const docker = await dockerForTests(process.env);

const HOST_SHELL = { ALLOW_HOST_SHELL: "true" };
const SCRIPT = `
default:
  - tool_calls: [{ tool: complete, input: { outputs: "{{ outputs }}", summary: Played. } }]
`;
/** Starts a run with these steps, given as YAML flow maps. */
async function running(steps: string[], options: { env?: Record<string, string>; task?: string } = {}) {
  const text = `id: p\nname: P\nsteps:\n${steps.map((step) => `  - ${step}\n`).join("")}`;
  const rig = await startRig({ pipelines: { p: text }, script: SCRIPT, env: options.env ?? HOST_SHELL });
  return { rig, run: rig.create("p", options.task) };
}
const stepsOf = (rig: Rig, id: string) =>
  rig.steps(id).map(({ step_id, attempt, status, outputs }) => [step_id, attempt, status, outputs["exit_code"]]);
const command = (run: string, more = "") => `{ id: c, run: ${JSON.stringify(run)}${more ? `, ${more}` : ""} }`;

describe("a command step", () => {
  test("runs in the workspace without a model, with its folder and environment, and gives its output", async () => {
    const { rig, run } = await running(
      [
        "{ id: make, run: 'mkdir sub && echo made' }",
        `{ id: say, run: 'pwd; echo "$TASK" $N', working_directory: sub, env: { TASK: "{{ task_description }}", N: 3 } }`,
      ],
      { task: "it's $(touch hacked); `touch hacked`" },
    );
    const ended = await rig.waitForEnd(run.id);
    expect(ended).toMatchObject({ status: "succeeded", cost_usd: 0, tokens: 0 });
    const said = (ended.outputs as { say: { output: string; exit_code: number } }).say;
    expect(said.exit_code).toBe(0);
    expect(said.output).toEndWith("/sub\nit's $(touch hacked); `touch hacked` 3");
    expect(existsSync(join(rig.workspaceOf(run.id), "sub", "hacked"))).toBe(false);
    expect(rig.calls()).toBe(0);
    const kinds = rig.events().filter(({ run_id }) => run_id === run.id);
    expect(kinds.filter(({ kind }) => kind === "tool_call_start")).toHaveLength(2);
    expect(kinds.some(({ kind, data }) => kind === "agent_output" && JSON.stringify(data).includes("made"))).toBe(true);
    const shown = rig.services.runs.views.steps(run.id, { limit: 10, after: null }, LOCAL_ADMIN).items;
    expect(shown.map(({ kind, agent_id }) => [kind, agent_id])).toEqual([
      ["command", null],
      ["command", null],
    ]);
  });

  test("an exit code that is not 0 fails the step; its output is what later steps read", async () => {
    const { rig, run } = await running([
      command("echo 2 of 9 red; exit 3", "on_failure: continue"),
      `{ id: d, run: 'echo "$SAID" / $STATUS', env: { SAID: "{{ steps.c.outputs.output }}", STATUS: "{{ steps.c.status }}" } }`,
    ]);
    const ended = await rig.waitForEnd(run.id);
    expect(ended.outputs).toEqual({ d: { output: "2 of 9 red / failed", exit_code: 0 } });
    expect(rig.steps(run.id)[0]).toMatchObject({
      status: "failed",
      outputs: { output: "2 of 9 red", exit_code: 3 },
      error: { code: "command_failed", message: "The command ended with exit code 3: 2 of 9 red" },
    });
  });

  test("retry, goto and route mean what they mean for agents", async () => {
    const again = await running([command("test -f there || { touch there; exit 1; }", "on_failure: retry")]);
    expect(await again.rig.waitForEnd(again.run.id)).toMatchObject({ status: "succeeded" });
    expect(stepsOf(again.rig, again.run.id)).toEqual([
      ["c", 1, "failed", 1],
      ["c", 2, "succeeded", 0],
    ]);
    const back = await running([
      "{ id: fix, run: 'echo x >> count' }",
      command("test $(wc -l < count) -eq 2", "on_failure: { goto: fix }"),
    ]);
    expect(await back.rig.waitForEnd(back.run.id)).toMatchObject({ status: "succeeded" });
    expect(stepsOf(back.rig, back.run.id).filter(([id]) => id === "fix")).toHaveLength(2);
    const routed = await running([
      command("exit 4", 'route: { on: exit_code, to: { "4": last } }'),
      "{ id: skipped, run: 'true' }",
      "{ id: last, run: echo last }",
    ]);
    expect(await routed.rig.waitForEnd(routed.run.id)).toMatchObject({ status: "succeeded" });
    expect(stepsOf(routed.rig, routed.run.id).map(([id, , status]) => `${id} ${status}`)).toEqual([
      "c failed",
      "skipped skipped",
      "last succeeded",
    ]);
  });

  test("a time-out keeps what was written until then", async () => {
    const late = async (ms: number) => {
      const { rig, run } = await running([command("echo begun; sleep 600", `timeout_seconds: ${ms / 1_000}`)]);
      expect(await rig.waitForEnd(run.id)).toMatchObject({
        status: "failed",
        error: { code: "timeout", message: `It took longer than its ${ms / 1_000} s.` },
      });
      return rig.steps(run.id)[0]?.outputs;
    };
    const outputs = await endedAtLimit(1_000, late, (got) => got?.["output"] === "begun");
    expect(outputs).toEqual({ output: "begun", exit_code: null });
  });

  test("a long output is cut in the middle and is whole in the workspace", async () => {
    const { rig, run } = await running([command("seq 1 20000")]);
    const { outputs } = await rig.waitForEnd(run.id);
    const { output } = (outputs as { c: { output: string } }).c;
    expect(output.length).toBeLessThan(40_000);
    const [, path] = /is in (\S+):/.exec(output) ?? [];
    const whole = readFileSync(join(rig.workspaceOf(run.id), path ?? ""), "utf8");
    expect(whole).toBe(`${Array.from({ length: 20_000 }, (_, at) => at + 1).join("\n")}\n`);
  });

  test("a long output that fails is named by its own last line", async () => {
    const { rig, run } = await running([command("seq 1 20000; echo 3 of 9 red; exit 1")]);
    const { error } = await rig.waitForEnd(run.id);
    expect(error?.message).toBe("The command ended with exit code 1: 3 of 9 red");
  });

  test("cancelled, it ends, and its processes with it", async () => {
    const { rig, run } = await running([command("echo $$ > pid; sleep 600")]);
    await rig.event(({ kind, run_id }) => kind === "tool_call_start" && run_id === run.id);
    const file = join(rig.workspaceOf(run.id), "pid");
    while (!existsSync(file) || readFileSync(file, "utf8").trim() === "") await Bun.sleep(10);
    rig.services.runs.cancel(run.id, LOCAL_ADMIN);
    await rig.event(({ kind, run_id }) => kind === "session_ended" && run_id === run.id);
    const pid = Number(readFileSync(file, "utf8"));
    expect(() => process.kill(pid, 0)).toThrow();
  });

  test("one that a stop of the server interrupted is run again from its start; what succeeded is not", async () => {
    const { rig, run } = await running([
      "{ id: once, run: echo x >> once }",
      command("echo x >> starts; test $(wc -l < starts) -gt 1 || sleep 600"),
    ]);
    const starts = join(rig.workspaceOf(run.id), "starts");
    await rig.event(({ kind, step_id }) => kind === "tool_call_start" && step_id === "c");
    // The shell creates the file before it writes to it.
    while (Bun.file(starts).size === 0) await Bun.sleep(10);
    await rig.restart();
    expect(await rig.waitForEnd(run.id)).toMatchObject({ status: "succeeded" });
    expect(readFileSync(join(rig.workspaceOf(run.id), "once"), "utf8")).toBe("x\n");
    const ends = rig.events().filter(({ kind, step_id }) => kind === "tool_call_end" && step_id === "c");
    expect(ends.map(({ data }) => (data as { interrupted?: boolean }).interrupted ?? false)).toEqual([true, false]);
  });

  test("has no token of the server, and no secrets unless it borrows an agent's sandbox", async () => {
    const { rig } = await running([
      "{ id: plain, run: env }",
      "{ id: borrowed, agent: worker, needs: [], run: 'env; printf %s\\n $DEPLOY | sha256sum' }",
    ]);
    const { id } = rig.services.secrets.create({ name: "DEPLOY", value: "s3cret-value" }, LOCAL_ADMIN);
    rig.services.secrets.grant(id, "worker", LOCAL_ADMIN);
    const { outputs } = await rig.waitForEnd(rig.create("p").id);
    const { plain, borrowed } = outputs as Record<string, { output: string }>;
    expect(`${plain?.output}${borrowed?.output}`).not.toContain("ENGINE_INTERNAL_TOKEN");
    expect(plain?.output).not.toContain("SKEP_AGENT_ID");
    expect(plain?.output).not.toContain("DEPLOY");
    // The command gets the value, and the stored output has it masked.
    expect(borrowed?.output).toContain("DEPLOY=[");
    expect(borrowed?.output).not.toContain("s3cret-value");
    expect(borrowed?.output).toContain("SKEP_AGENT_ID=worker");
  });

  test("no command runs in the sandbox of an agent that may not use bash itself", async () => {
    const text = "id: p\nname: P\nsteps:\n  - { id: c, agent: quiet, run: env }\n";
    const quiet = "---\nname: Quiet\ntools: [read]\n---\nYou read.";
    const rig = await startRig({ pipelines: { p: text }, agents: { quiet }, script: SCRIPT, env: HOST_SHELL });
    expect(await rig.waitForEnd(rig.create("p").id)).toMatchObject({
      status: "failed",
      error: { code: "shell_denied" },
    });
  });

  test("values that no system takes into an environment fail the step with the reason", async () => {
    const { rig } = await running([`{ id: c, run: echo hi, env: { T: "{{ task_description }}" } }`]);
    const long = await rig.waitForEnd(rig.create("p", "x".repeat(150_000)).id);
    expect(long.error).toMatchObject({ code: "bad_command", message: expect.stringContaining("T has 150000 bytes") });
    expect((await rig.waitForEnd(rig.create("p", "a\0b").id)).error).toMatchObject({ code: "bad_command" });
    expect(await rig.waitForEnd(rig.create("p", "x".repeat(99_000)).id)).toMatchObject({ status: "succeeded" });
  });

  test("where agents have no shell, the step fails and says so", async () => {
    const { rig, run } = await running([command("true")], { env: {} });
    expect(await rig.waitForEnd(run.id)).toMatchObject({ status: "failed", error: { code: "shell_disabled" } });
  });
});

describe.skipIf(!docker)("a command step in a container", () => {
  test("sees its workspace and nothing of the machine, ends when cancelled, and leaves no container", async () => {
    const env = { SANDBOX: "docker", AGENT_IMAGE: await testImage(docker!), IMAGE_PULL: "false" };
    const { rig, run } = await running(
      ["{ id: c, run: 'pwd; id -u; echo made > made.txt' }", "{ id: d, run: 'cat made.txt; echo waiting; sleep 600' }"],
      { env },
    );
    await rig.event(({ kind, data }) => kind === "agent_output" && JSON.stringify(data).includes("waiting"));
    rig.services.runs.cancel(run.id, LOCAL_ADMIN);
    await rig.event(({ kind, step_id }) => kind === "session_ended" && step_id === "d");
    const [first] = rig.steps(run.id);
    expect(first?.outputs["output"]).toMatch(/^\/workspace\n[1-9]\d*$/);
    await rig.stop();
    const left = await docker!.containers.list([`skep.run=${run.id}`]);
    expect(left).toEqual([]);
  }, 300_000);
});
