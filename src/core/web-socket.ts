/** Opens a WebSocket (RFC 6455) as a client, over an existing connection. */
import { createHash, randomBytes } from "node:crypto";
import type { Duplex } from "node:stream";
import { readHead } from "./stream-head.ts";

export interface Upgrade {
  /** 101 when the upgrade succeeded. */
  status: number;
  /** Headers by their lower-case names. */
  headers: ReadonlyMap<string, string>;
  /** Bytes after the head. */
  rest: Buffer;
}

const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const HEAD_BYTES = 64 * 1024;

/** @param event the event that says the connection is established. @throws the connection's error. */
function waitUntilConnected(stream: Duplex, event: string): Promise<void> {
  return new Promise((resolve, reject) => {
    // This listener stays: an error also ends the stream, and readers see it as the end.
    stream.on("error", reject);
    stream.once("close", () => reject(new Error("it closed the connection")));
    stream.once(event, () => resolve());
  });
}

/**
 * Requests the upgrade once the connection is established. Afterwards the stream is paused: resume it to continue
 * reading.
 * @param lines further lines of the request's head.
 * @throws Error when the server does not answer, or is not a WebSocket server.
 */
export async function upgrade(
  stream: Duplex,
  url: URL,
  connected: "connect" | "secureConnect",
  lines: readonly string[],
): Promise<Upgrade> {
  await waitUntilConnected(stream, connected);
  const key = randomBytes(16).toString("base64");
  const asked = [
    `GET ${url.pathname}${url.search} HTTP/1.1`,
    `Host: ${url.host}`,
    "Upgrade: websocket",
    "Connection: Upgrade",
    `Sec-WebSocket-Key: ${key}`,
    "Sec-WebSocket-Version: 13",
    ...lines,
  ];
  stream.write(`${asked.join("\r\n")}\r\n\r\n`);
  const head = await readHead(stream, HEAD_BYTES);
  if (!head) throw stream.errored ?? new Error("it closed the connection");
  const [first = "", ...given] = head.text.split("\r\n");
  const status = Number(/^HTTP\/1\.[01] (\d{3})\b/.exec(first)?.[1]);
  if (!(status >= 100)) throw new Error("it does not speak HTTP");
  const headers = new Map(
    given.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const accepted = createHash("sha1")
    .update(key + GUID)
    .digest("base64");
  if (status === 101 && headers.get("sec-websocket-accept") !== accepted) throw new Error("it is no WebSocket server");
  return { status, headers, rest: head.rest };
}
