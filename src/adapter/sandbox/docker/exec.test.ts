/** Commands in real containers. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { endedAtLimit } from "../../../testing/busy-machine.ts";
import { dockerForTests, testImage } from "../../../testing/docker-image.ts";
import { EXEC, type SandboxFixture, sandboxFixture } from "../../../testing/sandbox-fixture.ts";
import type { DockerClient } from "../../docker.ts";
import type { DockerSandbox as Sandbox } from "./driver.ts";
import { CONTAINER_LIMITS } from "./lock-down.ts";

const docker = await dockerForTests(process.env);

describe.skipIf(!docker)("commands in a container", () => {
  const engine = docker as DockerClient;
  let fixture: SandboxFixture;
  let sandbox: Sandbox;
  beforeAll(async () => {
    fixture = sandboxFixture({ docker: engine, defaultImage: await testImage(engine) });
    sandbox = await fixture.start({ env: { GRANTED: "of the spawn" } });
  });
  afterAll(() => fixture.end());

  const sh = (script: string, changes: Partial<typeof EXEC> = {}) =>
    sandbox.exec(["sh", "-c", script], { ...EXEC, ...changes });
  /**
   * Command lines of the container's processes without those of this check. Busybox runs its applets as /proc/self/exe.
   */
  const processes = async () => {
    const { output } = await sh("ps -o args | tail -n +2");
    return output.split("\n").filter((line) => line !== "" && !/ps -o args|tail -n|^\[exe\]$/.test(line));
  };

  test("argument vectors arrive as they are, and the exit code comes back", async () => {
    const strange = ["", " a b ", "$HOME", "`id`", "'\"\\", "-n", "ü\n", "*"];
    const echoed = await sandbox.exec(
      ["sh", "-c", 'for a in "$@"; do printf "[%s]" "$a"; done; exit 7', "sh", ...strange],
      EXEC,
    );
    expect(echoed).toMatchObject({
      exitCode: 7,
      output: strange.map((text) => `[${text}]`).join(""),
      timedOut: false,
      aborted: false,
      omittedBytes: 0,
    });
    expect(await sandbox.exec(["no-such-program"], EXEC)).toMatchObject({ exitCode: 127 });
  });

  test("stdout and stderr come together, and as they happen", async () => {
    const chunks: string[] = [];
    // The command ends once its first line was received.
    const result = await sh("echo one; echo two >&2; until [ -e received ]; do sleep 0.05; done; echo three", {
      onOutput: (text) => {
        if (chunks.length === 0) void sandbox.workspace.write("received", new Uint8Array());
        chunks.push(text);
      },
    });
    expect(result.output.split("\n").sort()).toEqual(["", "one", "three", "two"]);
    expect(chunks.join("")).toBe(result.output);
  });

  test("standard input of any bytes reaches the command, and its end", async () => {
    const bytes = new Uint8Array(3_000_000).map((_, index) => (index * 31) % 256);
    const expected = new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
    const result = await sandbox.exec(["sha256sum"], { ...EXEC, stdin: bytes });
    expect(result.output).toStartWith(expected);
    expect((await sandbox.exec(["cat"], { ...EXEC, stdin: "" })).output).toBe("");
    // A command that does not read its input ends as well.
    expect((await sandbox.exec(["true"], { ...EXEC, stdin: bytes })).exitCode).toBe(0);
    // Without input, a reader sees the end of its input at once.
    expect((await sandbox.exec(["cat"], EXEC)).timedOut).toBe(false);
  });

  test("a folder and variables of the call count for that call only", async () => {
    await sandbox.workspace.write("sub folder/x", new Uint8Array());
    const result = await sh("pwd; echo $EXTRA $GRANTED", { cwd: "sub folder", env: { EXTRA: "mine" } });
    expect(result.output).toBe("/workspace/sub folder\nmine of the spawn\n");
    expect((await sh("pwd; echo $EXTRA", { cwd: "/tmp" })).output).toBe("/tmp\n\n");
    expect(await sh("pwd", { cwd: "nowhere" })).toMatchObject({ exitCode: 126 });
  });

  test("of much output the head and the tail are kept, and what is left out is counted", async () => {
    const { output, omittedBytes } = await sh("echo first; yes | head -c 5000000; echo last", {
      maxOutputBytes: 10_000,
    });
    expect(output).toStartWith("first\n");
    expect(output).toEndWith("last\n");
    expect(output.length).toBeLessThan(10_100);
    expect(omittedBytes).toBe(5_000_011 - 10_000);
    expect(output).toContain(`${omittedBytes} bytes left out`);
  });

  test("a time-out kills the whole tree: children, grandchildren, and what left the session", async () => {
    const before = await processes();
    const tree =
      "sleep 301 & (sleep 302 & sleep 303) & setsid sh -c 'sleep 304; :' & (setsid sleep 305 &) ; echo up; sleep 306";
    const result = await endedAtLimit(
      1_000,
      (timeoutMs) => sh(tree, { timeoutMs }),
      ({ output }) => output === "up\n",
    );
    expect(result).toMatchObject({ exitCode: null, timedOut: true, aborted: false, output: "up\n" });
    expect(await processes()).toEqual(before);
  });

  test("an abort does the same, also one that comes while the command starts, and other commands continue", async () => {
    // On a very busy machine, a kill may exceed its time limit. Then the whole container is restarted, by design.
    for (let tries = 5; ; tries--) {
      const survivor = await besideAborts();
      if (tries > 1 && survivor.code === "sandbox_lost") continue;
      expect(survivor).toMatchObject({ exitCode: 0, output: "survived\n" });
      break;
    }
    expect(await sh("true", { signal: AbortSignal.abort() })).toMatchObject({ aborted: true, exitCode: null });
  });
  /** Aborts commands while another one runs. @returns how the other command ended. */
  async function besideAborts() {
    await sh("rm -f over");
    const other = sh("until [ -e over ]; do sleep 0.1; done; echo survived").catch((error) => error);
    for (const delayMs of [0, 5, 30, 400]) {
      const stop = new AbortController();
      const running = sh("trap '' TERM INT; sleep 311 & sleep 312", { signal: stop.signal });
      await Bun.sleep(delayMs);
      stop.abort();
      expect(await running).toMatchObject({ exitCode: null, aborted: true, timedOut: false });
      expect((await processes()).filter((line) => line.includes("sleep 31"))).toEqual([]);
    }
    await sandbox.workspace.write("over", new Uint8Array());
    return other;
  }

  test("one that leaves no room for another process is stopped, and the sandbox works again over the same files", async () => {
    const bombed = await fixture.start();
    await bombed.workspace.write("kept", Buffer.from("yes"));
    const full = new AbortController();
    const script = "(while :; do sleep 60 & done) 2>/dev/null; echo full; exec sleep 61";
    const result = await bombed.exec(["sh", "-c", script], {
      ...EXEC,
      signal: full.signal,
      onOutput: () => full.abort(),
    });
    expect(result).toMatchObject({ aborted: true, exitCode: null, output: "full\n" });
    const after = await bombed.exec(["sh", "-c", "cat kept; ps | wc -l"], EXEC);
    expect(after.output).toMatch(/^yes\d+\n$/);
    expect(Number(after.output.slice(3))).toBeLessThan(10);
    await bombed.stop();
  });

  test("one whose dead nobody collects leaves room for others all the same", async () => {
    const bombed = await fixture.start();
    await bombed.workspace.write("kept", Buffer.from("yes"));
    const full = new AbortController();
    // Their parent has left the session and has no mark, so it survives the kill and never collects them.
    const count = CONTAINER_LIMITS.processes - 20;
    const script = `n=0; while [ $n -lt ${count} ]; do sleep 60 & n=$((n+1)); done; echo full; exec env -i setsid sleep 61`;
    const result = await bombed.exec(["sh", "-c", script], {
      ...EXEC,
      signal: full.signal,
      onOutput: () => full.abort(),
    });
    expect(result).toMatchObject({ aborted: true, exitCode: null, output: "full\n" });
    const many = "n=0; while [ $n -lt 30 ]; do sleep 1 & n=$((n+1)); done; cat kept; wait";
    expect((await bombed.exec(["sh", "-c", many], EXEC)).output).toBe("yes");
    await bombed.stop();
  });

  test("what a finished command left in the background lives on, and does not hold the call", async () => {
    const result = await sh("sleep 321 & echo started");
    expect(result).toMatchObject({ exitCode: 0, output: "started\n" });
    expect((await processes()).some((line) => line.includes("sleep 321"))).toBe(true);
    await sh("pkill -f 'sleep 32[1]'");
  });

  test("a command that kills all it can see loses the sandbox, and the loss has a name", async () => {
    const doomed = await fixture.start();
    await expect(doomed.exec(["sh", "-c", "kill -9 -1"], EXEC)).rejects.toMatchObject({
      status: 503,
      code: "sandbox_lost",
    });
    await expect(doomed.exec(["true"], EXEC)).rejects.toMatchObject({ status: 503, code: "sandbox_lost" });
    await doomed.stop();
  });

  test("a container taken away in the middle is a lost sandbox; its files can still be read", async () => {
    const doomed = await fixture.start();
    await doomed.workspace.write("kept", Buffer.from("still"));
    const up = Promise.withResolvers<void>();
    const running = doomed.exec(["sh", "-c", "echo up; sleep 60"], { ...EXEC, onOutput: () => up.resolve() });
    const loss = running.catch((error) => error);
    await up.promise;
    await engine.containers.remove(doomed.containerId ?? "");
    expect(await loss).toMatchObject({ status: 503, code: "sandbox_lost" });
    await expect(doomed.exec(["true"], EXEC)).rejects.toMatchObject({ status: 503, code: "sandbox_lost" });
    expect(Buffer.from(await doomed.workspace.read("kept")).toString()).toBe("still");
    await doomed.stop();
    await doomed.stop();
  });

  test("a command that takes more memory than it may is killed, and the sandbox says so or continues", async () => {
    const small = await fixture.start({ memoryMb: 32 });
    const result = await small
      .exec(["sh", "-c", "x=$(yes | head -c 100000000); echo $x | wc -c"], EXEC)
      .catch((error: { code: string }) => error.code);
    expect(result === "sandbox_lost" || (typeof result === "object" && result.exitCode !== 0)).toBe(true);
    await small.stop();
  });

  test("arguments with NUL and empty commands are refused before anything runs", async () => {
    for (const argv of [[], [""], ["-c"], ["echo", "a\0b"]])
      await expect(sandbox.exec(argv, EXEC)).rejects.toMatchObject({ status: 400 });
  });
});
