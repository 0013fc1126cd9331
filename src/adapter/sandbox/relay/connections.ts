/**
 * The server's side of the relay (relay.c describes the relay and the format of frames). Connections that programs in a
 * container make to its loopback, and those that the server makes to programs there, become streams. At most
 * `HELD_BYTES` of what a program sends wait for their reader.
 */
import { Duplex } from "node:stream";

type OnConnection = (connection: Duplex) => void;

export type RelayConnections = ReturnType<typeof createRelayConnections>;

const TYPES = { listen: 1, open: 2, data: 3, end: 4, reset: 5, credit: 6, connect: 7 } as const;
const HEADER_BYTES = 8;
const WINDOW_BYTES = 131_072;
/** Most bytes in one frame to the relay, which reads pieces of this size. */
const PIECE_BYTES = 32_768;
/** Bytes that are confirmed before they are read, so that the program need not wait after each piece. */
const AHEAD_BYTES = 65_536;
export const HELD_BYTES = WINDOW_BYTES + AHEAD_BYTES;
const MAX_CONNECTIONS = 64;

type Send = (type: keyof typeof TYPES, id: number, number: number, data?: Uint8Array) => void;

/** @param write queues bytes for the relay's input. */
export function createRelayConnections(write: (bytes: Uint8Array) => void) {
  const connections = new Map<number, Connection>();
  const listeners: OnConnection[] = [];
  const waiting: { resolve(port: number): void; reject(error: Error): void }[] = [];
  const connecting: { resolve(connection: Duplex): void; reject(error: Error): void }[] = [];
  let ended = false;
  const send: Send = (type, id, number, data) => {
    if (ended) return;
    const frame = Buffer.allocUnsafe(HEADER_BYTES + (data?.length ?? 0));
    frame.writeUInt16LE(TYPES[type], 0);
    frame.writeUInt16LE(id, 2);
    frame.writeUInt32LE(number, 4);
    if (data) frame.set(data, HEADER_BYTES);
    write(frame);
  };
  const begin = (id: number): Connection => {
    if (id >= MAX_CONNECTIONS || connections.has(id)) throw createError("it opened what cannot be");
    const connection = new Connection(id, send, () => connections.delete(id));
    connections.set(id, connection);
    return connection;
  };
  const open = (id: number, listener: number): void => {
    const onConnection = listeners[listener];
    if (!onConnection) throw createError("it opened what cannot be");
    onConnection(begin(id));
  };
  const noteConnection = (id: number, number: number): void => {
    const asked = connecting.shift();
    if (!asked) throw createError("it connected what nobody asked for");
    if (number > 0) asked.resolve(begin(id));
    else asked.reject(new Error("nothing listens there, or too many connections are open"));
  };
  const onFrame = (type: number, id: number, number: number): void => {
    if (type === TYPES.open) return open(id, number);
    if (type === TYPES.connect) return noteConnection(id, number);
    if (type === TYPES.listen) {
      const asked = waiting.shift();
      if (number > 0) asked?.resolve(number);
      else asked?.reject(new Error("the port is taken"));
      return;
    }
    // Ignores late messages about a connection that has already ended here.
    const connection = connections.get(id);
    if (type === TYPES.end) connection?.takeEnd();
    else if (type === TYPES.reset) connection?.takeReset();
    else if (type === TYPES.credit) connection?.takeCredit(number);
    else throw createError(`it sent a frame of type ${type}`);
  };
  const onData = (id: number, data: Uint8Array) => connections.get(id)?.takeData(data);
  return {
    /** Takes the relay's output as it arrives. @throws Error when it is malformed. */
    feed: createParser(onFrame, onData),
    /**
     * Lets the relay listen on the container's loopback.
     * @param port 0 for any. @returns the port. Rejects when the port is taken, or the relay ends before it answers.
     */
    listen(port: number, onConnection: OnConnection): Promise<number> {
      const { promise, ...asked } = Promise.withResolvers<number>();
      waiting.push(asked);
      listeners.push(onConnection);
      send("listen", 0, port);
      if (ended) asked.reject(new Error("the relay has ended"));
      return promise.catch((error) => {
        listeners.splice(listeners.indexOf(onConnection), 1);
        throw error;
      });
    },
    /**
     * Connects to a port of the container's loopback. Rejects when nothing listens there, too many connections are
     * open, or the relay ends.
     */
    connect(port: number): Promise<Duplex> {
      const { promise, ...asked } = Promise.withResolvers<Duplex>();
      if (ended) asked.reject(new Error("the relay has ended"));
      else {
        connecting.push(asked);
        send("connect", 0, port);
      }
      return promise;
    },
    /** Breaks off all connections, because the relay is gone. */
    end(): void {
      ended = true;
      for (const { reject } of [...waiting.splice(0), ...connecting.splice(0)])
        reject(new Error("the relay has ended"));
      for (const connection of connections.values()) connection.takeReset();
    },
  };
}

const createError = (what: string) => new Error(`The relay is not one: ${what}.`);

/** One connection, made by a program in the container or by the server to one. */
class Connection extends Duplex {
  /** Bytes that may still be sent to the relay. */
  #credit = WINDOW_BYTES;
  /** Received bytes that are not confirmed yet, because they wait for their reader. */
  #unread = 0;
  #received = 0;
  #pending: { data: Uint8Array; callback(): void } | undefined;
  #hasEnded = false;
  #peerHasEnded = false;
  #isOver = false;

  constructor(
    readonly id: number,
    readonly send: Send,
    readonly forget: () => void,
  ) {
    super({ allowHalfOpen: true, readableHighWaterMark: AHEAD_BYTES });
    // The reader learns of the end by `close`. Without this listener, an error would end the server.
    this.on("error", () => {});
  }

  takeData(data: Uint8Array): void {
    this.#received += data.length;
    if (this.#received > WINDOW_BYTES) throw createError("it sent more than it may");
    // The chunk belongs to the parser, so it is copied.
    if (this.destroyed || this.push(Buffer.from(data))) this.#confirm(data.length);
    else this.#unread += data.length;
  }
  takeEnd(): void {
    this.#peerHasEnded = true;
    if (!this.destroyed) this.push(null);
    this.#closeWhenOver();
  }
  takeReset(): void {
    this.#finish();
    this.destroy(Object.assign(new Error("the connection was cut"), { code: "ECONNRESET" }));
  }
  takeCredit(bytes: number): void {
    this.#credit += bytes;
    if (this.#credit > WINDOW_BYTES) throw createError("it confirmed what was not sent");
    this.#sendPending();
    this.#closeWhenOver();
  }

  override _read(): void {
    this.#confirm(this.#unread);
    this.#unread = 0;
  }
  override _write(chunk: Uint8Array, _encoding: string, callback: () => void): void {
    this.#pending = { data: chunk, callback };
    this.#sendPending();
  }
  override _final(callback: () => void): void {
    this.#hasEnded = true;
    if (!this.#isOver) this.send("end", this.id, 0);
    callback();
    this.#closeWhenOver();
  }
  /** Bytes that were written before the end still reach the program; otherwise the connection is cut. */
  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#peerHasEnded = true;
    if (this.#hasEnded && !error) this.#closeWhenOver();
    else this.#finish();
    callback(error);
  }

  #confirm(bytes: number): void {
    if (bytes === 0 || this.#isOver) return;
    this.#received -= bytes;
    this.send("credit", this.id, bytes);
  }
  #sendPending(): void {
    const pending = this.#pending;
    if (!pending || this.#isOver) return;
    let { data } = pending;
    while (data.length > 0 && this.#credit > 0) {
      const piece = data.subarray(0, Math.min(PIECE_BYTES, this.#credit));
      this.#credit -= piece.length;
      this.send("data", this.id, piece.length, piece);
      data = data.subarray(piece.length);
    }
    if (data.length > 0) {
      pending.data = data;
      return;
    }
    this.#pending = undefined;
    pending.callback();
  }
  /** Closes the connection once the program has confirmed all bytes. An earlier reset would lose the rest. */
  #closeWhenOver(): void {
    if (this.#hasEnded && this.#peerHasEnded && this.#credit === WINDOW_BYTES) this.#finish();
  }
  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.send("reset", this.id, 0);
    this.forget();
  }
}

/** Splits a stream into frames. Data is passed on as it arrives. */
function createParser(
  onFrame: (type: number, id: number, number: number) => void,
  onData: (id: number, data: Uint8Array) => void,
): (chunk: Uint8Array) => void {
  const header = Buffer.alloc(HEADER_BYTES);
  let filled = 0;
  let left = 0;
  return (chunk) => {
    for (let at = 0; at < chunk.length; ) {
      if (left > 0) {
        const data = chunk.subarray(at, at + left);
        onData(header.readUInt16LE(2), data);
        left -= data.length;
        at += data.length;
        continue;
      }
      header[filled++] = chunk[at++]!;
      if (filled < HEADER_BYTES) continue;
      filled = 0;
      const type = header.readUInt16LE(0);
      const number = header.readUInt32LE(4);
      if (type === TYPES.data) left = number;
      else onFrame(type, header.readUInt16LE(2), number);
    }
  };
}
