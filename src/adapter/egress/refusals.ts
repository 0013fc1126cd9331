/** The answers that a program gets when its request is refused. */
import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { LIMITS } from "../../core/limits.ts";
import type { Verdict } from "./model.ts";

/** A refusal on its way to the program. `reason` is for the record; the message is a sentence for the program. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly verdict: Verdict,
    readonly reason: string,
    detail: string,
  ) {
    super(detail);
  }
}

export function say(answer: ServerResponse, status: number, detail: string): void {
  if (answer.headersSent) return void answer.destroy();
  answer.writeHead(status, { "content-type": "text/plain", connection: "close", "x-skep-egress": "refused" });
  answer.end(`Skep: ${detail}\n`);
}

/**
 * Lets the program read what was written. If it then does not close the connection in time, the connection is closed.
 */
export function closeSoon(client: Duplex): void {
  const late = setTimeout(() => client.destroy(), LIMITS.egressHeadMs);
  client.once("close", () => clearTimeout(late));
  client.resume();
}

const PHRASES: Readonly<Record<number, string>> = {
  400: "Bad Request",
  403: "Forbidden",
  502: "Bad Gateway",
  503: "Full",
};

export function sayAndEnd(client: Duplex, status: number, detail: string): void {
  const body = `Skep: ${detail}\n`;
  closeSoon(client);
  client.end(
    `HTTP/1.1 ${status} ${PHRASES[status] ?? "Refused"}\r\nContent-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
