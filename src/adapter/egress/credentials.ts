/**
 * Adds credentials to outgoing requests, so that no program in the sandbox ever has them.
 * The program's TLS connection ends here, with a certificate of the sandbox's own authority. Each request is read,
 * checked and sent on over another TLS connection, to the address that was checked. A credential that the answer
 * repeats is masked.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { isIP } from "node:net";
import { Duplex, type Readable } from "node:stream";
import { messageOf } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import { formsOf } from "../../core/secret-forms.ts";
import type { ResolvedAddress } from "../address-guard.ts";
import type { HostCertificate } from "./certificate.ts";
import { createEchoMask } from "./echo-mask.ts";
import { endToEnd } from "./headers.ts";
import { say } from "./refusals.ts";

export interface Credential {
  /** Name of the header, in lower case. */
  header: string;
  /** Text before the value, such as `Bearer `. */
  prefix: string;
  value: string;
  /** Methods, in capitals, to which the credential is added; all when absent. */
  methods?: readonly string[] | undefined;
  /** Prefix of the paths to which the credential is added; all when absent. */
  path?: string | undefined;
}

interface Termination {
  /** The program's end of the tunnel, and the bytes that were read from it already. */
  client: Duplex;
  first: Uint8Array;
  host: string;
  port: number;
  address: ResolvedAddress;
  certificate: HostCertificate;
  credentials: readonly Credential[];
  /** Certificates that are trusted in addition to the usual ones. */
  ca?: readonly string[] | undefined;
  onSent(bytes: number): void;
  onReceived(bytes: number): void;
  /** Called when a request could not be answered. */
  onFailure(reason: string): void;
}

/** Serves the requests that the program makes in this tunnel, until the tunnel closes. */
export async function terminate(tunnel: Termination): Promise<void> {
  const [{ createServer }, { TLSSocket }] = await Promise.all([import("node:http"), import("node:tls")]);
  const bounds = { maxHeaderSize: LIMITS.egressHeadBytes, headersTimeout: LIMITS.egressHeadMs, requestTimeout: 0 };
  let isBusy = false;
  const server = createServer(bounds, (asked, answer) => {
    // Requests are served one after another. Otherwise a program that does not wait for answers would open a connection
    // for each request.
    if (isBusy) return void tunnel.client.destroy();
    isBusy = true;
    for (const end of ["finish", "close"])
      answer.once(end, () => {
        isBusy = false;
      });
    void forward(tunnel, asked, answer).catch((error) => {
      tunnel.onFailure("unreachable");
      say(answer, 502, `It could not be reached (${messageOf(error).slice(0, 200)}).`);
    });
  });
  server.on("upgrade", (_asked, socket: Duplex) => void socket.destroy());
  server.on("clientError", (_error: Error, socket: Duplex) => void socket.destroy());
  const { key, cert } = tunnel.certificate;
  const inner = new TLSSocket(prependBytes(tunnel.client, tunnel.first), {
    isServer: true,
    key,
    cert,
    ALPNProtocols: ["http/1.1"],
  });
  inner.on("error", () => tunnel.client.destroy());
  inner.once("close", () => tunnel.client.destroy());
  tunnel.client.once("close", () => inner.destroy());
  server.emit("connection", inner);
}

/** Wraps a stream so that it begins with bytes that were read from it already. */
function prependBytes(stream: Duplex, first: Uint8Array): Duplex {
  const whole = new Duplex({
    read: () => void stream.resume(),
    write: (chunk, _encoding, done) => void stream.write(chunk, () => done()),
    final(done) {
      stream.end();
      done();
    },
    destroy(error, done) {
      stream.destroy();
      done(error);
    },
  });
  whole.push(first);
  stream.on("data", (chunk: Uint8Array) => {
    if (!whole.push(chunk)) stream.pause();
  });
  stream.once("end", () => void whole.push(null));
  stream.once("close", () => void whole.destroy());
  whole.on("error", () => {});
  return whole;
}

async function forward(tunnel: Termination, asked: IncomingMessage, answer: ServerResponse): Promise<void> {
  const { host, port, address, ca, credentials } = tunnel;
  const named = (asked.headers.host ?? "").toLowerCase();
  const authority = host.includes(":") ? `[${host}]` : host;
  if (named !== `${authority}:${port}` && !(named === authority && port === 443))
    return say(answer, 400, "The Host header names another host than the connection.");
  const url = (asked.url ?? "").startsWith("/") ? URL.parse(`https://${named}${asked.url}`) : null;
  if (!url) return say(answer, 400, "The request names no path.");
  const mask = createEchoMask(credentials.flatMap(({ value }) => formsOf(value)));
  const { request } = await import("node:https");
  const sent = request({
    host: address.address,
    family: address.family,
    port,
    agent: false,
    setHost: false,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(ca ? { ca: [...ca] } : {}),
    method: asked.method,
    path: `${url.pathname}${url.search}`,
    headers: { ...headersOf(asked, credentials, url.pathname), host: named, "accept-encoding": "identity" },
  });
  answer.once("close", () => void sent.destroy());
  sent.setTimeout(LIMITS.egressSilenceMs, () => sent.destroy(new Error("nothing came for too long")));
  tunnel.onSent(asked.rawHeaders.reduce((sum, { length }) => sum + length, url.href.length));
  asked.on("data", (chunk: Uint8Array) => tunnel.onSent(chunk.length));
  asked.on("error", () => sent.destroy());
  asked.pipe(sent);
  const response = await answerOf(sent);
  const isEmpty = asked.method === "HEAD" || response.statusCode === 204 || response.statusCode === 304;
  const body = isEmpty ? response : await decodeBody(response);
  if (!body) return say(answer, 502, "The answer is compressed in a way that cannot be read.");
  const headers = Object.entries(endToEnd(response.headers)).flatMap(([name, value]) => {
    // The body was decompressed, so length and encoding of the compressed body no longer hold.
    if (body !== response && /^content-(length|encoding)$/.test(name)) return [];
    return [[name, Array.isArray(value) ? value.map(mask.text) : mask.text(value)] as const];
  });
  answer.writeHead(response.statusCode ?? 502, Object.fromEntries(headers));
  body.on("data", (chunk: Uint8Array) => tunnel.onReceived(chunk.length));
  const masked = mask.stream();
  for (const stream of [response, body, masked]) stream.on("error", () => void answer.destroy());
  body.pipe(masked).pipe(answer);
}

const answerOf = (sent: ReturnType<typeof import("node:https").request>): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    sent.on("error", reject);
    sent.on("response", resolve);
  });

/** The headers that are sent on. A credential replaces what the program wrote in its header. */
function headersOf(asked: IncomingMessage, credentials: readonly Credential[], path: string) {
  const headers = endToEnd(asked.headers);
  for (const credential of credentials)
    if (fits(credential, asked.method ?? "GET", path))
      headers[credential.header] = credential.prefix + credential.value;
  return headers;
}

/**
 * Whether a credential is for this request. A path that the server may interpret differently (`%2e`, `%2f`, `%5c`, a
 * backslash, two slashes) fits no credential with a path.
 */
function fits({ methods, path: wanted }: Credential, method: string, path: string): boolean {
  if (methods && !methods.includes(method)) return false;
  if (wanted === undefined) return true;
  return path.startsWith(wanted) && !/%(?:2[ef]|5c)|\\|\/\//i.test(path);
}

/** The body, decompressed if necessary; undefined when the compression is not supported. */
async function decodeBody(response: IncomingMessage): Promise<Readable | undefined> {
  const encoding = (response.headers["content-encoding"] ?? "identity").trim().toLowerCase();
  if (encoding === "identity") return response;
  const { createBrotliDecompress, createGunzip, createInflate } = await import("node:zlib");
  const known = { gzip: createGunzip, "x-gzip": createGunzip, deflate: createInflate, br: createBrotliDecompress };
  const create = Object.entries(known).find(([name]) => name === encoding)?.[1];
  return create && response.pipe(create());
}
