/**
 * The first lines of HTTP/1.1 messages between a visitor and a previewed app: read strictly, and written anew with what
 * either side may know. Both sides are hostile: nothing is passed on that was not understood.
 */

interface Header {
  /** In lower case. */
  name: string;
  value: string;
}

export interface RequestHead {
  method: string;
  /** Path and query, as they came. */
  target: string;
  /** Name and port, in lower case. */
  host: string;
  headers: readonly Header[];
  /** Of the body; 0: there is none. */
  bodyBytes: number;
  /** A WebSocket is asked for. */
  upgrades: boolean;
}

interface ResponseHead {
  status: number;
  headers: readonly Header[];
  /** Of the body; undefined: until the connection ends, or in pieces that say where they end. */
  bodyBytes: number | undefined;
}

/** Cookies of this server in a browser; no app gets or sets them. */
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

/** The value of a header that is there once. */
function onlyValueOf(headers: readonly Header[], name: string): string | undefined {
  const values = valuesOf(headers, name);
  return values.length === 1 ? values[0] : undefined;
}

/** Undefined where there is none; null where it is not one number. */
function lengthOf(headers: readonly Header[]): number | null | undefined {
  const values = valuesOf(headers, "content-length");
  if (values.length === 0) return undefined;
  return values.length === 1 && /^\d{1,15}$/.test(values[0]!) ? Number(values[0]) : null;
}

/** @param text the head without its empty line. Undefined: it is no request that is understood. */
export function readRequestHead(text: string): RequestHead | undefined {
  const [first = "", ...lines] = text.split("\r\n");
  const [method = "", target = "", version = "", more] = first.split(" ");
  if (more !== undefined || !/^HTTP\/1\.[01]$/.test(version) || !TOKEN.test(method) || !TARGET.test(target))
    return undefined;
  const headers = readHeaders(lines);
  const host = headers && onlyValueOf(headers, "host")?.toLowerCase();
  if (!headers || host === undefined || !HOST.test(host)) return undefined;
  const length = lengthOf(headers);
  // Browsers and proxies say how long a body is; pieces would have to be understood to know where it ends.
  if (length === null || valuesOf(headers, "transfer-encoding").length > 0) return undefined;
  const upgrades = onlyValueOf(headers, "upgrade")?.toLowerCase() === "websocket";
  if (upgrades && (method !== "GET" || length)) return undefined;
  return { method, target, host, headers, bodyBytes: length ?? 0, upgrades };
}

/** @param text as for a request. @param method of the request that it answers. */
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
/** Rewritten, or words about the way here that an app might believe. */
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
  /** As the visitor's browser has it: `https://name.preview.example.org`. */
  outer: string;
  /** As the app has it: `http://localhost:3000`. */
  inner: string;
}

/** What the app is sent: it believes that its visitor is on its own machine. */
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

/** What would act beyond the preview's own pages, or later than the preview. */
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

/** A cookie that stays with this preview: none for a parent domain, none with a name of this server's. */
const staysHere = (cookie: string): boolean => {
  const [pair = "", ...attributes] = cookie.split(";");
  return notOurs(pair) && !attributes.some((attribute) => attribute.split("=")[0]!.trim().toLowerCase() === "domain");
};

/** What the visitor is sent. */
export function writeResponseHead({ status, headers }: ResponseHead, { outer, inner }: Between): string {
  const lines = [`HTTP/1.1 ${status} ${REASONS[status] ?? "Answer"}`];
  for (const { name, value } of headers) if (!KEPT_FROM_VISITOR.has(name)) lines.push(`${name}: ${value}`);
  for (const { name, value } of headers) {
    if (name === "set-cookie" && staysHere(value)) lines.push(`Set-Cookie: ${value}`);
    if (name === "location")
      lines.push(`Location: ${value.startsWith(`${inner}/`) ? outer + value.slice(inner.length) : value}`);
    if (name === "transfer-encoding" && value.toLowerCase() === "chunked") lines.push("Transfer-Encoding: chunked");
  }
  // Beside what the app itself says: both count. No other page shows it in a frame.
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
 * Whether a page elsewhere made the browser ask: another preview, or any other site. Its visitor's cookie may come along,
 * so only going to an address counts as the visitor's own wish.
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
