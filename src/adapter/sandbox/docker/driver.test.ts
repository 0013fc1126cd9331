/** The restrictions of a sandbox's container, checked on real ones from outside (inspect) and inside. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { chown, mkdir, stat, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import type Docker from "dockerode";
import { Problem, unavailable } from "../../../core/errors.ts";
import { dockerForTests, testImage } from "../../../testing/docker-image.ts";
import { expectLockedDown } from "../../../testing/lock-down.ts";
import { isRoot, lacks } from "../../../testing/parts.ts";
import { EXEC, type SandboxFixture, sandboxFixture } from "../../../testing/sandbox-fixture.ts";
import { dockerEndpoint } from "../../docker/endpoint.ts";
import { connectDocker, type DockerClient } from "../../docker.ts";
import { createCacheVolumes } from "./caches.ts";
import type { DockerSandbox as Sandbox } from "./driver.ts";
import { GUARD_NETWORK } from "./network.ts";

const docker = await dockerForTests(process.env);
const never = new AbortController().signal;

describe.skipIf(!docker)("a sandbox's container", () => {
  const engine = docker as DockerClient;
  let image: string;
  let fixture: SandboxFixture;
  const CANARY = "canary-6b1f0d9e42";
  beforeAll(async () => {
    image = await testImage(engine);
    fixture = sandboxFixture({ docker: engine, defaultImage: image });
  });
  afterAll(() => fixture.end());

  const sh = async (sandbox: Sandbox, script: string) => {
    const { output } = await sandbox.exec(["sh", "-c", script], EXEC);
    return output.trim();
  };
  const inspect = async (sandbox: Sandbox) => await engine.containers.inspect(sandbox.containerId ?? "");

  test("is locked down: every line of the list, as the engine itself describes it", async () => {
    const spec = await fixture.spec({ runId: "run_1", memoryMb: 256, cpus: 0.5, env: { SECRET: CANARY } });
    const sandbox = await fixture.driver.start(spec, never);
    const inspected = await inspect(sandbox);
    const { HostConfig: host, Config: config, State: state } = inspected;
    expect(state.Running).toBe(true);
    expectLockedDown(inspected, spec.home, 256 * 1024 * 1024);
    expect(host.NanoCpus).toBe(5e8);
    const [uid] = config.User.split(":");
    expect((await stat(spec.home)).uid).toBe(Number(uid));
    expect(config.Labels).toMatchObject({
      "skep.instance": fixture.instanceId,
      "skep.session": spec.sessionId,
      "skep.execution": spec.executionId,
      "skep.agent": "engineer",
      "skep.run": "run_1",
    });
    await sandbox.stop();
  });

  test("what the prompt says of it is true: its place, its user, its network, what it may write", async () => {
    const [alone, connected] = [await fixture.start(), await fixture.start({ network: "bridge" })];
    const about = async (network: "none" | "bridge") => fixture.driver.about(await fixture.spec({ network }));
    const { files, commands, network } = await about("none");
    expect(files).toContain(`Your files are in ${await sh(alone, "pwd")},`);
    expect(commands).toContain(`the user ${await sh(alone, "id -u")}, without rights`);
    expect(network).toBe("There is no network.");
    expect((await about("bridge")).network).toContain("There is a network");
    const routes = "grep -c -v lo: /proc/net/dev";
    expect(Number(await sh(connected, routes))).toBeGreaterThan(Number(await sh(alone, routes)));
    for (const place of ["/home/agent", "/tmp", "."])
      expect(await sh(alone, `echo kept > ${place}/x && cat ${place}/x`)).toBe("kept");
    expect(await sh(alone, "echo x > /etc/x || echo refused")).toContain("refused");
    await Promise.all([alone.stop(), connected.stop()]);
  });

  test("what is cached of a home comes again in the same person's and project's work, and nowhere else", async () => {
    const start = (owner: string, projectId: string) =>
      fixture.start({ caches: { owner, projectId, paths: [".cache/tool", "go/pkg/mod"] } });
    const look = "cat ~/.cache/tool/left ~/go/pkg/mod/left 2>/dev/null; echo x >~/.cache/other && echo end";
    const first = await start("ann", "web");
    expect(await sh(first, `${look}; echo tool >~/.cache/tool/left; echo go >~/go/pkg/mod/left`)).toBe("end");
    expect(await sh(first, "ls /run/skep-caches/kept 2>&1; echo x >/run/skep-caches/x || echo refused")).toContain(
      "refused",
    );
    await first.stop();
    for (const [owner, projectId, said] of [
      ["ann", "web", "tool\ngo\nend"],
      ["bob", "web", "end"],
      ["ann", "other", "end"],
    ] as const) {
      const sandbox = await start(owner, projectId);
      expect(`${owner} in ${projectId}: ${await sh(sandbox, look)}`).toBe(`${owner} in ${projectId}: ${said}`);
      await sandbox.stop();
    }
    const volumes = createCacheVolumes(engine, fixture.instanceId);
    const there = (await volumes.list()).filter(({ projectId }) => projectId !== "killed");
    expect(there.map(({ owner, projectId }) => `${owner} ${projectId}`).sort()).toEqual([
      "ann other",
      "ann web",
      "bob web",
    ]);
    for (const { name } of there) await volumes.remove(name);
    expect((await volumes.list()).filter(({ projectId }) => projectId !== "killed")).toEqual([]);
  });

  test("gives commands the cookie file to read and not to change, in memory alone, also after it had to be started again", async () => {
    const text = `# Netscape HTTP Cookie File\nexample.com\tFALSE\t/\tTRUE\t0\tsid\t${CANARY}\\n %s  \n`;
    const caches = { owner: "ann", projectId: "killed", paths: [".npm"] };
    const sandbox = await fixture.start({ cookies: text, caches });
    await sh(sandbox, "echo cached >~/.npm/left");
    const file = (await fixture.driver.about(await fixture.spec({ cookies: text }))).cookies ?? "";
    const read = async () => (await sandbox.exec(["cat", file], EXEC)).output;
    expect(await read()).toBe(text);
    for (const attempt of [
      `echo x > ${file}`,
      `rm -f ${file}`,
      `mv ${file} /tmp/`,
      `chmod u+w ${file}`,
      `echo x > ${file}.2`,
    ])
      expect([attempt, await sh(sandbox, `{ ${attempt}; } 2>/dev/null || echo refused`)]).toEqual([attempt, "refused"]);
    expect(await sh(sandbox, `ls -A ${dirname(file)}; grep -c " ${dirname(file)} tmpfs" /proc/mounts`)).toBe(
      "cookies.txt\n1",
    );
    expect(JSON.stringify(await inspect(sandbox))).not.toContain(CANARY);
    expect((await engine.containers.changes(sandbox.containerId)).filter((path) => path.includes("cookies"))).toEqual(
      [],
    );
    // The processes leave no room for one that kills them, so the container itself is killed and started again.
    const full = new AbortController();
    const script = "(while :; do sleep 60 & done) 2>/dev/null; echo full; exec sleep 61";
    await sandbox.exec(["sh", "-c", script], { ...EXEC, signal: full.signal, onOutput: () => full.abort() });
    expect(await read()).toBe(text);
    expect(`after the kill: ${await sh(sandbox, "cat ~/.npm/left")}`).toBe("after the kill: cached");
    await sandbox.stop();
    const without = await fixture.start();
    expect((await fixture.driver.about(await fixture.spec())).cookies).toBeUndefined();
    expect(await sh(without, `ls ${file} 2>/dev/null || echo none`)).toBe("none");
    await without.stop();
  }, 300_000);

  test("is locked down as seen from inside: no capability, no new privilege, seccomp on, nothing writable but three places", async () => {
    const sandbox = await fixture.start();
    const status = await sh(sandbox, "grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status");
    expect(status.replaceAll("\t", "").split("\n")).toEqual([
      "CapInh:0000000000000000",
      "CapPrm:0000000000000000",
      "CapEff:0000000000000000",
      "CapBnd:0000000000000000",
      "CapAmb:0000000000000000",
      "NoNewPrivs:1",
      "Seccomp:2",
    ]);
    const writable = await sh(
      sandbox,
      "for d in / /bin /etc /usr /home /proc/sys /sys /dev /tmp /home/agent /workspace; do (: > $d/probe) 2>/dev/null && echo $d; done",
    );
    expect(writable.split("\n")).toEqual(["/tmp", "/home/agent", "/workspace"]);
    expect(await sh(sandbox, "find / -name 'docker*.sock' -o -name 'podman.sock' 2>/dev/null")).toBe("");
    expect(
      await sh(sandbox, "mount -t tmpfs none /tmp 2>&1; mknod /tmp/x c 1 3 2>&1; chown 0 /tmp/probe 2>&1"),
    ).toMatch(/(must be superuser|permission denied|not permitted).*\n.*not permitted.*\n.*not permitted/i);
    // Processes of the host must not be visible: only init, the waiting shell, and this command's own.
    expect(Number(await sh(sandbox, "ls -d /proc/[0-9]* | wc -l"))).toBeLessThan(8);
    await sandbox.stop();
  });

  test("gives granted variables to its commands; they are in no file of the container, nor of the engine", async () => {
    const sandbox = await fixture.start({ env: { SECRET: CANARY, WITH_LINES: "a\nb=c" } });
    expect(await sh(sandbox, 'echo "$SECRET|$WITH_LINES|$HOME"')).toBe(`${CANARY}|a\nb=c|/home/agent`);
    expect(await sh(sandbox, "grep -c SECRET= /proc/1/environ")).toBe("0");
    expect(JSON.stringify(await inspect(sandbox))).not.toContain(CANARY);
    expect(await engineFilesWith(engine, CANARY, sandbox.containerId)).toEqual([]);
    const found = await sh(sandbox, `grep -rl ${CANARY} /etc /tmp /home /usr /var /run /workspace /root 2>/dev/null`);
    expect(found).toBe("");
    const changes = await engine.containers.changes(sandbox.containerId ?? "");
    expect(changes.filter((path) => !["/sbin", "/sbin/docker-init"].includes(path))).toEqual([]);
    await sandbox.stop();
  });

  test("shares the workspace both ways, and what the server writes belongs to its user", async () => {
    const sandbox = await fixture.start();
    await sandbox.workspace.write("a/b/c.txt", Buffer.from("from outside\n"));
    expect(
      await sh(sandbox, "cat a/b/c.txt; echo more >> a/b/c.txt; rm -r a/b; echo gone; mkdir a/d; echo inside > a/d/e"),
    ).toBe("from outside\ngone");
    expect(Buffer.from(await sandbox.workspace.read("/workspace/a/d/e")).toString()).toBe("inside\n");
    await sandbox.stop();
  });

  test.skipIf(lacks("root", isRoot))("of a server that is not root runs as that server's user", async () => {
    const own = sandboxFixture({ docker: engine, defaultImage: image, server: { uid: 1234, gid: 1235 } });
    const workspace = await own.workspace();
    await chown(workspace, 1234, 1235);
    const sandbox = await own.start({ home: workspace });
    expect(await sh(sandbox, "id -u; id -g; echo x > mine && stat -c %u mine")).toBe("1234\n1235\n1234");
    await own.end();
  });

  test("takes over a workspace that others wrote: every file can be changed, links stay links", async () => {
    const workspace = await fixture.workspace();
    await mkdir(join(workspace, "deep/er"), { recursive: true });
    await Bun.write(join(workspace, "deep/er/file"), "old");
    const target = join(await fixture.workspace(), "elsewhere");
    await Bun.write(target, "not ours");
    await symlink(target, join(workspace, "link"));
    const before = await stat(target);
    const sandbox = await fixture.start({ home: workspace });
    expect(await sh(sandbox, "echo new > deep/er/file && rm link && cat deep/er/file")).toBe("new");
    expect((await stat(target)).uid).toBe(before.uid);
    await sandbox.stop();
  });

  test("without a network there is nothing but the loopback: no metadata address, no names", async () => {
    const sandbox = await fixture.start();
    expect(await sh(sandbox, "ls /sys/class/net")).toBe("lo");
    expect(await sh(sandbox, "timeout 5 wget -O - http://169.254.169.254/ 2>&1; echo $?")).toMatch(/unreachable/);
    await sandbox.stop();
  });

  test("with a network it reaches neither the metadata address nor another container", async () => {
    const [one, two] = await Promise.all([fixture.start({ network: "bridge" }), fixture.start({ network: "bridge" })]);
    const networks = Object.entries((await inspect(one)).NetworkSettings.Networks);
    expect(networks.map(([name]) => name).sort()).toEqual([`skep-${fixture.instanceId}`, GUARD_NETWORK].sort());
    await one.workspace.write("hello", Buffer.from("hello"));
    const serve =
      "httpd -p 8080 -h /workspace; until timeout 3 wget -q -O - http://127.0.0.1:8080/hello; do sleep 0.1; done";
    expect(await sh(one, `{ ${serve}; } 2>/dev/null`)).toBe("hello");
    for (const [, network] of networks)
      expect(
        await sh(two, `timeout 2 wget -q -O - http://${network?.IPAddress}:8080/hello 2>&1; echo $?`),
      ).not.toContain("hello");
    expect(await sh(two, "ip route | grep -c '^169.254.0.0/16 .* scope link'")).toBe("1");
    expect(await sh(two, "timeout 5 wget -O - http://169.254.169.254/ 2>&1; echo $?")).toMatch(
      /No route to host|Terminated/,
    );
    await Promise.all([one.stop(), two.stop()]);
  }, 300_000);

  test("an engine that answers for a moment that it failed is asked again, and leaves one container", async () => {
    let failures = 2;
    const create: typeof engine.containers.create = async (request) => {
      if (failures-- > 0) throw new Problem(502, "docker_error", "the engine fails");
      return await engine.containers.create(request);
    };
    const failing = { ...engine, containers: { ...engine.containers, create } };
    const own = sandboxFixture({ docker: failing, defaultImage: image });
    const sandbox = await own.start();
    expect(await engine.containers.list([`skep.instance=${own.instanceId}`])).toHaveLength(1);
    await sandbox.stop();
    await own.end();
  });

  test("with a network it is not started where the metadata address cannot be shut off, and says why", async () => {
    const older = { ...engine, info: async () => ({ ...(await engine.info()), apiVersion: "1.40" }) };
    const own = sandboxFixture({ docker: older, defaultImage: image });
    await expect(own.start({ network: "bridge" })).rejects.toMatchObject({ status: 503, code: "network_unguarded" });
    const refuses = async () => {
      throw new Problem(502, "docker_error", "Pool overlaps with other one on this address space");
    };
    const taken = { ...engine, networks: { ...engine.networks, connect: refuses } };
    const other = sandboxFixture({ docker: taken, defaultImage: image });
    const failure = await other.start({ network: "bridge" }).catch((error) => error);
    expect(failure).toMatchObject({ status: 503, code: "network_unguarded" });
    expect(failure.detail).toContain("Pool overlaps");
    for (const { instanceId } of [own, other])
      expect(await engine.containers.list([`skep.instance=${instanceId}`])).toEqual([]);
    await (await own.start()).stop();
    await Promise.all([own.end(), other.end()]);
  });

  test("an engine that stops answering while a container gets its network is waited for", async () => {
    const throwUnavailable = async () => {
      throw unavailable("sandbox_unavailable", "Docker does not answer: ECONNREFUSED");
    };
    const ended = { ...engine, networks: { ...engine.networks, connect: throwUnavailable } };
    const own = sandboxFixture({ docker: ended, defaultImage: image });
    await expect(own.start({ network: "bridge" })).rejects.toMatchObject({ status: 503, code: "sandbox_unavailable" });
    expect(await engine.containers.list([`skep.instance=${own.instanceId}`])).toEqual([]);
    await own.end();
  });

  test("with a network it reaches nothing that listens on the host's loopback, by whatever address", async () => {
    const host = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("of the host") });
    const sandbox = await fixture.start({ network: "bridge" });
    try {
      const gateway = await sh(sandbox, "ip route | sed -n 's/^default via \\([^ ]*\\).*/\\1/p'");
      expect(gateway).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
      for (const address of [gateway, "127.0.0.1", "host.docker.internal", "0.0.0.0"])
        expect([
          address,
          await sh(sandbox, `timeout 3 wget -q -O - http://${address}:${host.port}/ 2>/dev/null; echo done`),
        ]).toEqual([address, "done"]);
      // A firewall's rule can name the bridge, because Skep names it. Needs an engine on this machine.
      const bridges = readdirSync("/sys/class/net");
      if (bridges.includes("docker0"))
        expect(bridges).toContain(`skep${fixture.instanceId.replace(/\W|_/g, "").slice(-11)}`);
    } finally {
      await sandbox.stop();
      await host.stop(true);
    }
  }, 300_000);

  test("eight live side by side, each with its own files", async () => {
    const own = sandboxFixture({ docker: engine, defaultImage: image });
    const sandboxes = await Promise.all(Array.from({ length: 8 }, () => own.start()));
    const answers = await Promise.all(
      sandboxes.map(async (sandbox, index) => {
        await sandbox.workspace.write("me", Buffer.from(String(index)));
        return await sh(sandbox, "cat me; ls | wc -l");
      }),
    );
    expect(answers).toEqual(sandboxes.map((_, index) => `${index}1`));
    await Promise.all(sandboxes.map((sandbox) => sandbox.stop()));
    expect(await engine.containers.list([`skep.instance=${own.instanceId}`])).toEqual([]);
    await own.end();
  }, 300_000);

  test("once frozen changes no file, and goes with a stop or the next sweep", async () => {
    const own = sandboxFixture({ docker: engine, defaultImage: image });
    const frozen = await own.start();
    const text = async () => Buffer.from(await frozen.workspace.read("count")).toString();
    await sh(frozen, "while :; do echo x >> count; sleep 0.01; done >/dev/null 2>&1 & until [ -s count ]; do :; done");
    await Promise.all([frozen.freeze(), frozen.freeze()]);
    const before = await text();
    await Bun.sleep(200);
    expect(await text()).toBe(before);
    expect(await own.driver.sweep(() => false)).toEqual({ removed: 1, left: [] });
    await frozen.stop();
    // An engine that cannot pause: no process that could write remains.
    const pause = () => Promise.reject(new Problem(502, "docker_error", "cgroup freezer not supported"));
    const rootless = sandboxFixture({
      docker: { ...engine, containers: { ...engine.containers, pause } },
      defaultImage: image,
    });
    const sandbox = await rootless.start();
    await sandbox.freeze();
    expect(await engine.containers.list([`skep.instance=${rootless.instanceId}`])).toEqual([]);
    await sandbox.stop();
    await Promise.all([own.end(), rootless.end()]);
  }, 300_000);

  test("is gone after stop, which may be said twice and while a command runs", async () => {
    const sandbox = await fixture.start();
    const up = Promise.withResolvers<void>();
    const running = sandbox.exec(["sh", "-c", "echo up; sleep 60"], { ...EXEC, onOutput: () => up.resolve() });
    await up.promise;
    await Promise.all([
      sandbox.stop(),
      sandbox.stop(),
      expect(running).rejects.toMatchObject({ code: "sandbox_lost" }),
    ]);
    await expect(inspect(sandbox)).rejects.toMatchObject({ code: "docker_not_found" });
  });

  test("a sweep removes the containers of this instance that nobody owns, and only those", async () => {
    const own = sandboxFixture({ docker: engine, defaultImage: image });
    const other = sandboxFixture({ docker: engine, defaultImage: image });
    const [mine, kept, foreign] = await Promise.all([
      own.start(),
      own.start({ executionId: "sess_kept" }),
      other.start(),
    ]);
    await engine.containers.kill(mine.containerId ?? "");
    expect(await own.driver.sweep((execution) => execution === "sess_kept")).toEqual({ removed: 1, left: [] });
    await expect(inspect(mine)).rejects.toMatchObject({ code: "docker_not_found" });
    expect((await inspect(kept)).State.Running).toBe(true);
    expect((await inspect(foreign)).State.Running).toBe(true);
    await Promise.all([own.end(), other.end()]);
  });

  test("a sweep names the places of those that it cannot remove and that can still change files, not the halted", async () => {
    const own = sandboxFixture({ docker: engine, defaultImage: image });
    const fails = () => Promise.reject(new Problem(502, "docker_error", "device or resource busy"));
    const failing = sandboxFixture({
      docker: { ...engine, containers: { ...engine.containers, remove: fails } },
      defaultImage: image,
      instanceId: own.instanceId,
    });
    const [, frozen, killed] = await Promise.all(["run_1", "run_2", "run_3"].map((workId) => own.start({ workId })));
    await Promise.all([frozen!.freeze(), engine.containers.kill(killed!.containerId)]);
    expect(await failing.driver.sweep(() => false)).toEqual({ removed: 0, left: ["run_1"] });
    expect(await own.driver.sweep(() => false)).toEqual({ removed: 3, left: [] });
    await Promise.all([own.end(), failing.end()]);
  });
});

describe.skipIf(!docker)("starting a sandbox", () => {
  const engine = docker as DockerClient;
  let fixture: SandboxFixture;
  beforeAll(async () => {
    fixture = sandboxFixture({ docker: engine, defaultImage: await testImage(engine) });
  });
  afterAll(() => fixture.end());

  test("from an image that does not exist says how to load one, whether it may be pulled or not", async () => {
    const image = "127.0.0.1:1/no/such-image:1";
    for (const pull of [false, true]) {
      const { driver } = sandboxFixture({ docker: engine, defaultImage: image, pull });
      const failure = await driver.start(await fixture.spec(), never).catch((error) => error);
      expect(failure).toMatchObject({ status: 503, code: "image_missing" });
      expect(failure.detail).toContain("skep image load FILE");
      expect(failure.detail).toContain(image);
    }
  });

  test("without an engine says which address does not answer", async () => {
    const nowhere = connectDocker(dockerEndpoint({ host: "unix:///nonexistent/docker.sock" }));
    const { driver } = sandboxFixture({ docker: nowhere, defaultImage: "any" });
    const failure = await driver.start(await fixture.spec(), never).catch((error) => error);
    expect(failure).toMatchObject({ status: 503, code: "sandbox_unavailable" });
    expect(failure.detail).toContain("unix:///nonexistent/docker.sock");
  });

  test("leaves no container behind when it fails or is called off", async () => {
    const spec = await fixture.spec({ home: join(await fixture.workspace(), "missing") });
    await expect(fixture.driver.start(spec, never)).rejects.toMatchObject({ code: "workspace_missing" });
    const stop = new AbortController();
    const starting = fixture.driver.start(await fixture.spec(), stop.signal);
    stop.abort();
    await expect(starting).rejects.toMatchObject({ name: "AbortError" });
    expect(await engine.containers.list([`skep.instance=${fixture.instanceId}`])).toEqual([]);
  });

  test("volumes that an image declares are memory, not folders of the host", async () => {
    const name = `skep-test-volumes:${fixture.instanceId.replaceAll("_", "-")}`;
    const raw = (await import("dockerode")).default;
    const client: Docker = new raw({ socketPath: dockerEndpoint({ host: process.env["DOCKER_HOST"] }).socketPath });
    const base = await client.createContainer({ Image: await testImage(engine), Cmd: ["true"] });
    await base.commit({ repo: name.split(":")[0], tag: name.split(":")[1], changes: "VOLUME /data" });
    await base.remove();
    try {
      const sandbox = await fixture.start({ image: name });
      const { Mounts } = await engine.containers.inspect(sandbox.containerId ?? "");
      expect(Mounts.map((mount) => (mount as { Type: string }).Type).sort()).toEqual(["bind", "tmpfs"]);
      expect(
        (await sandbox.exec(["sh", "-c", "mount | grep -c ' /data type tmpfs'; echo x > /data/x"], EXEC)).output,
      ).toBe("1\n");
      await sandbox.stop();
    } finally {
      await engine.images.remove(name);
    }
  });
});

/**
 * The engine's own files about a container that contain a text. They are only checked if this process can read them, as
 * root on the engine's machine. There the files must contain the container's id, or the check would be meaningless.
 */
async function engineFilesWith(engine: DockerClient, text: string, id: string): Promise<string[]> {
  const { dataRoot } = await engine.info();
  const folder = join(dataRoot, "containers", id);
  if (!isRoot || !existsSync(folder)) return [];
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const all = files.map((entry) => join(entry.parentPath, entry.name));
  expect(all.some((file) => readFileSync(file, "utf8").includes(id))).toBe(true);
  return all.filter((file) => readFileSync(file, "utf8").includes(text));
}
