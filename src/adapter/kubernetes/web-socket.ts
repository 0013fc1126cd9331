/**
 * A WebSocket to the API server, over a connection of its own. The runtime's own client has neither size bounds nor
 * back-pressure, so the output of a hostile program would pile up here. A peer that answers no pings is given up.
 */
import { connect as connectPlain, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { nextPiece } from "../../core/stream-head.ts";
import { type Upgrade, upgrade } from "../../core/web-socket.ts";
import { createFrameReader, frameOf, OPCODES } from "../../core/web-socket-frames.ts";
import type { ClusterTls } from "./access.ts";
import { tlsOptions } from "./client.ts";
import { toProblem } from "./failures.ts";

interface WebSocketRequest {
  url: URL;
  tls: ClusterTls;
  authorization: string | undefined;
  /** Subprotocols to offer, in order of preference. */
  protocols: readonly string[];
  /** The bytes are only valid until the call returns. If it throws, the connection ends. */
  onMessage(data: Buffer): void;
  signal?: AbortSignal | undefined;
}

/** Most bytes that are read of a refusal's body. */
const BODY_BYTES = 64 * 1024;
/** Most bytes of one message; API servers send pieces of 32 KiB. */
const MESSAGE_BYTES = 4 * 1024 * 1024;
const OPEN_MS = 30_000;
const PING_MS = 20_000;
/** Number of pings without any answer or other data after which the peer is given up. */
const MISSES = 3;

/**
 * Opens the connection. @throws Problem when the API server refuses; an Error when the server does not answer or is no
 * WebSocket server.
 */
export async function openWebSocket(request: WebSocketRequest) {
  const { url, tls, authorization, signal } = request;
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
    const answer = await upgrade(socket, url, isTls ? "secureConnect" : "connect", [
      `Sec-WebSocket-Protocol: ${request.protocols.join(", ")}`,
      ...(authorization === undefined ? [] : [`Authorization: ${authorization}`]),
    ]);
    if (answer.status !== 101) throw toProblem(answer.status, await bodyOf(socket, answer), url.origin);
    const protocol = answer.headers.get("sec-websocket-protocol") ?? "";
    if (!request.protocols.includes(protocol)) throw new Error(`it knows none of ${request.protocols.join(", ")}`);
    return talk(socket, protocol, answer.rest, request.onMessage);
  } catch (error) {
    socket.destroy();
    signal?.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
}

/** The name that the certificate is checked against; empty when the host is an IP address. */
const nameOf = (host: string): string => (/^[\d.]+$|:/.test(host) ? "" : host);

/** Reads the body of a refusal. */
async function bodyOf(socket: Socket, { headers, rest }: Upgrade): Promise<string> {
  const most = Math.min(Number(headers.get("content-length") ?? "0"), BODY_BYTES);
  let held = rest;
  while (held.length < most) {
    const piece = await nextPiece(socket);
    if (!piece) break;
    held = Buffer.concat([held, piece]);
  }
  return held.toString("utf8");
}

function talk(socket: Socket, protocol: string, first: Buffer, onMessage: (data: Buffer) => void) {
  const { promise: closed, resolve, reject } = Promise.withResolvers<void>();
  // Nobody may be waiting for `closed`; a rejection must not count as unhandled.
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
    // While reading is paused, missing answers mean nothing.
    if (paused) return;
    if (++misses > MISSES) return end(new Error("it answers no longer"));
    socket.write(frameOf(OPCODES.ping, new Uint8Array()));
  }, PING_MS);
  timer.unref();
  const feed = createFrameReader({
    maxBytes: MESSAGE_BYTES,
    onMessage,
    onPing: (data) => void socket.write(frameOf(OPCODES.pong, data)),
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
    /** The subprotocol that the API server chose. */
    protocol,
    /** Resolves when the peer has closed the connection; rejects when it broke. */
    closed,
    /** Sends a message. Resolves once there is room for more. Does nothing when the connection is closed. */
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
    /** Breaks off the connection. */
    destroy: (): void => end(),
  };
}
