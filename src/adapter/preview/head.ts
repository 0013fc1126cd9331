/**
 * Heads of HTTP/1.1 messages between a visitor and a previewed app. Each head is parsed strictly. Then
 * a new head is written, with only what the other side may know. Both sides are untrusted, so a head that cannot be parsed
 * is not passed on.
 */

interface Header {
  /** In lower case. */
  name: string;
  value: string;
}

export interface RequestHead {
  method: string;
  /** Path and query as received. */
  target: string;
  /** Name and port, in lower case. */
  host: string;
  headers: readonly Header[];
  /** Length of the body; 0 when there is none. */
  bodyBytes: number;
  /** Whether the request asks for a WebSocket. */
  upgrades: boolean;
}

interface ResponseHead {
  status: number;
  headers: readonly Header[];
  /** Length of the body. Undefined when the body ends with the connection, or is chunked. */
  bodyBytes: number | undefined;
}

/** This server's own cookies in a browser, which no app may read or set. */
const OWN_COOKIE = /^(?:__(?:Host|Secure)-)?skep_/i;

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const TARGET = /^\/[\x21-\x7e]*$/;
const HOST = /^[a-z0-9.-]{1,253}(?::\d{1,5})?$/;
const MAX_HEADERS = 200;

function readHeaders(lines: readonly string[]): Header[] | undefined {
  if (lines.length > MAX_HEADERS) return undefined;
  const headers: Header[] = [];
  for (const line of lines) {
    const colon = line.indexOf(":");
    const [name, value] = [line.slice(0, Math.max(0, colon)), line.slice(colon + 1).trim()];
    if (!TOKEN.test(name) || !VALUE.test(value)) return undefined;
    headers.push({ name: name.toLowerCase(), value });
  }
  return headers;
}

const valuesOf = (headers: readonly Header[], name: string): string[] =>
  headers.filter((header) => header.name === name).map(({ value }) => value);

/** The value of a header that occurs exactly once. */
function onlyValueOf(headers: readonly Header[], name: string): string | undefined {
  const values = valuesOf(headers, name);
  return values.length === 1 ? values[0] : undefined;
}

/** The body's length by the headers: undefined when there is none, null when it is not a single number. */
function lengthOf(headers: readonly Header[]): number | null | undefined {
  const values = valuesOf(headers, "content-length");
  if (values.length === 0) return undefined;
  return values.length === 1 && /^\d{1,15}$/.test(values[0]!) ? Number(values[0]) : null;
}

/** @param text the head without its empty line. @returns undefined when it is not a request that is understood. */
export function readRequestHead(text: string): RequestHead | undefined {
  const [first = "", ...lines] = text.split("\r\n");
  const [method = "", target = "", version = "", more] = first.split(" ");
  if (more !== undefined || !/^HTTP\/1\.[01]$/.test(version) || !TOKEN.test(method) || !TARGET.test(target))
    return undefined;
  const headers = readHeaders(lines);
  const host = headers && onlyValueOf(headers, "host")?.toLowerCase();
  if (!headers || host === undefined || !HOST.test(host)) return undefined;
  const length = lengthOf(headers);
  // Chunked requests are refused: browsers and proxies send a length, and chunks would have to be parsed to find the
  // end of the body.
  if (length === null || valuesOf(headers, "transfer-encoding").length > 0) return undefined;
  const upgrades = onlyValueOf(headers, "upgrade")?.toLowerCase() === "websocket";
  if (upgrades && (method !== "GET" || length)) return undefined;
  return { method, target, host, headers, bodyBytes: length ?? 0, upgrades };
}

/** @param text as for a request. @param method of the request that is answered. @returns undefined as for a request. */
export function readResponseHead(text: string, method: string): ResponseHead | undefined {
  const [first = "", ...lines] = text.split("\r\n");
  const [, code] = /^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(first) ?? [];
  const headers = readHeaders(lines);
  const status = Number(code);
  if (code === undefined || !headers || status < 100 || status > 599) return undefined;
  const length = lengthOf(headers);
  if (length === null) return undefined;
  const isEmpty = method === "HEAD" || status < 200 || status === 204 || status === 304;
  const inPieces = valuesOf(headers, "transfer-encoding").length > 0;
  if (inPieces && length !== undefined) return undefined;
  return { status, headers, bodyBytes: isEmpty ? 0 : length };
}

/** The value of a cookie of the request. */
export function cookieIn(headers: readonly Header[], name: string): string | undefined {
  for (const header of valuesOf(headers, "cookie"))
    for (const part of header.split(";")) {
      const at = part.indexOf("=");
      if (at > 0 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim();
    }
  return undefined;
}

const notOurs = (pair: string): boolean => !OWN_COOKIE.test(pair.split("=")[0]!.trim());

const HOP = ["connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"];
/** Headers that are rewritten, or that tell about the way to the app and that the app might trust. */
const KEPT_FROM_APP = new Set([
  ...HOP,
  "host",
  "cookie",
  "origin",
  "referer",
  "expect",
  "forwarded",
  "via",
  "x-real-ip",
  "proxy-authorization",
  "proxy-connection",
  "service-worker-navigation-preload",
]);

export interface Between {
  /** Origin in the visitor's browser: `https://name.preview.example.org`. */
  outer: string;
  /** Origin as the app sees it: `http://localhost:3000`. */
  inner: string;
}

/** Writes the head that the app gets. To the app, its visitor seems to be on the app's own machine. */
export function writeRequestHead(
  { method, target, headers, upgrades }: RequestHead,
  { outer, inner }: Between,
): string {
  const lines = [`${method} ${target} HTTP/1.1`, `Host: ${new URL(inner).host}`];
  for (const { name, value } of headers)
    if (!KEPT_FROM_APP.has(name) && !name.startsWith("x-forwarded-")) lines.push(`${name}: ${value}`);
  const cookies = valuesOf(headers, "cookie")
    .flatMap((value) => value.split(";"))
    .map((pair) => pair.trim())
    .filter((pair) => pair !== "" && notOurs(pair));
  if (cookies.length > 0) lines.push(`Cookie: ${cookies.join("; ")}`);
  const origin = onlyValueOf(headers, "origin");
  if (origin !== undefined) lines.push(`Origin: ${origin === outer ? inner : "null"}`);
  const referer = onlyValueOf(headers, "referer");
  if (referer?.startsWith(`${outer}/`)) lines.push(`Referer: ${inner}${referer.slice(outer.length)}`);
  lines.push(...(upgrades ? ["Connection: Upgrade", "Upgrade: websocket"] : ["Connection: close"]));
  return `${lines.join("\r\n")}\r\n\r\n`;
}

/** Headers that are rewritten, or that would take effect outside the preview's pages or after its end. */
const KEPT_FROM_VISITOR = new Set([
  ...HOP,
  "set-cookie",
  "set-cookie2",
  "location",
  "clear-site-data",
  "strict-transport-security",
  "public-key-pins",
  "public-key-pins-report-only",
  "expect-ct",
  "service-worker-allowed",
  "access-control-allow-credentials",
  "alt-svc",
  "nel",
  "report-to",
  "reporting-endpoints",
  "content-security-policy-report-only",
  "proxy-authenticate",
  "proxy-connection",
  "accept-ch",
  "critical-ch",
  "set-login",
]);

/** Whether a cookie stays within this preview: it sets no domain, and has no name of this server's own cookies. */
const staysHere = (cookie: string): boolean => {
  const [pair = "", ...attributes] = cookie.split(";");
  return notOurs(pair) && !attributes.some((attribute) => attribute.split("=")[0]!.trim().toLowerCase() === "domain");
};

/** Writes the head that the visitor gets. */
export function writeResponseHead({ status, headers }: ResponseHead, { outer, inner }: Between): string {
  const lines = [`HTTP/1.1 ${status} ${REASONS[status] ?? "Answer"}`];
  for (const { name, value } of headers) if (!KEPT_FROM_VISITOR.has(name)) lines.push(`${name}: ${value}`);
  for (const { name, value } of headers) {
    if (name === "set-cookie" && staysHere(value)) lines.push(`Set-Cookie: ${value}`);
    if (name === "location")
      lines.push(`Location: ${value.startsWith(`${inner}/`) ? outer + value.slice(inner.length) : value}`);
    if (name === "transfer-encoding" && value.toLowerCase() === "chunked") lines.push("Transfer-Encoding: chunked");
  }
  // This policy applies in addition to the app's own one. No other page may show the preview in a frame.
  lines.push("Content-Security-Policy: frame-ancestors 'self'", "Referrer-Policy: same-origin");
  lines.push("Cross-Origin-Opener-Policy: same-origin");
  lines.push(...(status === 101 ? ["Connection: Upgrade", "Upgrade: websocket"] : ["Connection: close"]));
  return `${lines.join("\r\n")}\r\n\r\n`;
}

const REASONS: Readonly<Record<number, string>> = {
  101: "Switching Protocols",
  200: "OK",
  201: "Created",
  204: "No Content",
  206: "Partial Content",
  301: "Moved Permanently",
  302: "Found",
  303: "See Other",
  304: "Not Modified",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  413: "Content Too Large",
  429: "Too Many Requests",
  500: "Internal Server Error",
  502: "Bad Gateway",
  503: "Service Unavailable",
};

/**
 * Whether another page caused the request, such as another preview or any other site. The visitor's cookie may
 * accompany such a request, so only a navigation to an address counts as the visitor's own wish.
 */
export function isForeign({ method, headers, upgrades }: RequestHead, outer: string): boolean {
  const site = onlyValueOf(headers, "sec-fetch-site");
  const origin = onlyValueOf(headers, "origin");
  const isReading = method === "GET" || method === "HEAD";
  if (origin !== undefined && origin !== outer) return true;
  if (upgrades && origin === undefined) return true;
  if (site !== "same-site" && site !== "cross-site") return false;
  return !(
    isReading &&
    onlyValueOf(headers, "sec-fetch-mode") === "navigate" &&
    onlyValueOf(headers, "sec-fetch-dest") === "document"
  );
}
