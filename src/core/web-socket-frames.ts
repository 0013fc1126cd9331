/** WebSocket frames (RFC 6455) as a client sends and receives them. Frames that a server may not send are refused. */
import { randomBytes } from "node:crypto";

export const OPCODES = { rest: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;
const MAX_CONTROL_BYTES = 125;
const HEADER_BYTES = 2;

class WrongFrame extends Error {
  constructor(what: string) {
    super(`it sent what is no WebSocket frame: ${what}`);
  }
}

interface FrameHandlers {
  /** Limit of one message. */
  maxBytes: number;
  /** The bytes may only be used until the handler returns. */
  onMessage(data: Buffer, opcode: number): void;
  onPing(data: Buffer): void;
  onPong?(): void;
  onClose(data: Buffer): void;
}

/** Makes a client's frame: masked, with the whole message. */
export function frameOf(opcode: number, data: Uint8Array): Buffer {
  const long = data.length < 126 ? 0 : data.length < 65_536 ? 2 : 8;
  const at = HEADER_BYTES + long + 4;
  const frame = Buffer.allocUnsafe(at + data.length);
  frame[0] = 0x80 | opcode;
  frame[1] = 0x80 | (long === 0 ? data.length : long === 2 ? 126 : 127);
  if (long === 2) frame.writeUInt16BE(data.length, HEADER_BYTES);
  if (long === 8) frame.writeBigUInt64BE(BigInt(data.length), HEADER_BYTES);
  const mask = randomBytes(4);
  frame.set(mask, HEADER_BYTES + long);
  for (let i = 0; i < data.length; i++) frame[at + i] = (data[i] ?? 0) ^ (mask[i & 3] ?? 0);
  return frame;
}

/** @returns a function that takes the server's bytes as they come. It throws `WrongFrame`. */
export function createFrameReader(handlers: FrameHandlers): (chunk: Uint8Array) => void {
  const { maxBytes } = handlers;
  /** Bytes not read yet, and how many are needed for the next frame. */
  let chunks: Uint8Array[] = [];
  let [size, needed] = [0, 0];
  /** The parts received so far of a message in several frames. */
  let parts: Buffer[] = [];
  let [partBytes, partsOpcode] = [0, 0];
  const take = (opcode: number, isLast: boolean, data: Buffer): void => {
    if (opcode === OPCODES.ping) return handlers.onPing(data);
    if (opcode === OPCODES.pong) return handlers.onPong?.();
    if (opcode === OPCODES.close) return handlers.onClose(data);
    if ((opcode === OPCODES.rest) !== partBytes > 0) throw new WrongFrame("a part of no message");
    if (isLast && partBytes === 0) return handlers.onMessage(data, opcode);
    if (opcode !== OPCODES.rest) partsOpcode = opcode;
    parts.push(Buffer.from(data));
    // Each part counts at least 1, so that an empty first part still marks a message as begun.
    partBytes += data.length + 1;
    if (partBytes > maxBytes) throw new WrongFrame("a message that is too long");
    if (!isLast) return;
    const whole = Buffer.concat(parts);
    [parts, partBytes] = [[], 0];
    handlers.onMessage(whole, partsOpcode);
  };
  return (chunk) => {
    chunks.push(chunk);
    size += chunk.length;
    if (size < needed) return;
    const held = Buffer.concat(chunks);
    let at = 0;
    for (;;) {
      const header = headerOf(held, at, maxBytes);
      needed = header ? header.end - at : 0;
      if (!header || held.length < header.end) break;
      at = header.end;
      take(header.opcode, header.isLast, held.subarray(header.start, header.end));
    }
    chunks = [held.subarray(at)];
    size = held.length - at;
  };
}

interface Header {
  opcode: number;
  isLast: boolean;
  start: number;
  end: number;
}

/** Undefined until enough bytes have arrived. */
function headerOf(held: Buffer, at: number, maxBytes: number): Header | undefined {
  if (held.length < at + HEADER_BYTES) return undefined;
  const [first, second] = [held.readUInt8(at), held.readUInt8(at + 1)];
  const opcode = first & 0x0f;
  const isLast = (first & 0x80) !== 0;
  if ((first & 0x70) !== 0) throw new WrongFrame("reserved bits are set");
  if (!Object.values<number>(OPCODES).includes(opcode)) throw new WrongFrame(`of kind ${opcode}`);
  if ((second & 0x80) !== 0) throw new WrongFrame("masked");
  const short = second & 0x7f;
  const isControl = opcode >= OPCODES.close;
  if (isControl && (!isLast || short > MAX_CONTROL_BYTES)) throw new WrongFrame("a control frame that is too long");
  const long = short < 126 ? 0 : short === 126 ? 2 : 8;
  const start = at + HEADER_BYTES + long;
  if (held.length < start) return undefined;
  const size =
    long === 0
      ? short
      : long === 2
        ? held.readUInt16BE(at + HEADER_BYTES)
        : Number(held.readBigUInt64BE(at + HEADER_BYTES));
  if (size > maxBytes) throw new WrongFrame("too long");
  return { opcode, isLast, start, end: start + size };
}
