/**
 * A WebSocket client (RFC 6455) over a connection to an address that the guard has let through. The runtime's own client
 * resolves names by itself, so a second answer of the name server would get past the guard; and it bounds nothing.
 */
import { createHash, randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { messageOf, Problem } from "../../core/errors.ts";
import { raceSignal } from "../../core/race-signal.ts";
import type { MessengerDeps } from "./messenger.ts";

interface WebSocketOptions extends MessengerDeps {
  /** A whole message, each in order. What it throws ends the connection. */
  onText(text: string, socket: OpenSocket): void;
  /** The connection ends when nothing came for so long. */
  silenceMs: number;
  maxBytes: number;
  signal: AbortSignal;
}

export interface OpenSocket {
  send(text: string): void;
  /** Ends it; `closed` says so. */
  close(): void;
  /** Settles when it has ended: the other side's close code, 1006 where it was cut. Rejects with what `onText` threw. */
  closed: Promise<number>;
}

const MAGIC = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const HEAD_BYTES = 16 * 1024;
const CUT = 1006;
const [CONTINUED, TEXT, CLOSE, PING, PONG] = [0, 1, 8, 9, 10];

/** @throws Problem 422 refused, 502 when it cannot be opened. */
export async function openWebSocket(address: string, options: WebSocketOptions): Promise<OpenSocket> {
  const { resolve, userAgent, signal, silenceMs } = options;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || (url.protocol !== "wss:" && url.protocol !== "ws:") || url.username !== "")
    throw new Problem(502, "messenger_answer", "The messenger named no usable address for its messages.");
  const [pinned] = await raceSignal(resolve(url.hostname), signal);
  const isSecure = url.protocol === "wss:";
  const port = Number(url.port) || (isSecure ? 443 : 80);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const socket = isSecure
    ? (await import("node:tls")).connect({ host: pinned!.address, port, servername: host, ALPNProtocols: ["http/1.1"] })
    : (await import("node:net")).connect({ host: pinned!.address, port });
  const abort = () => socket.destroy();
  signal.addEventListener("abort", abort, { once: true });
  socket.setTimeout(silenceMs, abort);
  try {
    const rest = await shakeHands(socket, url, { userAgent, ready: isSecure ? "secureConnect" : "connect" });
    return speak(socket, rest, options, () => signal.removeEventListener("abort", abort));
  } catch (error) {
    socket.destroy();
    signal.removeEventListener("abort", abort);
    signal.throwIfAborted();
    if (error instanceof Problem) throw error;
    const why = messageOf(error).slice(0, 200);
    throw new Problem(502, "messenger_unreachable", `The messenger's messages could not be opened (${why}).`);
  }
}

/** @returns what came after the answer's head. */
function shakeHands(
  socket: Socket,
  url: URL,
  { userAgent, ready }: { userAgent: string; ready: string },
): Promise<Buffer> {
  const key = randomBytes(16).toString("base64");
  const accept = createHash("sha1")
    .update(key + MAGIC)
    .digest("base64");
  return new Promise((done, fail) => {
    let head = Buffer.alloc(0);
    const leave = () => {
      socket.off("data", read);
      socket.off("error", fail);
      socket.off("close", closed);
    };
    const closed = () => fail(new Error("the connection was cut"));
    const read = (chunk: Buffer) => {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf("\r\n\r\n");
      if (end < 0) {
        if (head.length > HEAD_BYTES) fail(new Error("the answer is too long"));
        return;
      }
      leave();
      const lines = head.subarray(0, end).toString("latin1").split("\r\n");
      const isAccepted = lines.some((line) => {
        const colon = line.indexOf(":");
        return line.slice(0, colon).toLowerCase() === "sec-websocket-accept" && line.slice(colon + 1).trim() === accept;
      });
      const status = lines[0]?.split(" ")[1];
      if (status === "101" && isAccepted) done(head.subarray(end + 4));
      else fail(new Error(`it answered ${String(status).slice(0, 3)}`));
    };
    socket.on("data", read);
    socket.on("error", fail);
    socket.on("close", closed);
    socket.once(ready, () =>
      socket.write(
        [
          `GET ${url.pathname}${url.search} HTTP/1.1`,
          `Host: ${url.host}`,
          "Upgrade: websocket",
          "Connection: Upgrade",
          `Sec-WebSocket-Key: ${key}`,
          "Sec-WebSocket-Version: 13",
          `User-Agent: ${userAgent}`,
          "\r\n",
        ].join("\r\n"),
      ),
    );
  });
}

function speak(socket: Socket, begun: Buffer, { onText, maxBytes }: WebSocketOptions, ended: () => void): OpenSocket {
  let code = CUT;
  let thrown: unknown;
  const write = (kind: number, payload: Buffer) => {
    if (!socket.destroyed) socket.write(frameOf(kind, payload));
  };
  const end = (status: number) => {
    code = status;
    socket.destroy();
  };
  const reader = createFrameReader(maxBytes, (kind, payload) => {
    if (kind === PING) write(PONG, payload);
    else if (kind === CLOSE) {
      write(CLOSE, payload.subarray(0, 2));
      end(payload.length >= 2 ? payload.readUInt16BE(0) : CUT);
    } else if (kind === TEXT) onText(payload.toString(), self);
  });
  const read = (chunk: Buffer) => {
    try {
      reader(chunk);
    } catch (error) {
      thrown = error;
      socket.destroy();
    }
  };
  const closed = new Promise<number>((done, fail) => {
    socket.on("error", () => {});
    socket.once("close", () => {
      ended();
      if (thrown === undefined) done(code);
      else fail(thrown);
    });
  });
  // Whoever opened it may not wait for its end yet.
  closed.catch(() => {});
  const self: OpenSocket = {
    send: (text) => write(TEXT, Buffer.from(text)),
    close: () => socket.destroy(),
    closed,
  };
  socket.on("data", read);
  if (begun.length > 0) read(begun);
  return self;
}

/** A whole frame; what a client sends is masked. */
function frameOf(kind: number, payload: Buffer): Buffer {
  const mask = randomBytes(4);
  const long = payload.length > 125;
  const head = Buffer.alloc(long ? (payload.length > 0xffff ? 10 : 4) : 2);
  head[0] = 0x80 | kind;
  if (!long) head[1] = 0x80 | payload.length;
  else if (head.length === 4) {
    head[1] = 0x80 | 126;
    head.writeUInt16BE(payload.length, 2);
  } else {
    head[1] = 0x80 | 127;
    head.writeBigUInt64BE(BigInt(payload.length), 2);
  }
  const masked = Buffer.from(payload);
  for (let at = 0; at < masked.length; at++) masked[at]! ^= mask[at & 3]!;
  return Buffer.concat([head, mask, masked]);
}

/** Takes bytes as they come and gives whole messages. @throws Error for what no server may send, or too much. */
function createFrameReader(maxBytes: number, take: (kind: number, payload: Buffer) => void): (chunk: Buffer) => void {
  let chunks: Buffer[] = [];
  let size = 0;
  let parts: Buffer[] = [];
  let partsBytes = 0;
  let partsKind = 0;

  function takeFrame(first: number, payload: Buffer): void {
    const kind = first & 15;
    if (kind >= CLOSE) return take(kind, payload);
    if (kind !== CONTINUED) {
      parts = [];
      partsBytes = 0;
      partsKind = kind;
    }
    parts.push(payload);
    partsBytes += payload.length;
    if (partsBytes > maxBytes) throw new Error("a message is too long");
    if ((first & 0x80) === 0) return;
    const whole = Buffer.concat(parts);
    parts = [];
    partsBytes = 0;
    take(partsKind, whole);
  }
  return (chunk) => {
    chunks.push(chunk);
    size += chunk.length;
    for (;;) {
      if (size < 2) return;
      if (chunks.length > 1 && chunks[0]!.length < 10) chunks = [Buffer.concat(chunks)];
      const head = chunks[0]!;
      const short = head[1]! & 127;
      const headBytes = short === 126 ? 4 : short === 127 ? 10 : 2;
      if (size < headBytes) return;
      if ((head[1]! & 0x80) !== 0 || (head[0]! & 0x70) !== 0) throw new Error("a frame is not valid");
      const length = short === 126 ? head.readUInt16BE(2) : short === 127 ? Number(head.readBigUInt64BE(2)) : short;
      if (length > maxBytes) throw new Error("a message is too long");
      if (size < headBytes + length) return;
      const all = chunks.length === 1 ? head : Buffer.concat(chunks);
      const rest = all.subarray(headBytes + length);
      chunks = rest.length > 0 ? [rest] : [];
      size = rest.length;
      takeFrame(all[0]!, all.subarray(headBytes, headBytes + length));
    }
  };
}
