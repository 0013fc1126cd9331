/** Sandboxes in gVisor, on a container engine that this test starts. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dockerForTests, testImage } from "../../../testing/docker-image.ts";
import { isRoot, lacks } from "../../../testing/parts.ts";
import { EXEC, type SandboxFixture, sandboxFixture } from "../../../testing/sandbox-fixture.ts";
import { connectDocker, type DockerClient } from "../../docker.ts";

setDefaultTimeout(300_000);
const docker = await dockerForTests(process.env);

describe.skipIf(!docker)("a runtime that the engine does not have", () => {
  test("is refused with the names of those that it has", async () => {
    const sandboxes = sandboxFixture({ docker: docker!, defaultImage: await testImage(docker!) });
    const started = sandboxes.start({ runtime: "no-such-runtime" });
    await expect(started).rejects.toMatchObject({
      code: "runtime_unusable",
      detail: expect.stringMatching(/it has .*runc/),
    });
    await sandboxes.end();
  });
});

const parts =
  isRoot && Bun.which("dockerd") !== null && Bun.which("containerd") !== null && Bun.which("runsc") !== null;

describe.skipIf(lacks("gVisor's runsc and a container engine to start", parts))("gVisor", () => {
  const folder = mkdtempSync(join(tmpdir(), "skep-runsc-"));
  const socket = join(folder, "docker.sock");
  let daemon: ChildProcess;
  let engine: DockerClient;
  let sandboxes: SandboxFixture;
  beforeAll(async () => {
    const runtime = (...args: string[]) => ({ path: Bun.which("runsc"), runtimeArgs: args });
    const runtimes = { runsc: runtime("--network=none", "--platform=ptrace"), broken: { path: "/bin/false" } };
    writeFileSync(join(folder, "daemon.json"), JSON.stringify({ runtimes }));
    // The engine needs no bridge and no firewall rules, because its containers have no network.
    daemon = spawn(
      "dockerd",
      [
        "--config-file",
        join(folder, "daemon.json"),
        "--host",
        `unix://${socket}`,
        "--pidfile",
        join(folder, "pid"),
        "--data-root",
        join(folder, "data"),
        "--exec-root",
        join(folder, "exec"),
        "--bridge",
        "none",
        "--iptables=false",
        "--ip6tables=false",
        "--storage-driver",
        "vfs",
      ],
      { stdio: ["ignore", "ignore", "pipe"] },
    );
    await new Promise<void>((ready, fail) => {
      daemon.once("exit", (code) => fail(new Error(`dockerd ended with ${code}`)));
      daemon.stderr!.on("data", (text: Buffer) => /API listen on/.test(String(text)) && ready());
    });
    engine = connectDocker({ address: `unix://${socket}`, socketPath: socket });
    sandboxes = sandboxFixture({ docker: engine, defaultImage: await testImage(engine) });
  });
  afterAll(async () => {
    await sandboxes?.end();
    const ended = new Promise((resolve) => daemon.once("exit", resolve));
    if (daemon.exitCode === null && daemon.kill("SIGTERM")) await ended;
    if (existsSync(folder)) rmSync(folder, { recursive: true, force: true });
  });

  test("holds an agent's commands, its files and its routes", async () => {
    const sandbox = await sandboxes.start({ runtime: "runsc", routes: true });
    const sh = async (line: string) => (await sandbox.exec(["sh", "-c", line], EXEC)).output.trim();
    // gVisor's own kernel answers, not the machine's.
    expect(await sh("cat /proc/version")).toMatch(/^Linux version 4\.4\.0/);
    expect(await sh("echo written > /workspace/file && cat /workspace/file")).toBe("written");
    expect(Buffer.from(await sandbox.workspace.read("file")).toString()).toBe("written\n");
    const { port } = await sandbox.openRoute((connection) => connection.end("through\n"));
    expect(await sh(`nc 127.0.0.1 ${port} < /dev/null`)).toBe("through");
    await sandbox.stop();
  });

  test("is tried before it is accepted: one that cannot start a container is refused", async () => {
    await expect(sandboxes.start({ runtime: "broken" })).rejects.toMatchObject({ code: "runtime_unusable" });
    expect(await engine.containers.list([`skep.instance=${sandboxes.instanceId}`])).toEqual([]);
  });
});
