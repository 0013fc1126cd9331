/**
 * A WebSocket to the API server, over a connection of its own. The runtime's own client can be given neither bounds nor
 * back pressure: what a hostile program writes would pile up here. A peer that answers no pings is given up.
 */
import { createHash, randomBytes } from "node:crypto";
import { connect as connectPlain, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { ClusterTls } from "./access.ts";
import { tlsOptions } from "./client.ts";
import { refusal } from "./failures.ts";
import { createFrameReader, frameOf, OPCODES } from "./frames.ts";

interface WebSocketRequest {
  url: URL;
  tls: ClusterTls;
  authorization: string | undefined;
  /** The best first. */
  protocols: readonly string[];
  /** The bytes are the reader's own only until it returns. What it throws ends the connection. */
  onMessage(data: Buffer): void;
  signal?: AbortSignal | undefined;
}

type ClusterSocket = ReturnType<typeof talk>;

const HEAD_BYTES = 64 * 1024;
const OPEN_MS = 30_000;
const PING_MS = 20_000;
/** Pings without an answer, or anything else received, until the peer is given up. */
const MISSES = 3;
const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/** @throws Problem when the API server refuses, an Error when it does not answer or is none. */
export async function openWebSocket(request: WebSocketRequest): Promise<ClusterSocket> {
  const { url, tls, signal } = request;
  signal?.throwIfAborted();
  const isTls = url.protocol === "https:";
  const place = { host: url.hostname.replace(/^\[|\]$/g, ""), port: Number(url.port || (isTls ? 443 : 80)) };
  const socket = isTls
    ? connectTls({ ...tlsOptions(tls), ...place, servername: tls.serverName ?? nameOf(place.host) })
    : connectPlain(place);
  const timer = setTimeout(() => socket.destroy(new Error("it took too long to answer")), OPEN_MS);
  const stop = () => socket.destroy(new Error("called off"));
  signal?.addEventListener("abort", stop, { once: true });
  try {
    const key = randomBytes(16).toString("base64");
    await waitUntilConnected(socket, isTls ? "secureConnect" : "connect");
    socket.write(headOf(request, key));
    const { status, headers, body, rest } = await answerOf(socket);
    if (status !== 101) throw refusal(status, body, url.origin);
    const accepted = createHash("sha1")
      .update(key + GUID)
      .digest("base64");
    if (headers.get("sec-websocket-accept") !== accepted) throw new Error("it is no WebSocket server");
    const protocol = headers.get("sec-websocket-protocol") ?? "";
    if (!request.protocols.includes(protocol)) throw new Error(`it knows none of ${request.protocols.join(", ")}`);
    return talk(socket, protocol, rest, request.onMessage);
  } catch (error) {
    socket.destroy();
    signal?.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
}

/** Certificates are checked against a name; an address is given none. */
const nameOf = (host: string): string => (/^[\d.]+$|:/.test(host) ? "" : host);

function waitUntilConnected(socket: Socket, event: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once("error", reject);
    socket.once("close", () => reject(new Error("it closed the connection")));
    socket.once(event, () => resolve());
  });
}

function headOf({ url, authorization, protocols }: WebSocketRequest, key: string): string {
  const lines = [
    `GET ${url.pathname}${url.search} HTTP/1.1`,
    `Host: ${url.host}`,
    "Upgrade: websocket",
    "Connection: Upgrade",
    `Sec-WebSocket-Key: ${key}`,
    "Sec-WebSocket-Version: 13",
    `Sec-WebSocket-Protocol: ${protocols.join(", ")}`,
    ...(authorization === undefined ? [] : [`Authorization: ${authorization}`]),
  ];
  return `${lines.join("\r\n")}\r\n\r\n`;
}

interface Answer {
  status: number;
  headers: Map<string, string>;
  /** Of a refusal. */
  body: string;
  /** What came after the head. */
  rest: Buffer;
}

async function answerOf(socket: Socket): Promise<Answer> {
  let held = Buffer.alloc(0);
  const more = async (): Promise<boolean> => {
    const piece = await pieceOf(socket);
    if (!piece) return false;
    held = Buffer.concat([held, piece]);
    if (held.length > 2 * HEAD_BYTES) throw new Error("its answer is too long");
    return true;
  };
  let end = -1;
  while (end < 0) {
    if (!(await more())) throw new Error("it closed the connection");
    end = held.indexOf("\r\n\r\n");
    if (end < 0 && held.length > HEAD_BYTES) throw new Error("its answer is too long");
  }
  const [first = "", ...lines] = held.toString("latin1", 0, end).split("\r\n");
  const status = Number(/^HTTP\/1\.[01] (\d{3})\b/.exec(first)?.[1]);
  if (!(status >= 100)) throw new Error("it does not speak HTTP");
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const start = end + 4;
  if (status !== 101) {
    const length = Number(headers.get("content-length") ?? "0");
    while (held.length - start < Math.min(length, HEAD_BYTES) && (await more())) {}
  }
  const rest = held.subarray(start);
  return { status, headers, body: status === 101 ? "" : rest.toString("utf8"), rest };
}

/** Undefined at the end. */
function pieceOf(socket: Socket): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const over = () => {
      socket.off("data", take);
      socket.off("end", end);
      socket.off("close", end);
      socket.off("error", fail);
      socket.pause();
    };
    const take = (chunk: Buffer) => {
      over();
      resolve(chunk);
    };
    const end = () => {
      over();
      resolve(undefined);
    };
    const fail = (error: Error) => {
      over();
      reject(error);
    };
    socket.on("data", take);
    socket.on("end", end);
    socket.on("close", end);
    socket.on("error", fail);
    socket.resume();
  });
}

function talk(socket: Socket, protocol: string, first: Buffer, onMessage: (data: Buffer) => void) {
  const { promise: closed, resolve, reject } = Promise.withResolvers<void>();
  // The caller need not wait for its end.
  closed.catch(() => {});
  let [misses, paused, isOver] = [0, false, false];
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const go of waiting) go();
    waiting.clear();
  };
  const end = (error?: Error) => {
    if (isOver) return;
    isOver = true;
    clearInterval(timer);
    socket.destroy();
    wake();
    if (error) reject(error);
    else resolve();
  };
  const timer = setInterval(() => {
    // One that is not read says nothing.
    if (paused) return;
    if (++misses > MISSES) return end(new Error("it answers no longer"));
    socket.write(frameOf(OPCODES.ping, new Uint8Array()));
  }, PING_MS);
  timer.unref();
  const feed = createFrameReader({
    onMessage,
    onPing: (data) => void socket.write(frameOf(OPCODES.pong, data)),
    onPong: () => {},
    onClose: () => end(),
  });
  const take = (chunk: Buffer) => {
    misses = 0;
    if (isOver) return;
    try {
      feed(chunk);
    } catch (error) {
      end(error instanceof Error ? error : new Error(String(error)));
    }
  };
  socket.on("data", take);
  socket.on("drain", wake);
  socket.on("error", end);
  const cut = () => end(new Error("it closed the connection"));
  socket.on("end", cut);
  socket.on("close", cut);
  if (first.length > 0) take(first);
  if (!isOver) socket.resume();
  return {
    /** The one of `protocols` that the API server took. */
    protocol,
    /** Resolves when the peer has closed it; rejects when it broke. */
    closed,
    /** Resolves once there is room for more. Does nothing when it is closed. */
    async send(data: Uint8Array): Promise<void> {
      if (isOver || socket.write(frameOf(OPCODES.binary, data))) return;
      await new Promise<void>((go) => waiting.add(go));
    },
    pause(): void {
      paused = true;
      socket.pause();
    },
    resume(): void {
      paused = false;
      misses = 0;
      socket.resume();
    },
    /** Breaks it off. */
    destroy: (): void => end(),
  };
}
