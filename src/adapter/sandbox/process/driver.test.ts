/** The sandbox without Docker: which commands it runs, in which environment, and what remains of them. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Sandbox, SandboxSpec } from "../../../engine/sandbox.ts";
import { endedAtLimit } from "../../../testing/busy-machine.ts";
import { isRunning } from "../../../testing/process-state.ts";
import { EXEC } from "../../../testing/sandbox-fixture.ts";
import { createProcessSandboxes } from "./driver.ts";

const never = new AbortController().signal;

describe("the process sandbox", () => {
  let workspace: string;
  let sandbox: Sandbox;
  const spec = (env: Record<string, string> = {}): SandboxSpec => ({
    executionId: "exe_test",
    sessionId: "sess_test",
    agentId: "engineer",
    home: workspace,
    network: "none",
    memoryMb: 64,
    cpus: 1,
    env,
  });
  const start = (allowHostShell: boolean, env?: Record<string, string>) =>
    createProcessSandboxes({ allowHostShell }).start(spec(env), never);
  const about = (allowHostShell: boolean) => createProcessSandboxes({ allowHostShell }).about(spec());
  const sh = (script: string, changes: Partial<typeof EXEC> = {}) =>
    sandbox.exec(["sh", "-c", script], { ...EXEC, ...changes });
  beforeAll(async () => {
    workspace = await mkdtemp(join(tmpdir(), "skep-process-"));
    sandbox = await start(true, { GRANTED: "yes" });
  });
  afterAll(async () => {
    await sandbox.stop();
    await rm(workspace, { recursive: true });
  });

  test("runs nothing but a search unless the operator allows it", async () => {
    const closed = await start(false);
    expect(closed.capabilities.shell).toBe(false);
    for (const argv of [
      ["sh", "-c", "touch ran"],
      ["touch", "ran"],
      ["/bin/grep", "x"],
      ["grep", "x", "hay"],
    ])
      await expect(closed.exec(argv, EXEC)).rejects.toMatchObject({ status: 403, code: "shell_disabled" });
    expect(existsSync(join(workspace, "ran"))).toBe(false);
    await closed.workspace.write("hay", Buffer.from("needle\n"));
    const search = ["grep", "-c", "needle", "--"];
    expect((await closed.exec(search, { ...EXEC, files: ["hay"] })).output).toBe("1\n");
  });

  test("a command reads the files that it is handed by their own names, and no others that these became", async () => {
    const outside = await mkdtemp(join(tmpdir(), "skep-outside-"));
    await Bun.write(join(outside, "key"), "needle outside\n");
    for (const name of ["-n", "a b:1", "deep/c"]) await sandbox.workspace.write(name, Buffer.from("a\nneedle\n"));
    await symlink(join(outside, "key"), join(workspace, "leads-out"));
    await sh("mkfifo pipe");
    const files = ["-n", "leads-out", "a b:1", "pipe", "gone", "deep/c"];
    const { output } = await sandbox.exec(["grep", "-nH", "-B1", "needle", "--"], { ...EXEC, files });
    const lines = ["-n", "a b:1", "deep/c"].map((name) => `${name}-1-a\n${name}:2:needle\n`);
    expect(output).toBe(lines.join("--\n"));
    for (const nothing of [[], ["gone", "leads-out"]])
      expect((await sandbox.exec(["grep", "needle", "--"], { ...EXEC, files: nothing })).output).toBe("");
    await rm(outside, { recursive: true });
  });

  test("50 MB that a command writes are held once at most, and a window of them costs the window", async () => {
    const MIB = 1024 ** 2;
    await sh("head -c 5000000 /dev/zero | tr '\\0' x");
    for (const [maxOutputBytes, mostMiB] of [
      [MIB, 150],
      [64 * MIB, 300],
    ] as const) {
      Bun.gc(true);
      const before = process.memoryUsage.rss();
      let most = before;
      const look = () => {
        most = Math.max(most, process.memoryUsage.rss());
      };
      const command = "head -c 50000000 /dev/zero | tr '\\0' x";
      const { output, omittedBytes } = await sh(command, { maxOutputBytes, onOutput: look });
      look();
      expect(output.replace(/\n.*\n/, "").length + omittedBytes).toBe(50_000_000);
      expect((most - before) / MIB).toBeLessThan(mostMiB);
    }
  });

  test("what the prompt says of it is true: where it may go, as whom its commands run, where they start", async () => {
    const { files, commands } = await about(true);
    const run = async (script: string) => (await sh(script)).output.trim();
    const [, home] = /Your files are in (\S+), where commands start/.exec(files) ?? [];
    expect(await run(`cd ${home} && pwd`)).toBe(await run("pwd -P"));
    const uid = await run("id -u");
    expect(commands).toContain(uid === "0" ? "as root," : `as the user with the number ${uid},`);
    expect(await run("cd; pwd -P")).toBe(await run("pwd -P"));
    const closed = await about(false);
    expect(closed.commands).toBe("");
    expect(JSON.stringify(closed)).not.toContain(workspace);
  });

  test("gives commands the granted variables and nothing of the server's own", async () => {
    process.env["SKEP_TEST_LEAK"] = "canary";
    try {
      const { output } = await sandbox.exec(["env"], { ...EXEC, env: { EXTRA: "mine" } });
      const names = output
        .trim()
        .split("\n")
        .map((line) => line.split("=")[0]);
      expect(names.filter((name) => !["PWD", "SHLVL", "_", "OLDPWD"].includes(name ?? "")).sort()).toEqual([
        "EXTRA",
        "GRANTED",
        "HOME",
        "LANG",
        "PATH",
        "SKEP_SANDBOX",
      ]);
    } finally {
      delete process.env["SKEP_TEST_LEAK"];
    }
  });

  test("gives exit codes, input, output in order, and the end of a command killed by a signal", async () => {
    expect(await sh("echo a; echo b >&2; echo c; exit 4")).toMatchObject({ exitCode: 4, output: "a\nb\nc\n" });
    expect((await sandbox.exec(["cat"], { ...EXEC, stdin: "in" })).output).toBe("in");
    expect((await sandbox.exec(["cat"], EXEC)).output).toBe("");
    expect((await sh("kill -9 $$")).exitCode).toBe(137);
    expect((await sandbox.exec(["no-such-program"], EXEC)).exitCode).toBe(127);
    const long = await sh("echo first; seq 100000; echo last", { maxOutputBytes: 2_000 });
    expect(long.output).toMatch(/^first\n.*bytes left out.*last\n$/s);
  });

  test("kills the whole group on time-out and abort, and what a command left in the background at its end", async () => {
    const LEFT = "sleep 600 & echo $!";
    const abort = new AbortController();
    const cases = [
      () =>
        endedAtLimit(
          300,
          (timeoutMs) => sh(`${LEFT}; wait`, { timeoutMs }),
          ({ output }) => output !== "",
        ),
      () => sh(`${LEFT}; wait`, { signal: abort.signal, onOutput: () => abort.abort() }),
      () => sh(LEFT),
    ];
    for (const [index, run] of cases.entries()) {
      const result = await run();
      expect(result.exitCode).toBe(index < 2 ? null : 0);
      expect(result.output).toMatch(/^\d+\n$/);
      // A dead process counts as running until its new parent has collected it.
      while (isRunning(Number(result.output))) await Bun.sleep(10);
    }
  });

  test("begins in no folder outside the workspace, also not through a link", async () => {
    await symlink("/etc", join(workspace, "link"));
    for (const cwd of ["link", "..", "/etc"])
      await expect(sh("pwd", { cwd })).rejects.toMatchObject({ status: expect.any(Number) });
    await sandbox.workspace.write("sub/x", new Uint8Array());
    expect((await sh("pwd", { cwd: "/workspace/sub" })).output.trim()).toEndWith("/sub");
  });

  test("is gone after stop with what runs in it", async () => {
    const other = await start(true);
    const up = Promise.withResolvers<void>();
    const running = other.exec(["sh", "-c", "echo up; sleep 60"], { ...EXEC, onOutput: () => up.resolve() });
    await up.promise;
    await other.stop();
    await other.stop();
    expect((await running).exitCode).toBe(137);
    await expect(other.exec(["true"], EXEC)).rejects.toMatchObject({ code: "sandbox_lost" });
  });
});
