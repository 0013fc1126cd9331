/**
 * Reads the server name that a TLS client requests (SNI) from the first bytes it sends. RFC 8446 §4.1.2, RFC 6066 §3.
 */

type Hello =
  /** The bytes are not the beginning of TLS. */
  | { kind: "other" }
  /** More bytes are needed. */
  | { kind: "partial" }
  /** `name` is undefined when the client names no host, or its message cannot be parsed. */
  | { kind: "hello"; name: string | undefined };

const HANDSHAKE = 0x16;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;

/** @param bytes all that the client has sent so far; the caller bounds them. */
export function readClientHello(bytes: Uint8Array): Hello {
  if (bytes.length === 0) return { kind: "partial" };
  if (bytes[0] !== HANDSHAKE) return { kind: "other" };
  const message = handshakeOf(bytes);
  if (message === undefined) return { kind: "partial" };
  try {
    return { kind: "hello", name: nameIn(createReader(message)) };
  } catch {
    return { kind: "hello", name: undefined };
  }
}

/**
 * Assembles the first handshake message, which may be spread over several records; undefined when bytes are missing.
 */
function handshakeOf(bytes: Uint8Array): Uint8Array | undefined {
  const parts: Uint8Array[] = [];
  let size = 0;
  for (let at = 0; at + 5 <= bytes.length && bytes[at] === HANDSHAKE; ) {
    const length = (bytes[at + 3]! << 8) | bytes[at + 4]!;
    const part = bytes.subarray(at + 5, at + 5 + length);
    parts.push(part);
    size += part.length;
    at += 5 + length;
    if (part.length < length || length === 0) break;
  }
  if (size < 4) return undefined;
  const whole = Buffer.concat(parts);
  const length = whole.readUIntBE(1, 3) + 4;
  return whole.length < length ? undefined : whole.subarray(0, length);
}

function nameIn(reader: Reader): string | undefined {
  if (reader.number(1) !== CLIENT_HELLO) throw new Error("no client hello");
  reader.skip(3 + 2 + 32);
  reader.skip(reader.number(1));
  reader.skip(reader.number(2));
  reader.skip(reader.number(1));
  if (reader.isAtEnd()) return undefined;
  reader.number(2);
  while (!reader.isAtEnd()) {
    const type = reader.number(2);
    const body = createReader(reader.take(reader.number(2)));
    if (type !== SERVER_NAME) continue;
    body.number(2);
    if (body.number(1) !== 0) return undefined;
    return Buffer.from(body.take(body.number(2))).toString("latin1");
  }
  return undefined;
}

type Reader = ReturnType<typeof createReader>;

/** Reads big-endian numbers and bytes from front to back. @throws Error past the end. */
function createReader(bytes: Uint8Array) {
  let at = 0;
  const take = (length: number): Uint8Array => {
    if (at + length > bytes.length) throw new Error("too short");
    at += length;
    return bytes.subarray(at - length, at);
  };
  return {
    take,
    skip: (length: number) => void take(length),
    number: (size: number) => take(size).reduce((sum, byte) => sum * 256 + byte, 0),
    isAtEnd: () => at === bytes.length,
  };
}
