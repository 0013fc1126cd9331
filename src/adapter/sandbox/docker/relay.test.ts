/** Routes into containers without a network, used from inside a real container. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { type AddressInfo, createServer, type Server } from "node:net";
import type { Duplex } from "node:stream";
import { dockerForTests, testImage } from "../../../testing/docker-image.ts";
import { EXEC, type SandboxFixture, sandboxFixture } from "../../../testing/sandbox-fixture.ts";
import { createRelayConnections, HELD_BYTES } from "../relay/connections.ts";
import { RELAY_PROGRAMS } from "../relay/program.ts";

const docker = await dockerForTests(process.env);

test("the relay's programs are made of the sources beside them", () => {
  const sources = ["system.h", "relay.c"].map((name) => readFileSync(`${import.meta.dir}/../relay/${name}`));
  const source = createHash("sha256").update(Buffer.concat(sources)).digest("hex");
  for (const program of new Set(Object.values(RELAY_PROGRAMS)))
    expect(readFileSync(program).includes(`skep-relay-source:${source}`)).toBe(true);
});

test("the relay connects to programs on either loopback address, and says where none listens", async () => {
  const program = RELAY_PROGRAMS[process.arch === "arm64" ? "arm64" : "x86_64"]!;
  const relay = Bun.spawn([program], { stdin: "pipe", stdout: "pipe" });
  const connections = createRelayConnections((bytes) => {
    relay.stdin.write(bytes);
    relay.stdin.flush();
  });
  const reading = (async () => {
    for await (const chunk of relay.stdout) connections.feed(chunk);
  })();
  const server = createServer((socket) => socket.end("six"));
  await new Promise<void>((resolve) => server.listen(0, "::1", resolve));
  const { port } = server.address() as AddressInfo;
  const connection = await connections.connect(port);
  expect(Buffer.concat(await Array.fromAsync(connection)).toString()).toBe("six");
  connection.end();
  await new Promise((resolve) => server.close(resolve));
  await expect(connections.connect(port)).rejects.toThrow("nothing listens");
  relay.stdin.end();
  await Promise.all([reading, relay.exited]);
  connections.end();
  await expect(connections.connect(port)).rejects.toThrow("ended");
  expect(() => createRelayConnections(() => {}).feed(Buffer.from([7, 0, 0, 0, 1, 0, 0, 0]))).toThrow("nobody asked");
});

const echo = (connection: Duplex) => void connection.pipe(connection);

describe.skipIf(!docker)("routes of a container without a network", () => {
  let sandboxes: SandboxFixture;
  beforeAll(async () => {
    sandboxes = sandboxFixture({ docker: docker!, defaultImage: await testImage(docker!) });
  });
  afterAll(() => sandboxes.end());
  const inside = async (sandbox: Awaited<ReturnType<SandboxFixture["start"]>>, line: string) =>
    (await sandbox.exec(["sh", "-c", line], EXEC)).output;

  test("carry what programs send and get, many at once, to the last byte of large ones", async () => {
    const sandbox = await sandboxes.start({ routes: true });
    const { host, port } = await sandbox.openRoute(echo);
    expect(await inside(sandbox, `echo hello | nc ${host} ${port}`)).toBe("hello\n");
    const large = `head -c 5000000 /dev/urandom > /tmp/in; nc ${host} ${port} < /tmp/in > /tmp/out; cmp /tmp/in /tmp/out && echo same`;
    expect(await inside(sandbox, large)).toBe("same\n");
    const many = `for i in $(seq 100); do (echo $i | nc ${host} ${port} >> /tmp/all) & done; wait; sort -n /tmp/all | uniq | wc -l`;
    expect((await inside(sandbox, many)).trim()).toBe("100");
    await sandbox.stop();
  });

  test("one that nobody reads holds up no other, and holds little", async () => {
    const sandbox = await sandboxes.start({ routes: true });
    const ignored: Duplex[] = [];
    const silent = await sandbox.openRoute((connection) => ignored.push(connection));
    const { port } = await sandbox.openRoute(echo);
    const output = await inside(
      sandbox,
      `(head -c 50000000 /dev/zero | nc 127.0.0.1 ${silent.port}) & echo on | nc 127.0.0.1 ${port}; kill $!`,
    );
    expect(output).toBe("on\n");
    expect(ignored[0]!.readableLength).toBeLessThanOrEqual(HELD_BYTES);
    await sandbox.stop();
  });

  test("end on either side when the other does, and with the sandbox", async () => {
    const sandbox = await sandboxes.start({ routes: true });
    const refused = await sandbox.openRoute((connection) => connection.end("no\n"));
    expect(await inside(sandbox, `nc 127.0.0.1 ${refused.port} < /dev/null`)).toBe("no\n");
    const taken = Promise.withResolvers<Duplex>();
    const held = await sandbox.openRoute(taken.resolve);
    const waits = sandbox.exec(["sh", "-c", `nc 127.0.0.1 ${held.port}; echo over`], EXEC).catch(() => undefined);
    const connection = await taken.promise;
    const closed = new Promise((resolve) => connection.once("close", resolve));
    await sandbox.stop();
    await closed;
    await waits;
  });

  test("are there again when the agent's container was started again", async () => {
    const sandbox = await sandboxes.start({ routes: true });
    const { port } = await sandbox.openRoute(echo);
    await docker!.containers.exec(sandbox.containerId, { argv: ["true"], onOutput: () => {} });
    // A fork bomb leaves no room for a process that would kill it, so the container is restarted.
    const bomb = "trap '' TERM; f() { f | f & }; f; while :; do :; done";
    await sandbox.exec(["sh", "-c", bomb], { ...EXEC, timeoutMs: 1_000 });
    expect(await inside(sandbox, `echo again | nc 127.0.0.1 ${port}`)).toBe("again\n");
    await sandbox.stop();
  });

  test("nothing else is reachable: the host, its bridges, another sandbox and its routes, names, IPv6", async () => {
    const host: Server = createServer((socket) => socket.end("HOST"));
    await new Promise<void>((resolve) => host.listen(0, "0.0.0.0", resolve));
    const { port: hostPort } = host.address() as AddressInfo;
    const other = await sandboxes.start({ routes: true });
    const { port: otherPort } = await other.openRoute((connection) => connection.end("OTHER"));
    const sandbox = await sandboxes.start({ routes: true });
    try {
      expect((await inside(sandbox, "ls /sys/class/net")).trim()).toBe("lo");
      expect((await inside(sandbox, "cat /proc/net/route")).trim().split("\n")).toHaveLength(1);
      for (const address of ["127.0.0.1", "172.17.0.1", "10.0.0.1", "1.1.1.1", "169.254.169.254"])
        for (const port of [hostPort, otherPort])
          expect(await inside(sandbox, `nc -w 2 ${address} ${port} < /dev/null; echo $?`)).toMatch(/[^0]\n$/);
      expect(await inside(sandbox, `nc -w 2 ::1 ${hostPort} < /dev/null; echo $?`)).toMatch(/[^0]\n$/);
      expect(await inside(sandbox, "nslookup example.org; echo $?")).toMatch(/[^0]\n$/);
    } finally {
      host.close();
      await Promise.all([sandbox.stop(), other.stop()]);
    }
  });

  test("the container gets nothing of the host but its workspace and the relay's program", async () => {
    const sandbox = await sandboxes.start({ routes: true });
    const { Mounts, HostConfig } = await docker!.containers.inspect(sandbox.containerId);
    expect(Mounts.filter(({ Type }) => Type === "bind").map(({ Destination, RW }) => [Destination, RW])).toEqual(
      expect.arrayContaining([
        ["/workspace", true],
        ["/run/skep-relay", false],
      ]),
    );
    expect(HostConfig.NetworkMode).toBe("none");
    await sandbox.stop();
  });
});
