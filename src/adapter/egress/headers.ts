/** Filters the headers that pass through a proxy. */
import type { IncomingMessage } from "node:http";

/** Headers that belong to the connection instead of the message, and headers for the proxy itself. RFC 9110 §7.6.1. */
const OF_CONNECTION = new Set(
  "connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding upgrade host".split(
    " ",
  ),
);

export function endToEnd(headers: IncomingMessage["headers"]): Record<string, string | string[]> {
  const named = new Set(
    (headers.connection ?? "")
      .toLowerCase()
      .split(",")
      .map((name) => name.trim()),
  );
  const kept = Object.entries(headers).filter(([name]) => !OF_CONNECTION.has(name) && !named.has(name));
  return Object.fromEntries(kept.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}
