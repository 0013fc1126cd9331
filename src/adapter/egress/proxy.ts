/**
 * The way out of a sandbox: an HTTP proxy for one execution's programs. Each connection is checked against the
 * allow-list, the address guard resolves its name once, and the connection goes to exactly that address.
 * In a tunnel (CONNECT), a TLS client must ask for the host that was allowed. Plain HTTP is parsed and each request is
 * written again from what was parsed, so that the server gets exactly what was checked. A proxy with all its connections
 * in use refuses further ones at once.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { connect as connectTcp, isIP, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { LIMITS } from "../../core/limits.ts";
import { plainHost } from "../../core/plain-host.ts";
import { nextPiece } from "../../core/stream-head.ts";
import type { ResolvedAddress } from "../address-guard.ts";
import { readClientHello } from "./client-hello.ts";
import { type Credential, terminate } from "./credentials.ts";
import { createGate, type Entry } from "./gate.ts";
import { endToEnd } from "./headers.ts";
import type { Edge, EgressDeps } from "./model.ts";
import { closeSoon, Refusal, say, sayAndEnd } from "./refusals.ts";

export type EgressProxy = Awaited<ReturnType<typeof createEgressProxy>>;

export async function createEgressProxy(deps: EgressDeps) {
  const { createServer, request } = await import("node:http");
  const gate = createGate(deps);
  const open = new Set<Duplex>();

  async function tunnel(asked: IncomingMessage, client: Duplex, early: Uint8Array): Promise<void> {
    client.on("error", () => {});
    const target = targetOf(asked.url ?? "");
    if (!target) return sayAndEnd(client, 400, "CONNECT takes host:port.");
    const entry = gate.begin(target.host, target.port);
    client.once("close", entry.end);
    const credentials = deps.edge?.credentialsFor(target.host, target.port) ?? [];
    let server: Socket;
    try {
      const address = await entry.admit();
      if (deps.edge && credentials.length > 0)
        return await serveTunnel(entry, client, early, address, credentials, deps.edge);
      server = await connectTo(address, target.port);
    } catch (error) {
      const refusal = entry.note(error);
      entry.end();
      return sayAndEnd(client, refusal.status, refusal.message);
    }
    server.on("error", () => {});
    server.once("close", () => (server.readableEnded ? closeSoon(client) : entry.end()));
    entry.onEnd(() => {
      server.destroy();
      client.destroy();
    });
    client.write("HTTP/1.1 200 Connection established\r\n\r\n");
    pipeCounted(server, client, (size) => entry.count("receivedBytes", size));
    try {
      const first = await firstBytes(client, early, target.host);
      entry.count("sentBytes", first.length);
      server.write(first);
    } catch (error) {
      entry.note(error);
      return entry.end();
    }
    pipeCounted(client, server, (size) => entry.count("sentBytes", size));
    server.setTimeout(LIMITS.egressSilenceMs, () => entry.fail("too_long"));
  }

  async function forward(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const url = URL.parse(asked.url ?? "");
    if (url?.protocol !== "http:" || url.username !== "" || url.password !== "")
      return say(answer, 400, "This is a proxy: it takes http://… and CONNECT.");
    const host = plainHost(url.hostname);
    const port = Number(url.port || 80);
    const entry = gate.begin(host, port);
    answer.once("close", entry.end);
    const refuse = (error: unknown) => {
      const refusal = entry.note(error);
      if (answer.headersSent) answer.destroy();
      else say(answer, refusal.status, refusal.message);
      entry.end();
    };
    try {
      if (asked.headers.host !== undefined && asked.headers.host.toLowerCase() !== url.host)
        throw new Refusal(400, "denied", "name_mismatch", "The Host header names another host than the address.");
      if (asked.headers.upgrade !== undefined)
        throw new Refusal(501, "denied", "not_allowed", "Plain connections cannot be upgraded here; use CONNECT.");
      const address = await entry.admit();
      const sent = request({
        host: address.address,
        family: address.family,
        port,
        agent: false,
        setHost: false,
        method: asked.method,
        path: `${url.pathname}${url.search}`,
        headers: { ...endToEnd(asked.headers), host: url.host, connection: "close" },
      });
      entry.onEnd((cut) => {
        sent.destroy();
        if (cut) answer.destroy();
      });
      sent.setTimeout(LIMITS.egressSilenceMs, () => sent.destroy(new Error("nothing came for too long")));
      sent.on("error", refuse);
      sent.on("response", (response) => {
        answer.writeHead(response.statusCode ?? 502, endToEnd(response.headers));
        response.on("data", (chunk: Uint8Array) => entry.count("receivedBytes", chunk.length));
        response.on("error", refuse);
        response.pipe(answer);
      });
      asked.on("data", (chunk: Uint8Array) => entry.count("sentBytes", chunk.length));
      asked.pipe(sent);
    } catch (error) {
      refuse(error);
    }
  }

  const server: Server = createServer(
    { maxHeaderSize: LIMITS.egressHeadBytes, headersTimeout: LIMITS.egressHeadMs, requestTimeout: 0 },
    (asked, answer) => void forward(asked, answer).catch(() => answer.destroy()),
  );
  server.on("connect", (asked: IncomingMessage, client: Duplex, early: Uint8Array) => {
    tunnel(asked, client, early).catch(() => client.destroy());
  });
  server.on("clientError", (_error: Error, client: Duplex) => void client.destroy());
  return {
    /** Serves one connection of the sandbox. */
    take(connection: Duplex): void {
      open.add(connection);
      connection.once("close", () => open.delete(connection));
      connection.on("error", () => {});
      server.emit("connection", connection);
    },
    /** Ends all open connections. */
    close(): void {
      for (const connection of open) connection.destroy();
    },
  };
}

/** Serves a tunnel to a host with credentials. TLS ends here, and each request in the tunnel is read. */
async function serveTunnel(
  entry: Entry,
  client: Duplex,
  early: Uint8Array,
  address: ResolvedAddress,
  credentials: readonly Credential[],
  { certificateFor, ca }: Edge,
): Promise<void> {
  const { host, port } = entry.record;
  entry.onEnd(() => client.destroy());
  client.write("HTTP/1.1 200 Connection established\r\n\r\n");
  try {
    const first = await firstBytes(client, early, host);
    if (readClientHello(first).kind !== "hello")
      throw new Refusal(403, "denied", "not_encrypted", "A host with a credential is reached over TLS alone.");
    await terminate({
      client,
      first,
      host,
      port,
      address,
      credentials,
      ca,
      certificate: certificateFor(host),
      onSent: (size) => entry.count("sentBytes", size),
      onReceived: (size) => entry.count("receivedBytes", size),
      onFailure: (reason) => entry.refuse("failed", reason),
    });
  } catch (error) {
    entry.note(error);
    entry.end();
  }
}

/** Parses `host:port` of a CONNECT request. */
function targetOf(text: string): { host: string; port: number } | undefined {
  const at = text.lastIndexOf(":");
  const port = /^\d{1,5}$/.test(text.slice(at + 1)) ? Number(text.slice(at + 1)) : 0;
  if (at < 1 || port < 1 || port > 65_535) return undefined;
  try {
    return { host: plainHost(text.slice(0, at)), port };
  } catch {
    return undefined;
  }
}

function connectTo({ address, family }: ResolvedAddress, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connectTcp({ host: address, family, port, allowHalfOpen: true });
    const late = setTimeout(() => socket.destroy(new Error("no answer in time")), LIMITS.egressConnectMs);
    socket.once("error", (error) => {
      clearTimeout(late);
      reject(error);
    });
    socket.once("connect", () => {
      clearTimeout(late);
      resolve(socket);
    });
  });
}

/**
 * Reads the program's first bytes and decides whether they may be sent: a TLS client must ask for the host by name.
 * @returns the bytes. @throws Refusal
 */
async function firstBytes(client: Duplex, early: Uint8Array, host: string): Promise<Uint8Array> {
  let seen = Buffer.from(early);
  const late = setTimeout(() => client.destroy(), LIMITS.egressHeadMs);
  try {
    for (;;) {
      const hello = readClientHello(seen);
      if (hello.kind === "other") return seen;
      if (hello.kind === "hello") {
        const name = hello.name?.toLowerCase().replace(/\.$/, "");
        if (name === host || (name === undefined && isIP(host) !== 0)) return seen;
        const asked = name === undefined ? "no host" : name.slice(0, 253);
        throw new Refusal(403, "denied", "name_mismatch", `The TLS client asks for ${asked}, not for ${host}.`);
      }
      if (seen.length > LIMITS.egressHeadBytes)
        throw new Refusal(403, "denied", "name_mismatch", "The TLS client's first message is too long.");
      // A program that waits for the server to speak first sends nothing yet, so it has no time limit.
      if (seen.length === 0) clearTimeout(late);
      const more = await nextPiece(client);
      if (!more) return seen;
      seen = Buffer.concat([seen, more]);
    }
  } finally {
    clearTimeout(late);
  }
}

function pipeCounted(from: Duplex, to: Duplex, onBytes: (size: number) => void): void {
  from.on("data", (chunk: Uint8Array) => onBytes(chunk.length));
  from.pipe(to);
}
