/**
 * What every driver of sandboxes promises to the engine, whatever isolates them. A new driver adds a line to `DRIVERS`.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messageOf } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import type { ExecOptions, Sandbox, SandboxDriver, SandboxSpec } from "../../engine/sandbox.ts";
import type { ToolServerSpec, ToolServers } from "../../engine/tool-servers.ts";
import { endedAtLimit } from "../../testing/busy-machine.ts";
import { dockerForTests, testImage } from "../../testing/docker-image.ts";
import { podsForTests } from "../../testing/kubernetes/pods-for-tests.ts";
import { lacks } from "../../testing/parts.ts";
import { hasSshd, openSshHost } from "../../testing/ssh-host.ts";
import { dockerEndpoint } from "../docker/endpoint.ts";
import { connectDocker, type DockerClient } from "../docker.ts";
import { createAgentImages } from "./docker/agent-image.ts";
import { createDockerSandboxes } from "./docker/driver.ts";
import { createDockerToolServers } from "./docker/tool-servers.ts";
import { createProcessSandboxes } from "./process/driver.ts";
import { createProcessToolServers } from "./process/tool-servers.ts";

/** The parts of one server process. Several of the same instance stand for a server and its predecessors. */
interface Life {
  driver: SandboxDriver;
  /** Absent if the driver has no tool servers. */
  servers?: ToolServers;
  /** For tool servers. */
  image?: string;
  /** Everything that the engine or cluster stores about what this instance runs, as text. */
  records(): Promise<string>;
  /** Removes everything of the instance. */
  end(): Promise<void>;
}

const docker = await dockerForTests(process.env);
const owner = { uid: process.getuid?.() ?? 1000, gid: process.getgid?.() ?? 1000 };
const relayFolder = mkdtempSync(join(tmpdir(), "skep-relay-"));
afterAll(() => rmSync(relayFolder, { recursive: true, force: true }));

async function inContainers(engine: DockerClient, instanceId: string, carries: boolean): Promise<Life> {
  const image = await testImage(engine);
  const images = createAgentImages({ docker: engine, pull: false });
  const driver = createDockerSandboxes({
    docker: engine,
    instanceId,
    defaultImage: image,
    images,
    server: owner,
    relayFolder,
    carries,
  });
  const servers = createDockerToolServers({ docker: engine, instanceId, images, owner, carries });
  return {
    driver,
    servers,
    image,
    records: async () => {
      const rows = await engine.containers.list([`skep.instance=${instanceId}`]);
      return JSON.stringify(await Promise.all(rows.map(({ id }) => engine.containers.inspect(id))));
    },
    end: async () => {
      await servers.sweep(() => false);
      await driver.sweep(() => false);
      await Promise.all([servers.close(), driver.close()]);
      expect(await engine.containers.list([`skep.instance=${instanceId}`])).toEqual([]);
      expect(await engine.volumes.list([`skep.instance=${instanceId}`])).toEqual([]);
    },
  };
}

async function onThisHost(instanceId: string): Promise<Life> {
  const driver = createProcessSandboxes({ allowHostShell: true, instanceId });
  const servers = createProcessToolServers({ instanceId, allowHostShell: true });
  return {
    driver,
    servers,
    records: async () => "",
    end: async () => {
      await servers.sweep(() => false);
      await driver.sweep(() => false);
    },
  };
}

const pods = docker && (await podsForTests(docker));
afterAll(() => pods?.close());

const far = docker && !lacks("OpenSSH server", hasSshd()) ? openSshHost() : undefined;
afterAll(() => far?.close());
const overSsh =
  far &&
  docker &&
  connectDocker(dockerEndpoint({ host: docker.address.replace("unix://", "ssh://far"), env: far.env }));

const DRIVERS: [name: string, open: ((instanceId: string) => Promise<Life>) | undefined, serves: boolean][] = [
  ["process", onThisHost, true],
  ["docker", docker && ((instanceId) => inContainers(docker, instanceId, false)), true],
  ["docker, its files carried", docker && ((instanceId) => inContainers(docker, instanceId, true)), true],
  ["docker, over SSH", overSsh && ((instanceId) => inContainers(overSsh, instanceId, true)), true],
  ["kubernetes", pods?.open, false],
];

const never = new AbortController().signal;
const EXEC: ExecOptions = { timeoutMs: 240_000, maxOutputBytes: 1024 * 1024 };
const CANARY = "canary-5d0c2be1a7";

describe.each(DRIVERS.filter(([, open]) => open))("the driver %s", (_name, open, serves) => {
  const instanceId = newId("instance");
  const folders: string[] = [];
  let life: Life;
  let shared: Sandbox;
  let home: string;
  const folder = async () => {
    const made = await mkdtemp(join(tmpdir(), "skep-drivers-"));
    folders.push(made);
    return made;
  };
  const specOf = async (changes: Partial<SandboxSpec> = {}): Promise<SandboxSpec> => ({
    executionId: newId("execution"),
    sessionId: newId("session"),
    agentId: "engineer",
    network: "none" as const,
    memoryMb: 64,
    cpus: 1,
    env: {},
    home: changes.home ?? (await folder()),
    ...changes,
  });
  const start = async (changes?: Partial<SandboxSpec>) => await life.driver.start(await specOf(changes), never);
  const sh = (script: string, changes: Partial<ExecOptions> = {}, sandbox: Sandbox = shared) =>
    sandbox.exec(["sh", "-c", script], { ...EXEC, ...changes });
  const readOutput = async (script: string, sandbox?: Sandbox) => (await sh(script, {}, sandbox)).output.trim();
  /** Writes lines to `count` until it is killed, outside of its command's session. Resolves once the first is there. */
  const beat = (sandbox: Sandbox) =>
    readOutput(
      `setsid sh -c 'while :; do echo x >> count; sleep 0.02; done' >/dev/null 2>&1 & until [ -s count ]; do sleep 0.02; done`,
      sandbox,
    );
  beforeAll(async () => {
    life = await open!(instanceId);
    home = await folder();
    shared = await start({ home, env: { GRANTED: CANARY } });
  });
  afterAll(async () => {
    await shared?.stop();
    await life?.end();
    for (const one of folders) await rm(one, { recursive: true, force: true });
  });

  test("gives exit codes, both outputs in order, input, variables, and the folder that a command starts in", async () => {
    expect(await sh("echo a; echo b >&2; echo c; exit 4")).toMatchObject({ exitCode: 4, output: "a\nb\nc\n" });
    expect((await sh("kill -9 $$")).exitCode).toBe(137);
    expect((await shared.exec(["no-such-program"], EXEC)).exitCode).toBe(127);
    const large = Buffer.alloc(300_000, "0123456789");
    expect((await sh("wc -c", { stdin: large })).output.trim()).toBe("300000");
    expect((await shared.exec(["cat"], EXEC)).output).toBe("");
    expect((await sh('echo "$GRANTED $EXTRA"', { env: { EXTRA: "one two" } })).output).toBe(`${CANARY} one two\n`);
    await shared.workspace.write("in/side/x", Buffer.from("here"));
    expect((await sh("cat x", { cwd: "in/side" })).output).toBe("here");
    expect((await sh("cat x", { cwd: "/workspace/in/side" })).output).toBe("here");
  });

  test("passes output on while a command runs, and keeps head and tail of what is too long", async () => {
    let seen = "";
    const first = Promise.withResolvers<void>();
    const running = sh("echo early; until [ -e go ]; do sleep 0.02; done; echo late", {
      onOutput(text) {
        seen += text;
        if (seen.includes("early")) first.resolve();
      },
    });
    await first.promise;
    await sh(": > go");
    expect(await running).toMatchObject({ exitCode: 0, output: "early\nlate\n" });
    expect(seen).toBe("early\nlate\n");
    const long = await sh("echo first; seq 100000; echo last", { maxOutputBytes: 2_000 });
    expect(long.output).toMatch(/^first\n.*bytes left out.*last\n$/s);
    expect(long.omittedBytes).toBeGreaterThan(500_000);
  });

  test("ends everything that a command started, on time-out and on abort, also what left its session", async () => {
    for (const how of ["timedOut", "aborted"] as const) {
      const file = `beats-${how}`;
      const script = `setsid sh -c 'while :; do echo x >> ${file}; sleep 0.02; done' >/dev/null 2>&1 & until [ -s ${file} ]; do sleep 0.02; done; echo up; sleep 600`;
      const abort = new AbortController();
      const result =
        how === "aborted"
          ? await sh(script, { signal: abort.signal, onOutput: () => abort.abort() })
          : await endedAtLimit(
              500,
              (timeoutMs) => sh(script, { timeoutMs }),
              ({ output }) => output.includes("up"),
            );
      expect(result).toMatchObject({ exitCode: null, timedOut: how === "timedOut", aborted: how === "aborted" });
      // A surviving process would write again within the time that this command watches.
      const looks = `a=$(wc -c < ${file}); for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.05; done; [ "$a" = "$(wc -c < ${file})" ] && echo still`;
      expect(await readOutput(looks)).toBe("still");
    }
  });

  test("takes the files in, shows and keeps what either side changed, and brings back exactly what there is", async () => {
    const own = await folder();
    await mkdir(join(own, "deep/er"), { recursive: true });
    await Bun.write(join(own, "deep/er/old"), "old\n");
    await Bun.write(join(own, "gone"), "gone\n");
    await Bun.write(join(own, "becomes/folder"), "x\n");
    await symlink("deep/er/old", join(own, "link"));
    const spec = await specOf({ home: own });
    const sandbox = await life.driver.start(spec, never);
    expect(await readOutput("cat link; readlink link", sandbox)).toBe("old\ndeep/er/old");
    await readOutput(
      "rm gone; rm -r becomes; echo file > becomes; echo new > 'a name\n with lines'; chmod 755 deep/er/old; mkdir empty; ln -s nowhere dangling; mv deep moved; head -c 3000000 /dev/zero > big",
      sandbox,
    );
    expect(Buffer.from(await sandbox.workspace.read("moved/er/old")).toString()).toBe("old\n");
    await sandbox.workspace.write("moved/er/mine", Buffer.from("from outside\n"));
    expect(await readOutput("cat moved/er/mine; echo more >> moved/er/mine", sandbox)).toBe("from outside");
    const { entries } = await sandbox.workspace.walk("", { maxEntries: 100 });
    expect(entries.map(({ path }) => path)).toContain("moved/er/mine");
    await sandbox.workspace.bringBack();
    const names = readdirSync(own, { recursive: true, encoding: "utf8" }).sort();
    expect(names).toEqual(
      [
        "a name\n with lines",
        "becomes",
        "big",
        "dangling",
        "empty",
        "link",
        "moved",
        "moved/er",
        "moved/er/mine",
      ].concat("moved/er/old"),
    );
    expect(await Bun.file(join(own, "moved/er/mine")).text()).toBe("from outside\nmore\n");
    expect(await Bun.file(join(own, "becomes")).text()).toBe("file\n");
    expect(Bun.file(join(own, "big")).size).toBe(3_000_000);
    await sandbox.stop();
    // The next step over the same files begins with what the folder holds by then.
    await rm(join(own, "big"));
    await Bun.write(join(own, "becomes"), "changed between\n");
    const next = await life.driver.start({ ...spec, executionId: newId("execution") }, never);
    expect(await readOutput("cat becomes; ls big 2>/dev/null; cat moved/er/mine; stat -c %a moved/er/old", next)).toBe(
      "changed between\nfrom outside\nmore\n755",
    );
    await next.stop();
  });

  test("leads out of the files by no link, and reads neither pipes nor devices", async () => {
    const outside = await folder();
    await Bun.write(join(outside, "key"), CANARY);
    await readOutput(`ln -sfn ${outside} out; ln -sfn ${outside}/key key; ln -sfn / root; mkfifo pipe`);
    for (const path of ["out/key", "key", `root${outside}/key`, "../key", outside, "pipe"]) {
      const failure = await shared.workspace.read(path).catch((error) => error);
      expect([path, failure.status >= 400]).toEqual([path, true]);
    }
    await expect(shared.workspace.write("out/new", Buffer.from("x"))).rejects.toThrow();
    expect(readdirSync(outside)).toEqual(["key"]);
    await shared.workspace.bringBack();
    expect(await Bun.file(join(outside, "key")).text()).toBe(CANARY);
    await readOutput("rm -f out key root pipe");
  });

  test("says no more about itself than is true, and keeps granted values out of what is recorded outside", async () => {
    const { capabilities } = life.driver;
    const { files, network } = await life.driver.about(await specOf({ home }));
    expect(files).toContain(await readOutput("pwd -P"));
    const others = Number(await readOutput("grep -c -v -e lo: -e '|' /proc/net/dev"));
    if (capabilities.network === "policy")
      expect(network).toBe("There is no network: the cluster lets nothing in or out.");
    if (capabilities.network === "own") {
      expect([network, others]).toEqual(["There is no network.", 0]);
      expect(await readOutput("timeout 5 wget -O - http://169.254.169.254/ 2>&1; echo $?")).toMatch(/unreachable/);
    }
    if (capabilities.isolation === "container") {
      expect(await readOutput(`ls ${home}/ 2>&1 | grep -c 'No such file'`)).toBe("1");
      expect(await readOutput("echo x > /etc/x || echo refused")).toContain("refused");
      // Memory and processes are limited, and the sandbox survives a command that reaches a limit.
      expect((await sh("head -c 200000000 /dev/zero | tail")).exitCode).not.toBe(0);
      expect(await readOutput("ulimit -n; echo on")).toBe("4096\non");
    }
    expect(await life.records()).not.toContain(CANARY);
  });

  test("opens routes that programs inside reach on their own loopback", async () => {
    const sandbox = await start({ routes: true });
    const route = await sandbox.openRoute((connection) => void connection.pipe(connection));
    const talk = `echo hello | nc -w 10 ${route.host} ${route.port}`;
    const bash = `exec 3<>/dev/tcp/${route.host}/${route.port}; echo hello >&3; head -n 1 <&3`;
    const hasBash = life.driver.capabilities.isolation === "none";
    expect((await sandbox.exec(hasBash ? ["bash", "-c", bash] : ["sh", "-c", talk], EXEC)).output).toBe("hello\n");
    route.close();
    await sandbox.stop();
  });

  test("reaches what listens inside, and nothing where a port is closed", async () => {
    const { previews } = life.driver.capabilities;
    const sandbox = await start({ routes: true });
    if (previews === "none") {
      await expect(sandbox.connect(8000)).rejects.toMatchObject({ code: "previews_unavailable" });
      return await sandbox.stop();
    }
    await readOutput("mkdir site; echo hello > site/index.html; httpd -p 127.0.0.1:3000 -h site", sandbox);
    const ask = async (port: number) => {
      const connection = await sandbox.connect(port);
      connection.end("GET / HTTP/1.0\r\n\r\n");
      return Buffer.concat(await Array.fromAsync(connection)).toString();
    };
    const answers = await Promise.all([3000, 3000, 3000].map(ask));
    for (const answer of answers) expect(answer).toEndWith("\r\n\r\nhello\n");
    await expect(sandbox.connect(3002)).rejects.toMatchObject({ code: "nothing_listens" });
    await sandbox.workspace.bringBack();
    await sandbox.freeze();
    if (previews === "thawed") {
      await sandbox.thaw();
      expect(await ask(3000)).toEndWith("hello\n");
    } else await expect(sandbox.thaw()).rejects.toMatchObject({ code: "previews_unavailable" });
    await sandbox.stop();
    await expect(sandbox.connect(3000)).rejects.toMatchObject({ code: "sandbox_lost" });
  });

  test("once frozen changes no file, once stopped runs nothing, and both may be said twice", async () => {
    const own = await folder();
    const sandbox = await start({ home: own });
    await beat(sandbox);
    await sandbox.workspace.bringBack();
    await Promise.all([sandbox.freeze(), sandbox.freeze()]);
    const size = () => Bun.file(join(own, "count")).size;
    const before = size();
    expect(before).toBeGreaterThan(0);
    await Bun.sleep(300);
    expect(size()).toBe(before);
    await Promise.all([sandbox.stop(), sandbox.stop()]);
    expect(await sandbox.isAlive()).toBe(false);
    await expect(sandbox.exec(["true"], EXEC)).rejects.toMatchObject({ code: "sandbox_lost" });
  });

  test("a start that is called off or cannot be made leaves nothing", async () => {
    const stop = new AbortController();
    stop.abort();
    await expect(life.driver.start(await specOf(), stop.signal)).rejects.toMatchObject({ name: "AbortError" });
    const missing = await specOf({ home: join(home, "not-there") });
    await expect(life.driver.start(missing, never)).rejects.toMatchObject({ status: 503, code: "workspace_missing" });
  });

  test("what a dead server left is found by the next one and removed, what is in use and others' is not", async () => {
    const [left, used] = [await specOf(), await specOf()];
    const [dead, kept] = [await life.driver.start(left, never), await life.driver.start(used, never)];
    const other = await open!(newId("instance"));
    const foreign = await other.driver.start(await specOf(), never);
    for (const one of [dead, kept, foreign]) await beat(one);
    const next = await open!(instanceId);
    const inUse = (id: string) => id === used.executionId || id !== left.executionId;
    const swept = await next.driver.sweep(inUse);
    expect(swept.removed).toBeGreaterThan(0);
    expect(swept.left).toEqual([]);
    expect(await next.driver.sweep(inUse)).toEqual({ removed: 0, left: [] });
    for (const one of [kept, foreign]) {
      expect(await one.isAlive()).toBe(true);
      expect(
        await readOutput("a=$(wc -c < count); until [ $(wc -c < count) -gt $a ]; do sleep 0.02; done; echo beats", one),
      ).toBe("beats");
      await one.stop();
    }
    await dead.stop();
    await other.end();
  });

  if (!serves) return;
  describe("of tool servers", () => {
    const serverSpec = async (server: string): Promise<ToolServerSpec> => ({
      server,
      image: life.image,
      network: "none",
      memoryMb: 64,
      folder: await folder(),
      command: "sh",
      args: ["-c", 'read -r line; echo "$GRANTED $line" > "$HOME/kept"; cat "$HOME/kept"; echo noise >&2; exec cat'],
      env: { GRANTED: "granted" },
    });
    const openServer = async (servers: ToolServers, spec: ToolServerSpec) => {
      const texts = { stdout: "", stderr: "" };
      let look = () => {};
      const take = (stream: keyof typeof texts) => (chunk: Uint8Array) => {
        texts[stream] += Buffer.from(chunk).toString();
        look();
      };
      const pipe = await servers.open(spec, { onStdout: take("stdout"), onStderr: take("stderr") }, never);
      /** @returns the stream's text so far, once it contains `text`. */
      const says = (text: string, stream: keyof typeof texts = "stdout") =>
        new Promise<string>((resolve) => {
          const before = look;
          look = () => {
            before();
            if (texts[stream].includes(text)) resolve(texts[stream]);
          };
          look();
        });
      return { pipe, says };
    };

    test("talks with one line by line, keeps its folder, and ends it with everything that it started", async () => {
      const spec = await serverSpec(newId("job"));
      const first = await openServer(life.servers!, spec);
      await first.pipe.write("hello\n");
      await Promise.all([first.says("granted hello\n"), first.says("noise\n", "stderr")]);
      await first.pipe.write("again\n");
      expect(await first.says("again\n")).toBe("granted hello\nagain\n");
      await Promise.all([first.pipe.kill(), first.pipe.kill()]);
      expect(await first.pipe.ended).not.toBe("");
      const beats = `setsid sh -c 'while :; do echo x >> "$HOME/beats"; sleep 0.02; done' >/dev/null 2>&1 &`;
      const script = `cat "$HOME/kept"; ${beats} until [ -s "$HOME/beats" ]; do sleep 0.02; done; echo up; read -r _; exit 7`;
      const second = await openServer(life.servers!, { ...spec, args: ["-c", script] });
      expect(await second.says("up\n")).toBe("granted hello\nup\n");
      await second.pipe.write("end\n");
      expect(await second.pipe.ended).toContain("exit code 7");
      await second.pipe.kill();
      const twice =
        'wc -c < "$HOME/beats"; for i in 1 2 3 4 5 6; do sleep 0.05; done; wc -c < "$HOME/beats"; echo over';
      const third = await openServer(life.servers!, { ...spec, args: ["-c", `${twice}; exec cat`] });
      const [before, after] = (await third.says("over\n")).split("\n");
      expect(Number(before)).toBeGreaterThan(0);
      expect(after).toBe(before!);
      await third.pipe.kill();
    });

    test("a command that does not exist ends at once and says so, and one that a dead server left is ended by the next", async () => {
      const spec = await serverSpec(newId("job"));
      const missing = await openServer(life.servers!, { ...spec, command: "no-such-program" }).then(
        async ({ pipe }) => await pipe.ended.finally(pipe.kill),
        messageOf,
      );
      expect(missing).toMatch(/could not be started|exit code 127/);
      const left = await openServer(life.servers!, { ...spec, command: "cat", args: [] });
      // A process can be found by its environment only once its program runs.
      await left.pipe.write("up\n");
      await left.says("up\n");
      const next = await open!(instanceId);
      await next.servers!.sweep(() => true);
      expect(await left.pipe.ended).toMatch(/ended|gone/);
      await left.pipe.kill();
      // The server's data is there at its next start, until the server is forgotten.
      const kept = { ...spec, args: ["-c", 'ls -A "$HOME" | grep -c kept; exec cat'] };
      const again = await openServer(next.servers!, kept);
      await again.says("0\n");
      await again.pipe.kill();
      await next.servers!.forget(spec.server);
    });
  });
});
