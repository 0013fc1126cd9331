/** An engine that is reached over SSH: this machine's own engine, behind an sshd. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newId } from "../../core/ids.ts";
import { dockerForTests, testImage } from "../../testing/docker-image.ts";
import { lacks } from "../../testing/parts.ts";
import { hasSshd, openSshHost, type SshHostForTests } from "../../testing/ssh-host.ts";
import { connectDocker } from "../docker.ts";
import { createAgentImages } from "../sandbox/docker/agent-image.ts";
import { createDockerSandboxes } from "../sandbox/docker/driver.ts";
import { dockerEndpoint } from "./endpoint.ts";

const engine = await dockerForTests(process.env);
const socket = engine?.address.replace("unix://", "") ?? "";

test("an address over SSH names a machine, never an option or a password", () => {
  const { ssh } = dockerEndpoint({ host: "ssh://me@builder.example.org:2222/run/podman/podman.sock" });
  expect(ssh).toEqual({
    host: "builder.example.org",
    user: "me",
    port: 2222,
    socket: "/run/podman/podman.sock",
    env: {},
  });
  expect(dockerEndpoint({ host: "ssh://[fd00::1]" }).ssh).toMatchObject({
    host: "fd00::1",
    user: undefined,
    port: undefined,
    socket: "/var/run/docker.sock",
  });
  const wrong = [
    "ssh://-oProxyCommand=x",
    "ssh://-l@host",
    "ssh://me:secret@host",
    "ssh://",
    "ssh://host/a b",
    "ssh://host/$(x)",
  ];
  for (const host of [...wrong, "ssh://host/x;y", "ssh://host/x?y"])
    expect(() => dockerEndpoint({ host }), host).toThrow(/ssh:\/\/user@host/);
});

describe.skipIf(lacks("OpenSSH server", hasSshd()) || !engine)("an engine behind SSH", () => {
  let far: SshHostForTests;
  beforeAll(() => {
    far = openSshHost();
  });
  afterAll(() => far.close());
  const connect = (path = socket) => {
    const { TMPDIR: _, ...env } = far.env;
    return connectDocker(dockerEndpoint({ host: `ssh://far${path}`, env }));
  };
  const failureOf = async (path?: string) => {
    const failure = await connect(path)
      .images.list()
      .catch((error) => error);
    expect(failure).toMatchObject({ status: 503, code: "sandbox_unavailable" });
    return failure.detail;
  };

  test("says in a sentence why there is no way to it", async () => {
    expect(await failureOf("/nowhere/engine.sock")).toBe(
      "Docker at ssh://far/nowhere/engine.sock does not answer: there is no /nowhere/engine.sock on that machine.",
    );
    far.set({ known: false });
    expect(await failureOf()).toContain("its host key is not known; connect once by hand");
    far.set({ known: true, let: false });
    expect(await failureOf()).toContain("it does not let this user in; a key");
    far.set({ let: true });
  });

  test("leaves no folder when its shell is told to end, and removes those of shells that were killed", async () => {
    // A temporary folder of its own, because other tests also have connections.
    const before = process.env["TMPDIR"];
    const place = mkdtempSync(join(tmpdir(), "skep-left-"));
    process.env["TMPDIR"] = place;
    const docker = connect();
    const folders = () => readdirSync(place).filter((name) => name.startsWith("skep-ssh-"));
    const listening = join(place, "skep-ssh-listening");
    const left = join(place, "skep-ssh-left");
    for (const folder of [listening, left]) mkdirSync(folder);
    const script = "require('net').createServer().listen(process.argv[1], () => console.log('listens'))";
    const listen = async (folder: string) => {
      const child = Bun.spawn(["node", "-e", script, join(folder, "engine.sock")], { stdout: "pipe" });
      await child.stdout.getReader().read();
      return child;
    };
    const [kept, killed] = [await listen(listening), await listen(left)];
    killed.kill("SIGKILL");
    await killed.exited;
    await docker.ping();
    const stand = [existsSync(listening), existsSync(left)];
    kept.kill("SIGKILL");
    for (const folder of [listening, left]) rmSync(folder, { recursive: true, force: true });
    expect(stand).toEqual([true, false]);
    const [own = "none"] = folders();
    const shells = Bun.spawnSync(["pgrep", "-f", own]).stdout.toString().trim().split("\n").map(Number);
    for (const pid of shells) process.kill(pid, "SIGTERM");
    while (folders().includes(own)) await Bun.sleep(20);
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
    rmSync(place, { recursive: true });
  });

  test("works as one of this machine, over one connection, files and running commands included", async () => {
    const docker = connect();
    const image = await testImage(docker);
    const before = far.connections();
    const home = mkdtempSync(join(tmpdir(), "skep-far-"));
    const relayFolder = mkdtempSync(join(tmpdir(), "skep-relay-"));
    const driver = createDockerSandboxes({
      docker,
      instanceId: newId("instance"),
      defaultImage: image,
      carries: true,
      relayFolder,
      images: createAgentImages({ docker, pull: false }),
      server: { uid: process.getuid?.() ?? 1000, gid: process.getgid?.() ?? 1000 },
    });
    const spec = {
      executionId: newId("execution"),
      sessionId: newId("session"),
      agentId: "engineer",
      network: "none" as const,
      memoryMb: 64,
      cpus: 1,
      env: {},
      home,
    };
    await Bun.write(join(home, "given"), "given\n");
    const never = new AbortController().signal;
    const exec = { timeoutMs: 240_000, maxOutputBytes: 1024 };
    const sandbox = await driver.start(spec, never);
    const run = (script: string) => sandbox.exec(["sh", "-c", script], { ...exec, stdin: "typed\n" });
    expect((await run("cat given - > made; cat made")).output).toBe("given\ntyped\n");
    await sandbox.workspace.bringBack();
    expect(await Bun.file(join(home, "made")).text()).toBe("given\ntyped\n");
    expect(far.connections()).toBe(before);
    // The connection breaks during a command. The next call makes a new connection, to the same container.
    const cut = sandbox.exec(["sh", "-c", "echo begun; sleep 600"], { ...exec, onOutput: () => far.cut() });
    expect(
      await cut.then(
        ({ exitCode }) => exitCode,
        ({ code }) => code,
      ),
    ).not.toBe(0);
    expect(await sandbox.isAlive()).toBe(true);
    expect((await run("cat made")).output).toBe("given\ntyped\n");
    expect(far.connections()).toBe(before + 1);
    await sandbox.stop();
    await driver.sweep(() => false);
    await driver.close();
    for (const folder of [home, relayFolder]) rmSync(folder, { recursive: true });
  });

  test("is reached by the command line, which leaves neither a process nor a file", async () => {
    const command = process.env["SKEP_BINARY"] ?? process.execPath;
    const args = command === process.execPath ? [join(import.meta.dir, "../../main.ts")] : [];
    const env = { ...far.env, DOCKER_HOST: `ssh://far${socket}`, DATA: join(far.env["HOME"]!, "data") };
    const child = Bun.spawn([command, ...args, "image", "list"], { env, stdout: "pipe", stderr: "pipe" });
    const [code, errors] = [await child.exited, await new Response(child.stderr).text()];
    expect([code, errors]).toEqual([0, ""]);
    const listLeft = () => readdirSync(far.env["HOME"]!).filter((name) => name.startsWith("skep-ssh-"));
    while (listLeft().length > 0) await Bun.sleep(20);
  });
});
