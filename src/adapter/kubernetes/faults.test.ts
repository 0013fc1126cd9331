/** Faults of an API server: it refuses, asks to wait, cuts connections, forgets versions, and sends malformed data. */
import { afterEach, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { codeOf } from "../../core/errors.ts";
import { membersOf, textIn } from "../../core/is-object.ts";
import { SELF_SIGNED } from "../../testing/certificate.ts";
import { type FakeClusterOptions, serverFrame, startFakeCluster } from "../../testing/kubernetes/fake-cluster.ts";
import type { ClusterAccess } from "./access.ts";
import { createClusterClient } from "./client.ts";
import { EXEC_PROTOCOLS, execInPod } from "./exec.ts";
import { watchObjects } from "./watch.ts";

const PODS = "/api/v1/namespaces/work/pods";
const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

async function clusterOf(options?: FakeClusterOptions) {
  const cluster = await startFakeCluster(options);
  endings.push(cluster.close);
  return { cluster, client: createClusterClient(cluster.access, 1) };
}
const podOf = (name: string) => ({ metadata: { name, labels: { app: "x" } } });
const failure = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error) => error,
  );

describe("a call", () => {
  test("that is told to wait is made again, and given up after some times", async () => {
    const { cluster, client } = await clusterOf();
    const busy = () => cluster.failWith(429, "slow down", { "retry-after": "0" });
    busy();
    busy();
    expect(membersOf(await client.call("GET", PODS))["items"]).toEqual([]);
    expect(cluster.asked).toHaveLength(3);
    for (let i = 0; i < 4; i++) busy();
    expect(await failure(client.call("GET", PODS))).toMatchObject({ status: 503, code: "sandbox_unavailable" });
    const called = new AbortController();
    cluster.fail((_, answer) => {
      cluster.refuse(answer, 429, "slow down", { "retry-after": "9000" });
      called.abort(new Error("called off"));
      return true;
    });
    expect(await failure(client.call("GET", PODS, { signal: called.signal }))).toMatchObject({ message: "called off" });
  });

  test("that is refused says by whom, why and what to do", async () => {
    const { cluster, client } = await clusterOf();
    const refused: [status: number, message: string, code: string, says: RegExp][] = [
      [403, 'User "skep" cannot list resource "pods"', "kubernetes_forbidden", /cannot list.*Apply the roles/],
      [403, "exceeded quota: agents, requested: pods=1", "sandbox_unavailable", /quota is used up: exceeded quota/],
      [401, "Unauthorized", "sandbox_unavailable", /does not accept the server's credentials/],
      [500, "etcd\u0000 leader\nchanged", "sandbox_unavailable", /busy or broken \(500\): etcd leader changed\./],
      [422, "Pod is invalid", "kubernetes_error", /Pod is invalid/],
    ];
    for (const [status, message, code, says] of refused) {
      cluster.failWith(status, message);
      const error = await failure(client.call("POST", PODS, { body: podOf("a") }));
      expect(error).toMatchObject({ code });
      expect(error).toHaveProperty("detail", expect.stringMatching(says));
    }
  });

  test("that another change overtook is made again, and one for a name that is taken is not", async () => {
    const { cluster, client } = await clusterOf();
    const overtaken = () =>
      cluster.failWith(409, "Operation cannot be fulfilled on resourcequotas: the object has been modified");
    overtaken();
    overtaken();
    await client.call("POST", PODS, { body: podOf("a") });
    expect(cluster.asked).toHaveLength(3);
    for (let i = 0; i < 4; i++) overtaken();
    const busy = await failure(client.call("POST", PODS, { body: podOf("b") }));
    expect(busy).toMatchObject({ code: "sandbox_unavailable" });
    const taken = await failure(client.call("POST", PODS, { body: podOf("a") }));
    expect(taken).toMatchObject({ code: "kubernetes_conflict", detail: expect.stringMatching(/already exists/) });
    expect(cluster.asked).toHaveLength(8);
  });

  test("gets no more of an answer than it may hold, and none that breaks off", async () => {
    const { cluster, client } = await clusterOf();
    const answerWith = (text: string) =>
      cluster.fail((_, answer) => {
        answer.writeHead(200, { "content-type": "application/json" });
        answer.end(text);
        return true;
      });
    for (const text of [`"${"x".repeat(17 * 1024 * 1024)}"`, "[".repeat(10_000), "{", "<html>"]) {
      answerWith(text);
      expect(await failure(client.call("GET", PODS))).toMatchObject({ code: "sandbox_unavailable" });
    }
    cluster.fail((_, answer) => {
      answer.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
      answer.write("{");
      setImmediate(() => answer.destroy());
      return true;
    });
    expect(await failure(client.call("GET", PODS))).toMatchObject({ code: "sandbox_unavailable" });
  });

  test("over TLS trusts the cluster's own authority alone, and shows its certificate", async () => {
    const { cluster, client } = await clusterOf({ pair: SELF_SIGNED });
    expect(membersOf(await client.call("GET", PODS))["items"]).toEqual([]);
    const tryExec = (access: ClusterAccess) => failure(execInPod(createClusterClient(access), execOf()));
    expect(await tryExec(cluster.access)).toMatchObject({ code: "kubernetes_not_found" });
    const { cert, key, ca } = cluster.access.tls as Required<ClusterAccess["tls"]>;
    for (const tls of [{ cert, key }, { ca }]) {
      const access = { ...cluster.access, tls: { rejectUnauthorized: true, ...tls } };
      expect(await failure(createClusterClient(access).call("GET", PODS))).toMatchObject({
        code: "sandbox_unavailable",
      });
      expect(await tryExec(access)).toMatchObject({ code: "sandbox_unavailable" });
    }
  });
});

describe("a watch", () => {
  async function startWatch() {
    const { cluster, client } = await clusterOf();
    const seen: string[] = [];
    let look = () => {};
    const note = (text: string) => {
      seen.push(text);
      look();
    };
    const watch = watchObjects(client, {
      path: PODS,
      query: { labelSelector: "app=x" },
      waitMs: 1,
      onObject: (object) => note(`${textIn(membersOf(object)["metadata"], "name")}`),
      onGone: (name) => note(`-${name}`),
    });
    endings.push(watch.close);
    const until = (text: string) =>
      new Promise<void>((resolve) => {
        look = () => {
          if (seen.includes(text)) resolve();
        };
        look();
      });
    const add = (name: string) => client.call("POST", PODS, { body: podOf(name) });
    const lists = () => cluster.asked.filter((one) => one === `GET ${PODS}`).length;
    return { cluster, watch, seen, until, add, lists };
  }

  test("goes on where it was when it is cut, without a list", async () => {
    const { cluster, watch, seen, until, add, lists } = await startWatch();
    await watch.ready;
    await add("a");
    await until("a");
    cluster.cutWatches();
    await add("b");
    await until("b");
    await cluster.remove("a");
    await until("-a");
    expect(seen).toEqual(["a", "b", "-a"]);
    // One list, and one watch for each connection.
    expect(lists()).toBe(1 + 2);
  });

  for (const how of ["as an answer", "as an event"] as const)
    test(`lists again what the API server has forgotten, said ${how}`, async () => {
      const { cluster, watch, seen, until, add } = await startWatch();
      await watch.ready;
      await add("a");
      await until("a");
      cluster.fail((_, answer) => {
        if (how === "as an answer") cluster.refuse(answer, 410, "too old resource version");
        else answer.end(`${JSON.stringify({ type: "ERROR", object: { code: 410, message: "too old" } })}\n`);
        return true;
      });
      cluster.pods.delete("a");
      cluster.cutWatches();
      await until("-a");
      await add("b");
      await until("b");
      expect(seen).toEqual(["a", "-a", "b"]);
    });

  test("that nobody answers any more is begun again where it was", async () => {
    const { cluster, client } = await clusterOf();
    await client.call("POST", PODS, { body: podOf("a") });
    const held = Promise.withResolvers<void>();
    const seen = Promise.withResolvers<void>();
    cluster.fail(({ url }, answer) => {
      if (!url?.includes("watch=true")) return false;
      // The stream never sends anything, as behind a connection that was silently lost.
      answer.writeHead(200, { "content-type": "application/json" }).write("\n");
      held.resolve();
      return true;
    });
    const onObject = (object: unknown) =>
      textIn(membersOf(object)["metadata"], "name") === "b" ? seen.resolve() : undefined;
    const watch = watchObjects(client, { path: PODS, query: {}, waitMs: 1, streamMs: 100, onObject, onGone() {} });
    endings.push(watch.close);
    await held.promise;
    await client.call("POST", PODS, { body: podOf("b") });
    await seen.promise;
    expect(cluster.asked.filter((one) => one === `GET ${PODS}`).length).toBeGreaterThan(2);
  });

  test("that is told each time to list again does not ask without a pause", async () => {
    const { cluster, client } = await clusterOf();
    const forgets = () =>
      cluster.fail(({ url }, answer) => {
        if (!url?.includes("watch=true")) return false;
        forgets();
        cluster.refuse(answer, 410, "too old resource version");
        return true;
      });
    forgets();
    const failed = Promise.withResolvers<void>();
    const onFailure = () => failed.resolve();
    const watch = watchObjects(client, { path: PODS, query: {}, waitMs: 1e9, onFailure, onObject() {}, onGone() {} });
    endings.push(watch.close);
    await failed.promise;
    expect(cluster.asked).toEqual(Array(4).fill(`GET ${PODS}`));
  });

  test("says when it may not look, and survives lines that are none", async () => {
    const { cluster, client } = await clusterOf();
    const failures: unknown[] = [];
    cluster.failWith(403, "cannot watch");
    const told = Promise.withResolvers<void>();
    const watch = watchObjects(client, {
      path: PODS,
      query: {},
      waitMs: 1,
      onGone() {},
      onObject: () => told.resolve(),
      onFailure: (error) => failures.push(codeOf(error)),
    });
    endings.push(watch.close);
    expect(await failure(watch.ready)).toMatchObject({ code: "kubernetes_forbidden" });
    cluster.fail(({ url }, answer) => {
      if (!url?.includes("watch=true")) return false;
      answer.end(`not json\n`);
      return true;
    });
    await client.call("POST", PODS, { body: podOf("a") });
    await told.promise;
    expect(failures[0]).toBe("kubernetes_forbidden");
  });
});

const execOf = (onOutput: (stream: string, chunk: Uint8Array) => void = () => {}) => ({
  namespace: "work",
  pod: "p",
  container: "agent",
  argv: ["true"],
  hasInput: true,
  onOutput,
});

interface Opening {
  /** The HTTP head to send instead of the one that opens a WebSocket. */
  head?: string;
  protocol?: string;
  onOutput?(stream: string, chunk: Uint8Array): void;
}

/** A server that opens a WebSocket and then calls `act` with the socket. */
async function openExec(act: (socket: Socket) => void, { head, protocol = EXEC_PROTOCOLS[1], onOutput }: Opening = {}) {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", (request) => {
      const key = /sec-websocket-key: (.*)\r/i.exec(request.toString())?.[1] ?? "";
      const accepted = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
      const lines = `HTTP/1.1 101 Switching\r\nSec-WebSocket-Accept: ${accepted}\r\nSec-WebSocket-Protocol: ${protocol}\r\n\r\n`;
      socket.write(head ?? lines);
      act(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  endings.push(() => new Promise((resolve) => server.close(resolve)));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const access: ClusterAccess = {
    address,
    server: new URL(address),
    namespace: "work",
    tls: { rejectUnauthorized: true },
    authorization: () => "Bearer t",
  };
  return await execInPod(createClusterClient(access), execOf(onOutput));
}
const status = (value: unknown) => serverFrame(2, Buffer.from(`\u0003${JSON.stringify(value)}`));
const close = serverFrame(8, Buffer.from([3, 0xe8]));

describe("exec", () => {
  test("knows exit codes, and does not know one when the connection is cut before", async () => {
    const causes = [{ reason: "ExitCode", message: "7" }];
    const said: [frames: Buffer[], code: number | null][] = [
      [[status({ status: "Success" }), close], 0],
      [[status({ status: "Failure", details: { causes } }), close], 7],
      [[status({ status: "Failure", message: "no such container" }), close], null],
      [[serverFrame(2, Buffer.from("\u0003{")), close], null],
      [[close], null],
      // Some API servers drop the connection without a close frame.
      [[status({ status: "Success" })], 0],
    ];
    for (const [frames, code] of said) {
      const exec = await openExec((socket) => socket.end(Buffer.concat(frames)));
      await exec.closed;
      expect(exec.exitCode()).toBe(code);
    }
    const cut = await openExec((socket) => socket.destroy());
    expect(await failure(cut.closed)).toMatchObject({ code: "sandbox_unavailable" });
  });

  test("takes messages in parts, and a line of 60 MB without holding it", async () => {
    let [bytes, largest] = [0, 0];
    const piece = serverFrame(2, Buffer.concat([Buffer.from([1]), Buffer.alloc(1024 * 1024, "x")]));
    const count = (_stream: string, chunk: Uint8Array) => {
      bytes += chunk.length;
      largest = Math.max(largest, chunk.length);
    };
    const exec = await openExec(
      async (socket) => {
        for (let i = 0; i < 60; i++) if (!socket.write(piece)) await new Promise((go) => socket.once("drain", go));
        const [first, last] = [serverFrame(2, Buffer.from("\u0001par")), serverFrame(0, Buffer.from("ts"))];
        first[0] = 2;
        socket.end(
          Buffer.concat([first, serverFrame(9, Buffer.from("ping")), last, status({ status: "Success" }), close]),
        );
      },
      { onOutput: count },
    );
    await exec.closed;
    expect([bytes, largest, exec.exitCode()]).toEqual([60 * 1024 * 1024 + 5, 1024 * 1024, 0]);
  });

  const masked = Buffer.from([0x82, 0x81, 0, 0, 0, 0, 1]);
  const wrong: [what: string, bytes: Buffer][] = [
    ["a masked frame", masked],
    ["reserved bits", Buffer.from([0xf2, 1, 1])],
    ["an unknown kind", Buffer.from([0x83, 1, 1])],
    ["a part of nothing", Buffer.from([0x80, 1, 1])],
    ["a message inside another", Buffer.from([0x02, 1, 1, 0x82, 1, 1])],
    ["a long control frame", Buffer.from([0x89, 126, 1, 0])],
    ["a frame of 2^63 bytes", Buffer.from([0x82, 127, 0x7f, 255, 255, 255, 255, 255, 255, 255])],
    ["endless parts", Buffer.concat([Buffer.from([0x02, 1, 1]), ...Array(5).fill(longPart())])],
    ["an endless status", Buffer.concat(Array(3).fill(serverFrame(2, Buffer.alloc(40_000, 3))))],
  ];
  for (const [what, bytes] of wrong)
    test(`ends at ${what}`, async () => {
      const exec = await openExec((socket) => socket.write(bytes));
      await failure(exec.closed);
      // Writing to a broken connection does nothing.
      await exec.write(Buffer.alloc(10));
      if (what !== "an endless status")
        expect(await failure(exec.closed)).toMatchObject({ code: "sandbox_unavailable" });
    });

  test("is refused by what is no API server, in words", async () => {
    const heads: [head: string, says: RegExp][] = [
      ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", /hi/],
      ["SSH-2.0-OpenSSH\r\n\r\n", /does not speak HTTP/],
      ["HTTP/1.1 101 Switching\r\nSec-WebSocket-Accept: x\r\n\r\n", /no WebSocket server/],
      [`HTTP/1.1 101 ${"x".repeat(70_000)}`, /too long/],
    ];
    for (const [head, says] of heads) {
      const error = await failure(openExec((socket) => socket.end(), { head }));
      expect(error).toHaveProperty("detail", expect.stringMatching(says));
    }
  });

  test("closes the input by v5, and says nothing of it by v4, which would take it for input", async () => {
    for (const [protocol, says] of [
      ["v5.channel.k8s.io", [255, 0]],
      ["v4.channel.k8s.io", [0, 120]],
    ] as const) {
      const received = Promise.withResolvers<Buffer>();
      const exec = await openExec((socket) => socket.once("data", (data) => received.resolve(Buffer.from(data))), {
        protocol,
      });
      await exec.endInput();
      await exec.write(Buffer.from("x"));
      const frame = await received.promise;
      const mask = frame.subarray(2, 6);
      expect([...frame.subarray(6, 8)].map((byte, at) => byte ^ mask[at]!)).toEqual([...says]);
      exec.detach();
    }
  });
});

function longPart(): Buffer {
  const part = serverFrame(0, Buffer.alloc(1024 * 1024));
  part[0] = 0;
  return part;
}
