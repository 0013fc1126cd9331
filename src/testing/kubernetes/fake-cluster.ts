/**
 * A fake API server of a cluster. Pods are containers of this machine's engine, and `exec` uses the engine's own
 * program. It supports only what the driver uses, with both versions of the exec protocol, and can be told to fail.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { DockerClient } from "../../adapter/docker.ts";
import type { ClusterAccess } from "../../adapter/kubernetes/access.ts";
import { messageOf } from "../../core/errors.ts";
import { listIn, membersOf, numberIn, textIn } from "../../core/is-object.ts";
import { readJson } from "../../core/json-reader.ts";
import { bodyOf, createFakePools, selectorIn } from "./fake-pools.ts";

export interface FakeClusterOptions {
  /** The engine that runs Pods. Without it, Pods are never started. */
  docker?: DockerClient | undefined;
  protocol?: "v5.channel.k8s.io" | "v4.channel.k8s.io";
  token?: string;
  /** Whether the network plug-in ignores network policies. */
  open?: boolean;
  /**
   * Serves over TLS. The pair is the certificate authority, the server's certificate, and the only client certificate
   * that is accepted.
   */
  pair?: { key: string; cert: string };
}

/** The reasons that API servers give. A 409 for a name that is taken has another reason. */
const REASONS: Readonly<Record<number, string>> = { 409: "Conflict", 410: "Expired", 429: "TooManyRequests" };

/** Answers a request instead of the cluster. @returns whether it did. */
type Fault = (request: IncomingMessage, answer: ServerResponse) => boolean;

interface Pod {
  object: Record<string, unknown>;
  containerId?: string;
}

const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const API_PORT = 6443;
const REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

export async function startFakeCluster(options: FakeClusterOptions = {}) {
  const { docker, protocol = "v5.channel.k8s.io", token = "cluster-token", open = false, pair } = options;
  const pods = new Map<string, Pod>();
  const watchers = new Set<{ answer: ServerResponse; selector: string }>();
  const history: { version: number; type: string; object: unknown }[] = [];
  const faults: Fault[] = [];
  const asked: string[] = [];
  const execs = new Set<Duplex>();
  const events: unknown[] = [];
  const denied: string[] = [];
  /** Starts of Pods that are under way. */
  const starts = new Set<Promise<void>>();
  /** Resolves with the name of the first Pod that is created. */
  const made = Promise.withResolvers<string>();
  const pools = createFakePools({ add: (pod) => void add(pod), remove: (name) => remove(name) });
  let version = 1;

  const sendJson = (answer: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) => {
    answer.writeHead(status, { "content-type": "application/json", ...headers });
    answer.end(JSON.stringify(body));
  };
  const refuse = (answer: ServerResponse, code: number, message: string, headers?: Record<string, string>) =>
    sendJson(answer, code, { kind: "Status", status: "Failure", code, message, reason: REASONS[code] }, headers);

  function publish(type: string, pod: Pod): void {
    version++;
    const { metadata } = pod.object;
    pod.object = { ...pod.object, metadata: { ...membersOf(metadata), resourceVersion: String(version) } };
    history.push({ version, type, object: pod.object });
    for (const { answer, selector } of watchers)
      if (matches(pod.object, selector)) answer.write(`${JSON.stringify({ type, object: pod.object })}\n`);
  }
  function setStatus(name: string, status: Record<string, unknown>): void {
    const pod = pods.get(name);
    if (!pod) return;
    pod.object = { ...pod.object, status };
    publish("MODIFIED", pod);
  }
  async function run(name: string, pod: Pod): Promise<void> {
    if (!docker) return;
    try {
      pod.containerId = await docker.containers.create(containerOf(pod.object, open));
      await docker.containers.start(pod.containerId);
      if (open) await listenInside(pod.containerId);
      if (!pods.has(name)) return await docker.containers.remove(pod.containerId);
      setStatus(name, { phase: "Running", containerStatuses: [{ name: "agent", state: { running: {} } }] });
    } catch (error) {
      const waiting = { reason: "ErrImagePull", message: messageOf(error) };
      setStatus(name, { phase: "Pending", containerStatuses: [{ name: "agent", state: { waiting } }] });
    }
  }
  async function remove(name: string): Promise<void> {
    const pod = pods.get(name);
    if (!pod) return;
    pods.delete(name);
    publish("DELETED", pod);
    if (pod.containerId !== undefined) await docker?.containers.remove(pod.containerId);
  }
  function create(object: unknown, answer: ServerResponse): void {
    const name = textIn(membersOf(object)["metadata"], "name") ?? "";
    if (pods.has(name))
      return sendJson(answer, 409, { code: 409, reason: "AlreadyExists", message: `pods "${name}" already exists` });
    sendJson(answer, 201, add(object).object);
    made.resolve(name);
  }
  function add(object: unknown): Pod {
    const about = membersOf(membersOf(object)["metadata"]);
    const name = textIn(about, "name") ?? "";
    const metadata = { creationTimestamp: new Date().toISOString(), ...about };
    const pod: Pod = { object: { ...membersOf(object), metadata, status: { phase: "Pending" } } };
    pods.set(name, pod);
    publish("ADDED", pod);
    const starting = run(name, pod).finally(() => starts.delete(starting));
    starts.add(starting);
    return pod;
  }
  function review(object: unknown, answer: ServerResponse): void {
    const asks = membersOf(membersOf(membersOf(object)["spec"])["resourceAttributes"]);
    const resource = [textIn(asks, "resource"), textIn(asks, "subresource")].filter(Boolean).join("/");
    sendJson(answer, 201, { status: { allowed: !denied.includes(`${textIn(asks, "verb")} ${resource}`) } });
  }
  function list(query: URLSearchParams, answer: ServerResponse): void {
    const selector = selectorIn(query);
    if (query.get("watch") !== "true") {
      const items = [...pods.values()].map(({ object }) => object).filter((object) => matches(object, selector));
      return sendJson(answer, 200, { kind: "PodList", metadata: { resourceVersion: String(version) }, items });
    }
    const from = Number(query.get("resourceVersion"));
    answer.writeHead(200, { "content-type": "application/json" });
    for (const event of history)
      if (event.version > from && matches(event.object, selector))
        answer.write(`${JSON.stringify({ type: event.type, object: event.object })}\n`);
    answer.write(
      `${JSON.stringify({ type: "BOOKMARK", object: { metadata: { resourceVersion: String(version) } } })}\n`,
    );
    const watcher = { answer, selector };
    watchers.add(watcher);
    answer.on("close", () => watchers.delete(watcher));
  }

  async function handle(request: IncomingMessage, answer: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://cluster");
    asked.push(`${request.method} ${url.pathname}`);
    if (request.headers.authorization !== `Bearer ${token}`) return refuse(answer, 401, "Unauthorized");
    if (faults[0]?.(request, answer)) return void faults.shift();
    const [, name] = /^\/api\/v1\/namespaces\/work\/pods(?:\/([^/]+))?$/.exec(url.pathname) ?? [];
    if (url.pathname.endsWith("/events")) return sendJson(answer, 200, { kind: "EventList", items: events });
    if (url.pathname === REVIEWS) return review(readJson(await bodyOf(request)), answer);
    if (url.pathname.startsWith("/apis/")) return await pools.handle(request, url, answer);
    if (request.method === "POST") return create(readJson(await bodyOf(request)), answer);
    if (name === undefined) return list(url.searchParams, answer);
    const pod = pods.get(name);
    if (!pod) return refuse(answer, 404, `pods "${name}" not found`);
    if (request.method === "DELETE") await remove(name);
    sendJson(answer, 200, pod.object);
  }

  function enter(request: IncomingMessage, socket: Duplex): void {
    const url = new URL(request.url ?? "/", "http://cluster");
    const [, name = ""] = /\/pods\/([^/]+)\/exec$/.exec(url.pathname) ?? [];
    asked.push(`EXEC ${url.pathname}${url.search}`);
    const pod = pods.get(name);
    const offered = String(request.headers["sec-websocket-protocol"]).split(", ");
    if (!pod?.containerId || !offered.includes(protocol)) {
      const body = JSON.stringify({ message: `pods "${name}" not found` });
      return void socket.end(`HTTP/1.1 404 Not Found\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    }
    const key = String(request.headers["sec-websocket-key"]);
    const accepted = createHash("sha1")
      .update(key + GUID)
      .digest("base64");
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accepted}\r\nSec-WebSocket-Protocol: ${protocol}\r\n\r\n`,
    );
    execs.add(socket);
    socket.on("close", () => execs.delete(socket));
    talk(socket, ["exec", "-i", pod.containerId, ...url.searchParams.getAll("command")], protocol);
  }

  const take = (request: IncomingMessage, answer: ServerResponse) => {
    handle(request, answer).catch((error) => refuse(answer, 500, messageOf(error)));
  };
  const server: Server = pair
    ? createTlsServer({ ...pair, ca: pair.cert, requestCert: true, rejectUnauthorized: true }, take)
    : createServer(take);
  server.on("upgrade", enter);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const { port } = server.address() as AddressInfo;
  const address = pair ? `https://localhost:${port}` : `http://127.0.0.1:${port}`;
  const tls = { rejectUnauthorized: true, ...(pair ? { ...pair, ca: pair.cert } : {}) };
  const access: ClusterAccess = {
    address,
    server: new URL(address),
    namespace: "work",
    tls,
    authorization: () => `Bearer ${token}`,
  };
  return {
    access,
    asked,
    pods,
    made: made.promise,
    /** The cluster's events, as `kubectl get events` shows them. */
    events,
    /** Permissions that the server lacks, as `verb resource`. */
    denied,
    pools,
    setStatus,
    add,
    remove,
    /** Handles the next request that it accepts. */
    fail: (fault: Fault) => void faults.push(fault),
    /** Refuses the next request with this status. */
    failWith: (status: number, message: string, headers?: Record<string, string>) =>
      void faults.push((_, answer) => {
        refuse(answer, status, message, headers);
        return true;
      }),
    refuse,
    /** Ends all watches, as an API server does from time to time. */
    cutWatches() {
      for (const { answer } of watchers) answer.destroy();
    },
    cutExecs() {
      for (const socket of execs) socket.destroy();
    },
    async close() {
      for (const name of [...pods.keys()]) await remove(name);
      // A Pod that was being started is removed by its start.
      await Promise.allSettled(starts);
      for (const { answer } of watchers) answer.destroy();
      for (const socket of execs) socket.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function matches(object: unknown, selector: string): boolean {
  const metadata = membersOf(membersOf(object)["metadata"]);
  const labels: Record<string, unknown> = { ...membersOf(metadata["labels"]), "metadata.name": metadata["name"] };
  return selector.split(",").every((one) => {
    const [key = "", value] = one.split("=");
    return key === "" || labels[key] === value;
  });
}

/** Translates a Pod into a container. What is not translated here is not tested. */
function containerOf(pod: Record<string, unknown>, open: boolean) {
  const spec = membersOf(pod["spec"]);
  const container = membersOf(listIn(spec, "containers")[0]);
  const user = numberIn(spec["securityContext"], "runAsUser") ?? 0;
  const limits = membersOf(membersOf(container["resources"])["limits"]);
  const memory = Number.parseInt(textIn(limits, "memory") ?? "64", 10) * 1024 * 1024;
  const mounts = listIn(container, "volumeMounts").map((mount) => textIn(mount, "mountPath") ?? "");
  const variables = listIn(container, "env").map((pair) => `${textIn(pair, "name")}=${textIn(pair, "value")}`);
  const host = open ? "127.0.0.1" : "10.96.0.1";
  return {
    Image: textIn(container, "image") ?? "",
    Entrypoint: listIn(container, "command").map(String),
    Cmd: [],
    User: `${user}:${user}`,
    WorkingDir: textIn(container, "workingDir") ?? "/",
    Env: [...variables, `KUBERNETES_SERVICE_HOST=${host}`, `KUBERNETES_SERVICE_PORT=${API_PORT}`],
    Labels: { "skep.fake-cluster": "true" },
    Hostname: "sandbox",
    HostConfig: {
      Memory: memory,
      MemorySwap: memory,
      PidsLimit: 512,
      CapDrop: ["ALL"],
      SecurityOpt: ["no-new-privileges"],
      ReadonlyRootfs: true,
      NetworkMode: "none",
      Tmpfs: Object.fromEntries(mounts.map((path) => [path, `rw,nosuid,nodev,exec,uid=${user},gid=${user},mode=0770`])),
    },
  };
}

/** Makes something answer at the address of the API server. */
async function listenInside(containerId: string): Promise<void> {
  spawn("docker", ["exec", "-d", containerId, "nc", "-ll", "-p", String(API_PORT), "-e", "true"], { stdio: "ignore" });
  const script = `until nc -w 1 127.0.0.1 ${API_PORT} </dev/null; do sleep 0.1; done`;
  const child = spawn("docker", ["exec", containerId, "sh", "-c", script], { stdio: "ignore" });
  await new Promise((resolve) => child.once("exit", resolve));
}

/** Encodes a frame of a server, which is not masked. */
export function serverFrame(opcode: number, data: Uint8Array): Buffer {
  const long = data.length < 126 ? 0 : data.length < 65_536 ? 2 : 8;
  const head = Buffer.alloc(2 + long);
  head[0] = 0x80 | opcode;
  head[1] = long === 0 ? data.length : long === 2 ? 126 : 127;
  if (long === 2) head.writeUInt16BE(data.length, 2);
  if (long === 8) head.writeBigUInt64BE(BigInt(data.length), 2);
  return Buffer.concat([head, data]);
}

/** Carries a program's input and output over the channels of the protocol. */
function talk(socket: Duplex, argv: readonly string[], protocol: string): void {
  const child = spawn("docker", argv, { stdio: ["pipe", "pipe", "pipe"] });
  const send = (channel: number, data: Uint8Array) =>
    socket.destroyed || socket.write(serverFrame(2, Buffer.concat([Buffer.from([channel]), data])));
  const carry = (channel: number, from: NodeJS.ReadableStream) =>
    from.on("data", (chunk: Buffer) => {
      if (send(channel, chunk)) return;
      from.pause();
      socket.once("drain", () => from.resume());
    });
  carry(1, child.stdout);
  carry(2, child.stderr);
  child.stdin.on("error", () => {});
  socket.on("error", () => {});
  socket.on("close", () => child.stdin.end());
  const read = createClientFrames((opcode, data) => {
    if (opcode === 9) socket.write(serverFrame(10, data));
    if (opcode !== 2) return;
    if (data[0] === 0) child.stdin.write(Buffer.from(data.subarray(1)));
    if (data[0] === 255 && data[1] === 0 && protocol.startsWith("v5")) child.stdin.end();
  });
  socket.on("data", read);
  child.once("close", (code) => {
    const causes = [{ reason: "ExitCode", message: String(code) }];
    const status =
      code === 0 ? { status: "Success" } : { status: "Failure", reason: "NonZeroExitCode", details: { causes } };
    send(3, Buffer.from(JSON.stringify(status)));
    socket.end(serverFrame(8, Buffer.from([0x03, 0xe8])));
  });
}

/** Decodes masked frames. */
function createClientFrames(onFrame: (opcode: number, data: Buffer) => void): (chunk: Buffer) => void {
  let held = Buffer.alloc(0);
  return (chunk) => {
    held = Buffer.concat([held, chunk]);
    for (;;) {
      if (held.length < 2) return;
      const short = held[1]! & 0x7f;
      const long = short < 126 ? 0 : short === 126 ? 2 : 8;
      const at = 2 + long + 4;
      if (held.length < at) return;
      const size = long === 0 ? short : long === 2 ? held.readUInt16BE(2) : Number(held.readBigUInt64BE(2));
      if (held.length < at + size) return;
      const mask = held.subarray(at - 4, at);
      const data = Buffer.from(held.subarray(at, at + size)).map((byte, i) => byte ^ mask[i & 3]!);
      const opcode = held[0]! & 0x0f;
      held = held.subarray(at + size);
      onFrame(opcode, Buffer.from(data));
    }
  };
}
