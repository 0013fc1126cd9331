/**
 * A WebSocket client (RFC 6455) that connects only to an address the guard has permitted. The runtime's own client
 * resolves names itself, so a different second answer of the name server would bypass the guard. It also has no size
 * bounds.
 */
import type { Socket } from "node:net";
import { messageOf, Problem } from "../../core/errors.ts";
import { raceSignal } from "../../core/race-signal.ts";
import { upgrade } from "../../core/web-socket.ts";
import { createFrameReader, frameOf, OPCODES } from "../../core/web-socket-frames.ts";
import type { MessengerDeps } from "./messenger.ts";

interface WebSocketOptions extends MessengerDeps {
  /** Called with each whole message, in order. If it throws, the connection ends. */
  onText(text: string, socket: OpenSocket): void;
  /** Without any data for this long, the connection ends. */
  silenceMs: number;
  maxBytes: number;
  signal: AbortSignal;
}

export interface OpenSocket {
  send(text: string): void;
  /** Ends the connection; `closed` then settles. */
  close(): void;
  /**
   * Resolves when the connection has ended: with the other side's close code, or 1006 when it was cut. Rejects with
   * what `onText` threw.
   */
  closed: Promise<number>;
}

const CUT = 1006;

/** @throws Problem 422 when the address is refused, 502 when the connection cannot be opened. */
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
    const connected = isSecure ? "secureConnect" : "connect";
    const { status, rest } = await upgrade(socket, url, connected, [`User-Agent: ${userAgent}`]);
    if (status !== 101) throw new Error(`it answered ${status}`);
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

function speak(socket: Socket, begun: Buffer, { onText, maxBytes }: WebSocketOptions, onEnd: () => void): OpenSocket {
  let code = CUT;
  let thrown: unknown;
  const write = (kind: number, payload: Buffer) => {
    if (!socket.destroyed) socket.write(frameOf(kind, payload));
  };
  const end = (status: number) => {
    code = status;
    socket.destroy();
  };
  const reader = createFrameReader({
    maxBytes,
    onMessage(data, opcode) {
      if (opcode === OPCODES.text) onText(data.toString(), self);
    },
    onPing: (data) => write(OPCODES.pong, data),
    onClose(data) {
      write(OPCODES.close, data.subarray(0, 2));
      end(data.length >= 2 ? data.readUInt16BE(0) : CUT);
    },
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
      onEnd();
      if (thrown === undefined) done(code);
      else fail(thrown);
    });
  });
  // The caller may not be waiting for `closed` yet; a rejection must not count as unhandled.
  closed.catch(() => {});
  const self: OpenSocket = {
    send: (text) => write(OPCODES.text, Buffer.from(text)),
    close: () => socket.destroy(),
    closed,
  };
  if (begun.length > 0) read(begun);
  // Reading the HTTP head left the socket paused.
  socket.on("data", read).resume();
  return self;
}
