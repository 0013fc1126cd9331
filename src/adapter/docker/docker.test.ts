/** The wrapper around the engine's API, tested on a real engine if there is one. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, createConnection, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { newId } from "../../core/ids.ts";
import { dockerForTests, testImage } from "../../testing/docker-image.ts";
import { lacks } from "../../testing/parts.ts";
import { connectDocker, connectFound, type DockerClient } from "../docker.ts";
import { createDemuxer } from "./demux.ts";
import { dockerEndpoint } from "./endpoint.ts";
import { splitImageName } from "./images.ts";

describe("the address of the engine", () => {
  test("is read as DOCKER_HOST is written", () => {
    expect(dockerEndpoint({ host: "unix:///run/x.sock" })).toEqual({
      address: "unix:///run/x.sock",
      socketPath: "/run/x.sock",
    });
    expect(dockerEndpoint({ host: "/run/y.sock" }).socketPath).toBe("/run/y.sock");
    expect(dockerEndpoint({ host: "tcp://10.0.0.2:2375" }).tcp).toEqual({ host: "10.0.0.2", port: 2375 });
    expect(dockerEndpoint({ host: "http://proxy" })).toEqual({
      address: "tcp://proxy:2375",
      tcp: { host: "proxy", port: 2375 },
    });
    for (const host of ["npipe:////./pipe/x", "tcp://", "https://host:2376"])
      expect(() => dockerEndpoint({ host })).toThrow();
  });

  test("is looked for again until an engine has answered, and then stays", async () => {
    const folder = mkdtempSync(join(tmpdir(), "skep-late-engine-"));
    const [first, second] = [join(folder, "first.sock"), join(folder, "second.sock")];
    let found = first;
    const client = connectFound(() => dockerEndpoint({ host: found }));
    await expect(client.ping()).rejects.toMatchObject({ code: "sandbox_unavailable" });
    const late = Bun.serve({ unix: second, fetch: () => Response.json([]) });
    found = second;
    await client.ping();
    found = first;
    expect(client.address).toBe(`unix://${second}`);
    expect(await client.containers.list([])).toEqual([]);
    await late.stop(true);
    rmSync(folder, { recursive: true });
  });

  test("image names are split at the tag, not at a registry's port", () => {
    expect(splitImageName("a/b")).toEqual({ repository: "a/b", tag: "latest" });
    expect(splitImageName("host:5000/a/b")).toEqual({ repository: "host:5000/a/b", tag: "latest" });
    expect(splitImageName("host:5000/a/b:1")).toEqual({ repository: "host:5000/a/b", tag: "1" });
    expect(splitImageName("a@sha256:00")).toEqual({ repository: "a@sha256:00", tag: "" });
  });
});

test("a removal that another call has begun is an error only for who needs it gone, and none is waited for too long", async () => {
  const folder = mkdtempSync(join(tmpdir(), "skep-engine-"));
  const busy = (request: Request) =>
    request.url.includes("hangs")
      ? new Promise<Response>(() => {})
      : Response.json({ message: "removal of container is already in progress" }, { status: 409 });
  const unix = join(folder, "docker.sock");
  const server = Bun.serve({ unix, fetch: busy });
  const { containers } = connectDocker(dockerEndpoint({ host: unix }));
  await containers.remove("taken");
  await expect(containers.remove("taken", { mustBeGone: true })).rejects.toMatchObject({ code: "docker_conflict" });
  const late = { signal: AbortSignal.timeout(50) };
  await expect(containers.remove("hangs", late)).rejects.toMatchObject({ code: "sandbox_unavailable" });
  await server.stop(true);
  rmSync(folder, { recursive: true });
});

describe("the multiplexed stream", () => {
  test("comes apart the same however it is cut", () => {
    const frames = fc.array(fc.record({ stream: fc.constantFrom(1, 2), data: fc.uint8Array({ maxLength: 50 }) }), {
      maxLength: 8,
    });
    fc.assert(
      fc.property(frames, fc.integer({ min: 1, max: 20 }), (list, cut) => {
        const wire = Buffer.concat(
          list.flatMap(({ stream, data }) => {
            const header = Buffer.alloc(8);
            header[0] = stream;
            header.writeUInt32BE(data.length, 4);
            return [header, Buffer.from(data)];
          }),
        );
        const got = { stdout: [] as Uint8Array[], stderr: [] as Uint8Array[] };
        const feed = createDemuxer((stream, chunk) => got[stream].push(chunk.slice()));
        for (let at = 0; at < wire.length; at += cut) feed(wire.subarray(at, at + cut));
        for (const [number, name] of [
          [1, "stdout"],
          [2, "stderr"],
        ] as const)
          expect(Buffer.concat(got[name])).toEqual(
            Buffer.concat(list.filter(({ stream }) => stream === number).map(({ data }) => data)),
          );
      }),
    );
  });

  test("one that is not multiplexed is an error, not garbage", () => {
    expect(() => createDemuxer(() => {})(Buffer.from("hello world"))).toThrow("not multiplexed");
  });
});

test("an engine that accepts and never answers is unavailable after the time given", async () => {
  const silent = createServer(() => {}).listen(0, "127.0.0.1");
  await new Promise((ready) => silent.once("listening", ready));
  const { port } = silent.address() as { port: number };
  const client = connectDocker(dockerEndpoint({ host: `tcp://127.0.0.1:${port}` }));
  await expect(client.ping(200)).rejects.toMatchObject({ status: 503, code: "sandbox_unavailable" });
  silent.close();
});

const docker = await dockerForTests(process.env);

describe.skipIf(!docker)("an engine", () => {
  const engine = docker as DockerClient;
  const label = `skep.test=${newId("instance")}`;
  let image: string;
  beforeAll(async () => {
    image = await testImage(engine);
  });
  afterAll(async () => {
    for (const row of await engine.containers.list([label])) await engine.containers.remove(row.id);
  });
  const create = (script: string, streams: object = {}) => {
    const [name = "", value = ""] = label.split("=");
    return engine.containers.create({
      Image: image,
      Cmd: ["sh", "-c", script],
      Labels: { [name]: value },
      ...streams,
      HostConfig: { NetworkMode: "none" },
    });
  };
  const run = async (script: string) => {
    const id = await create(script);
    await engine.containers.start(id);
    return id;
  };

  test("is the one that was given, whatever the environment's own DOCKER_HOST says", async () => {
    const before = process.env["DOCKER_HOST"];
    process.env["DOCKER_HOST"] = "tcp://127.0.0.1:1";
    try {
      await connectDocker(dockerEndpoint({ host: engine.address })).ping();
    } finally {
      if (before === undefined) delete process.env["DOCKER_HOST"];
      else process.env["DOCKER_HOST"] = before;
    }
  });

  test.skipIf(lacks("container engine at a socket", docker?.address.startsWith("unix://") === true))(
    "is spoken to over tcp as over its socket, commands with input too",
    async () => {
      const path = engine.address.slice("unix://".length);
      const proxy = createServer({ allowHalfOpen: true }, (client) => {
        const up = createConnection({ path, allowHalfOpen: true });
        client.pipe(up).pipe(client);
        client.on("error", () => up.destroy());
        up.on("error", () => client.destroy());
      }).listen(0, "127.0.0.1");
      await new Promise((ready) => proxy.once("listening", ready));
      const { port } = proxy.address() as { port: number };
      const remote = connectDocker(dockerEndpoint({ host: `tcp://127.0.0.1:${port}` }));
      const id = await run("sleep 60");
      const output: string[] = [];
      const running = await remote.containers.exec(id, {
        argv: ["sh", "-c", "cat; exit 5"],
        stdin: "over tcp",
        onOutput: (_, chunk) => output.push(Buffer.from(chunk).toString()),
      });
      await running.closed;
      expect([output.join(""), await running.exitCode()]).toEqual(["over tcp", 5]);
      await remote.containers.remove(id);
      proxy.close();
    },
  );

  test("says what it is", async () => {
    expect(await engine.info()).toMatchObject({ engine: expect.stringMatching(/^(docker|podman)$/), os: "linux" });
  });

  test("tells what volumes take to each of those who ask at once", async () => {
    const answers = await Promise.all(Array.from({ length: 4 }, () => engine.volumes.usage()));
    expect(answers.map((rows) => Array.isArray(rows))).toEqual([true, true, true, true]);
  });

  test("lists containers by label with their state, and samples what they use", async () => {
    const id = await run("sleep 60");
    const [row] = await engine.containers.list([label]);
    expect(row).toMatchObject({ id, state: "running" });
    const stats = await engine.containers.stats(id);
    expect(stats.processes).toBeGreaterThan(0);
    expect(stats.memoryBytes).toBeGreaterThan(0);
    await engine.containers.remove(id);
    await engine.containers.remove(id);
    expect(await engine.containers.list([label])).toEqual([]);
  });

  test("gives the last lines of a log, follows it as it grows, and lets go when asked", async () => {
    const id = await run("echo one; echo two; echo err >&2; sleep 1; echo three; sleep 60");
    const stop = new AbortController();
    const followed: string[] = [];
    for await (const { text } of engine.containers.logs(id, { follow: true, signal: stop.signal })) {
      followed.push(text);
      if (text.includes("three")) stop.abort();
    }
    expect(followed.join("").split("\n").sort()).toEqual(["", "err", "one", "three", "two"]);
    const tail = await Array.fromAsync(engine.containers.logs(id, { follow: false, tail: 1 }));
    expect(tail).toEqual([{ stream: "stdout", text: "three\n" }]);
    await engine.containers.remove(id);
    await expect(Array.fromAsync(engine.containers.logs(id, { follow: true }))).rejects.toMatchObject({
      code: "docker_not_found",
    });
  });

  test("a follower of a log ends when the container goes", async () => {
    const id = await run("echo up; sleep 60");
    const lines: string[] = [];
    for await (const { text } of engine.containers.logs(id, { follow: true })) {
      lines.push(text);
      void engine.containers.remove(id);
    }
    expect(lines).toEqual(["up\n"]);
  });

  test("keeps a container that floods waiting while its reader pauses, and every byte comes when it goes on", async () => {
    const bytes = 64 * 1024 ** 2;
    const streams = { AttachStdin: true, AttachStdout: true, AttachStderr: true, OpenStdin: true, StdinOnce: true };
    const id = await create(`head -c ${bytes} /dev/zero; sleep 1000`, streams);
    let received = 0;
    let paused = Promise.withResolvers<void>();
    const attached = await engine.containers.attach(id, (_, chunk) => {
      received += chunk.byteLength;
      if (received < bytes / 64) return;
      attached.pause();
      paused.resolve();
    });
    await engine.containers.start(id);
    await paused.promise;
    const before = received;
    // Meanwhile another process of the container writes as many bytes, while the first still waits with most of its
    // own.
    const script = `head -c ${bytes} /dev/zero | wc -c; cat /proc/[0-9]*/comm`;
    const said: string[] = [];
    const other = await engine.containers.exec(id, {
      argv: ["sh", "-c", script],
      onOutput: (_, chunk) => void said.push(Buffer.from(chunk).toString()),
    });
    await other.closed;
    const [made, ...processes] = said.join("").split("\n");
    expect([made, processes.filter((name) => name === "head")]).toEqual([String(bytes), ["head"]]);
    expect(received).toBe(before);
    expect(received).toBeLessThan(bytes / 2);
    // From now on the stream is paused and resumed for each piece, up to the last byte.
    paused = Promise.withResolvers();
    while (received < bytes) {
      attached.resume();
      await paused.promise;
      paused = Promise.withResolvers();
    }
    expect(received).toBe(bytes);
    await engine.containers.remove(id);
    await attached.closed;
  });

  test("says what does not exist and what cannot be, each by its own word", async () => {
    await expect(engine.containers.inspect("nonesuch")).rejects.toMatchObject({
      status: 404,
      code: "docker_not_found",
    });
    expect(await engine.images.inspect("nonesuch:1")).toBeUndefined();
    const id = await run("true");
    await engine.containers.kill(id);
    await expect(engine.containers.exec(id, { argv: ["true"], onOutput: () => {} })).rejects.toMatchObject({
      status: 409,
      code: "docker_conflict",
    });
    await engine.containers.remove(id);
    await expect(engine.images.pull("127.0.0.1:1/x:1")).rejects.toMatchObject({ status: 502, code: "docker_error" });
  });
});

describe.skipIf(lacks("openssl", Bun.which("openssl") !== null))("an engine over TLS", () => {
  const folder = mkdtempSync(join(tmpdir(), "skep-tls-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const at = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => expect(Bun.spawnSync(["openssl", ...args], { cwd: folder }).exitCode).toBe(0);
  const ELLIPTIC = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  /** Makes certificates in folders as DOCKER_CERT_PATH needs them; each folder has its own CA. */
  function authority(name: string): void {
    const ca = ["-CA", `${name}.pem`, "-CAkey", `${name}-key.pem`, "-days", "2"];
    openssl("req", "-x509", ...ELLIPTIC, "-keyout", `${name}-key.pem`, "-out", `${name}.pem`, "-subj", `/CN=${name}`);
    for (const [who, subject] of [
      ["server", "localhost"],
      ["client", "skep"],
    ]) {
      const own = `${name}-${who}`;
      openssl("req", ...ELLIPTIC, "-keyout", `${own}.key`, "-out", `${own}.csr`, "-subj", `/CN=${subject}`);
      writeFileSync(at("names"), "subjectAltName=DNS:localhost,IP:127.0.0.1\n");
      openssl("x509", "-req", "-in", `${own}.csr`, "-out", `${own}.pem`, "-extfile", "names", ...ca);
    }
  }
  function certPath(ca: string, client: string): string {
    const path = mkdtempSync(at("client-"));
    copyFileSync(at(`${ca}.pem`), join(path, "ca.pem"));
    copyFileSync(at(`${client}-client.pem`), join(path, "cert.pem"));
    copyFileSync(at(`${client}-client.key`), join(path, "key.pem"));
    return path;
  }

  test("is spoken to with the client's certificate, and neither another CA's server nor another CA's client is accepted", async () => {
    for (const name of ["right", "wrong"]) authority(name);
    const read = (name: string) => readFileSync(at(name), "utf8");
    let answered = 0;
    const engine = createTlsServer(
      {
        ca: read("right.pem"),
        cert: read("right-server.pem"),
        key: read("right-server.key"),
        requestCert: true,
        rejectUnauthorized: true,
      },
      (_, response) => {
        answered += 1;
        response.end("[]");
      },
    );
    await new Promise<void>((resolve) => engine.listen(0, "127.0.0.1", resolve));
    const { port } = engine.address() as AddressInfo;
    const list = (path: string) =>
      connectDocker(dockerEndpoint({ host: `tcp://localhost:${port}`, certPath: path })).containers.list([]);
    expect(await list(certPath("right", "right"))).toEqual([]);
    expect(answered).toBe(1);
    const refused = { code: "sandbox_unavailable" };
    await expect(list(certPath("wrong", "right"))).rejects.toMatchObject(refused);
    await expect(list(certPath("right", "wrong"))).rejects.toMatchObject(refused);
    expect(answered).toBe(1);
    await new Promise((resolve) => engine.close(resolve));
  });
});
