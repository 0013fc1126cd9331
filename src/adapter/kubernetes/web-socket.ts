/**
 * A WebSocket to the API server, over a connection of its own. The runtime's own client can be given neither bounds nor
 * back pressure: what a hostile program writes would pile up here. A peer that answers no pings is given up.
 */
import { connect as connectPlain, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { nextPiece } from "../../core/stream-head.ts";
import { type Upgrade, upgrade } from "../../core/web-socket.ts";
import { createFrameReader, frameOf, OPCODES } from "../../core/web-socket-frames.ts";
import type { ClusterTls } from "./access.ts";
import { tlsOptions } from "./client.ts";
import { refusal } from "./failures.ts";

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

/** Of a refusal. */
const BODY_BYTES = 64 * 1024;
/** Of one message: API servers send pieces of 32 KiB. */
const MESSAGE_BYTES = 4 * 1024 * 1024;
const OPEN_MS = 30_000;
const PING_MS = 20_000;
/** Pings without an answer, or anything else received, until the peer is given up. */
const MISSES = 3;

/** @throws Problem when the API server refuses, an Error when it does not answer or is none. */
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
    if (answer.status !== 101) throw refusal(answer.status, await bodyOf(socket, answer), url.origin);
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

/** Certificates are checked against a name; an address is given none. */
const nameOf = (host: string): string => (/^[\d.]+$|:/.test(host) ? "" : host);

/** What a server says that refuses. */
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
