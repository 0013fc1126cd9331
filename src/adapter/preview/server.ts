/**
 * The listener of previews, on a port and origins separate from the server's own. Each connection carries one request,
 * so each request is authorized by itself, and nothing that follows it reaches an app. WebSockets are passed through
 * unchanged.
 */
import { createServer, type Server, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { codeOf, Problem } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import { readHead } from "../../core/stream-head.ts";
import {
  type Between,
  type RequestHead,
  readRequestHead,
  readResponseHead,
  writeRequestHead,
  writeResponseHead,
} from "./head.ts";

/** An answer of the server itself, not of an app. */
export interface OwnAnswer {
  status: number;
  /** Headers besides those that all such answers have. */
  headers: Readonly<Record<string, string>>;
  text: string;
}

/** A request that may pass to an app, and how. */
export interface Passage extends Between {
  /** Connects to the app. @throws Problem 502, 503 when the app does not answer. */
  connect(): Promise<Duplex>;
  /** Aborted when the preview ends, or when its visitor loses access. */
  signal: AbortSignal;
  /** Counts bytes in either direction. @returns false when there were too many. */
  count(bytes: number): boolean;
  /** The visitor's answer after `connect` has thrown. */
  explain(error: unknown): OwnAnswer;
  /** Called once, when the request is over. */
  onEnd(): void;
}

interface PreviewServerDeps {
  /** Decides about a request. Never throws. */
  decide(request: RequestHead): OwnAnswer | Passage;
}

export type PreviewServer = Awaited<ReturnType<typeof openPreviewServer>>;

/** @throws Problem 409 `port_in_use`, 422 `bad_address`. */
export async function openPreviewServer({ host, port }: { host: string; port: number }, deps: PreviewServerDeps) {
  const open = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    // Without this listener, an error would end the server. A `close` event follows it.
    socket.on("error", () => {});
    void serve(socket, deps).catch(() => socket.destroy());
  });
  server.maxConnections = LIMITS.previewConnections;
  await startListening(server, host, port);
  const address = server.address();
  return {
    port: typeof address === "object" && address ? address.port : port,
    close(): void {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

async function startListening(server: Server, host: string, port: number): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, host, resolve);
    });
  } catch (error) {
    if (codeOf(error) === "EADDRINUSE")
      throw new Problem(409, "port_in_use", `Port ${port} on ${host} is taken. Choose another with PREVIEW_PORT.`);
    throw new Problem(422, "bad_address", `Previews cannot listen on ${host}:${port}. Choose another PREVIEW_PORT.`);
  }
}

const NOT_UNDERSTOOD: OwnAnswer = { status: 400, headers: {}, text: "The request is not understood.\n" };
const TOO_LARGE: OwnAnswer = {
  status: 413,
  headers: {},
  text: `A preview takes at most ${LIMITS.previewBodyBytes / 1024 ** 2} MiB at once.\n`,
};

async function serve(socket: Socket, { decide }: PreviewServerDeps): Promise<void> {
  socket.setTimeout(LIMITS.previewHeadMs, () => socket.destroy());
  const head = await headOf(socket);
  if (!head) return void socket.destroy();
  const request = readRequestHead(head.text);
  if (!request) return answer(socket, NOT_UNDERSTOOD);
  if (request.bodyBytes > LIMITS.previewBodyBytes) return answer(socket, TOO_LARGE);
  const decided = decide(request);
  if (!("connect" in decided)) return answer(socket, decided);
  try {
    await pass(socket, request, head.rest, decided);
  } catch (error) {
    answer(socket, decided.explain(error));
  } finally {
    decided.onEnd();
  }
}

/** Undefined when the connection ended before the empty line, or the head is too long. */
const headOf = (stream: Duplex) => readHead(stream, LIMITS.previewHeadBytes).catch(() => undefined);

/** Passes one request to the app and its answer back. Resolves when both have ended. */
async function pass(socket: Socket, request: RequestHead, early: Buffer, passage: Passage): Promise<void> {
  const { signal } = passage;
  const app = await passage.connect();
  const end = () => {
    app.destroy();
    socket.destroy();
  };
  const isOver = new Promise<void>((resolve) => {
    socket.once("close", resolve);
    if (socket.destroyed) resolve();
  });
  app.on("error", () => {});
  socket.once("close", () => app.destroy());
  signal.addEventListener("abort", end, { once: true });
  const late = setTimeout(end, LIMITS.previewConnectionMs);
  late.unref();
  try {
    if (signal.aborted || socket.destroyed) return end();
    socket.setTimeout(LIMITS.previewSilenceMs);
    app.write(Buffer.from(writeRequestHead(request, passage), "latin1"));
    if (!request.upgrades) forward(socket, app, early, { left: request.bodyBytes, count: passage.count });
    const answered = await answerOf(app, request);
    if (!answered) return socket.destroyed ? end() : closeFailed(socket, app);
    const { head, rest } = answered;
    const isSocket = head.status === 101;
    if (isSocket && !request.upgrades) return closeFailed(socket, app);
    socket.write(Buffer.from(writeResponseHead(head, passage), "latin1"));
    if (isSocket) forward(socket, app, early, { left: Number.POSITIVE_INFINITY, count: passage.count });
    const left = isSocket ? Number.POSITIVE_INFINITY : (head.bodyBytes ?? Number.POSITIVE_INFINITY);
    app.once("close", () => void (app.readableEnded || socket.writableEnded || socket.destroy()));
    forward(app, socket, rest, { left, count: passage.count, ends: true });
    await isOver;
  } finally {
    clearTimeout(late);
    signal.removeEventListener("abort", end);
    app.destroy();
  }
}

function closeFailed(socket: Socket, app: Duplex): void {
  app.destroy();
  answer(socket, { status: 502, headers: {}, text: "The app ended the connection, or did not answer in HTTP.\n" });
}

/** Reads the head of the app's answer; interim answers (100, 103) are dropped. */
async function answerOf(app: Duplex, { method }: RequestHead) {
  let held = Buffer.alloc(0);
  for (let tries = 0; tries < 4; tries++) {
    if (held.length > 0) app.unshift(held);
    const read = await headOf(app);
    const head = read && readResponseHead(read.text, method);
    if (!read || !head) return undefined;
    if (head.status >= 200 || head.status === 101) return { head, rest: read.rest };
    held = Buffer.from(read.rest);
  }
  return undefined;
}

interface Forwarding {
  /** Bytes that may pass; further bytes are dropped. */
  left: number;
  count(bytes: number): boolean;
  /** Whether to end the receiver's side after these bytes, or when the sender ends. */
  ends?: boolean;
}

function forward(from: Duplex, to: Duplex, early: Buffer, { left, count, ends = false }: Forwarding): void {
  const finish = () => {
    if (ends && !to.writableEnded) to.end();
  };
  const take = (chunk: Buffer) => {
    if (left <= 0) return;
    const piece = chunk.subarray(0, Math.min(left, chunk.length));
    left -= piece.length;
    if (!count(piece.length)) {
      from.destroy();
      to.destroy();
      return;
    }
    if (!to.write(piece)) {
      from.pause();
      to.once("drain", () => from.resume());
    }
    if (left <= 0) finish();
  };
  if (early.length > 0) take(early);
  else if (left <= 0) finish();
  from.on("data", take);
  from.once("end", finish);
  from.resume();
}

/** Sends an answer of the server. No browser renders it as a page or stores it. */
function answer(socket: Socket, { status, headers, text }: OwnAnswer): void {
  if (socket.destroyed) return;
  const body = Buffer.from(text);
  const lines = [
    `HTTP/1.1 ${status} ${status < 400 ? "OK" : "Refused"}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    "Content-Type: text/plain; charset=utf-8",
    `Content-Length: ${body.length}`,
    "Cache-Control: no-store",
    "X-Content-Type-Options: nosniff",
    "Referrer-Policy: no-referrer",
    "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'",
    "Connection: close",
  ];
  socket.on("data", () => {});
  socket.resume();
  socket.end(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`), body]));
}
