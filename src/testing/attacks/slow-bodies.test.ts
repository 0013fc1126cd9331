/**
 * A38: many bodies and heads that never end, from one address. Memory stays bounded, connections are closed, and others
 * are served.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { type Account, elsewhere, setupAdmin } from "../accounts.ts";
import { lacks } from "../parts.ts";
import { type RawConnection, rawConnection } from "../raw-connection.ts";
import { startServer, type TestServer } from "../server.ts";

// Some tests wait for the server's own time limits; the rest is reserve for busy machines.
setDefaultTimeout(300_000);

const MIB = 1024 * 1024;
const STRANGERS = ["/v1/auth/login", "/v1/auth/refresh", "/v1/auth/setup", "/v1/auth/oidc/none/callback"];
const open: RawConnection[] = [];
let server: TestServer;
let admin: Account;
beforeAll(async () => {
  server = await startServer({ env: { AUTH_ENABLED: "true", TRUSTED_PROXIES: "127.0.0.1", RATE_LIMIT: "0" } });
  admin = await setupAdmin(server);
});
afterAll(async () => {
  for (const connection of open) connection.destroy();
  await server.remove();
});

const memoryMib = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))?.[1]) / 1024;

interface Unfinished {
  path: string;
  /** Number of bytes that are sent. */
  sent: number;
  /** Number of bytes that are announced; undefined sends chunks. */
  announced?: number;
  headers?: Record<string, string>;
}

/** Sends a request whose body is incomplete. */
async function sendUnfinished({ path, sent, announced, headers = {} }: Unfinished): Promise<RawConnection> {
  const connection = await rawConnection(server);
  open.push(connection);
  const length = announced === undefined ? "Transfer-Encoding: chunked" : `Content-Length: ${announced}`;
  const more = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const { host } = new URL(server.url);
  await connection.send(
    `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\n${more.join("")}${length}\r\n\r\n`,
  );
  const body = " ".repeat(sent);
  await connection.send(announced === undefined ? `${sent.toString(16)}\r\n${body}\r\n` : body);
  return connection;
}

/** Sends this many at once. `elsewhere` gives each a different address for the routes' own rate limits. */
const many = (count: number, one: (index: number) => Unfinished) =>
  Promise.all(Array.from({ length: count }, (_, index) => sendUnfinished(one(index))));

/**
 * The statuses that they received before the server closed them, each once, sorted. If nobody read a body, the kernel
 * may also discard the answer; these are left out.
 */
async function endings(connections: readonly RawConnection[]): Promise<number[]> {
  const texts = await Promise.all(connections.map((connection) => connection.readUntilClose()));
  const statuses = texts.map((text) => Number(/HTTP\/1\.1 ([2-5]\d\d)/.exec(text)?.[1] ?? 0));
  return [...new Set(statuses)].filter((status) => status !== 0).sort();
}

describe.skipIf(lacks("Linux", process.platform === "linux"))("A38: bodies that never end", () => {
  test("856 of 1 MiB to the routes of strangers are refused unread, and closed", async () => {
    const before = memoryMib();
    const connections = await many(856, (index) => ({
      path: STRANGERS[index % 4]!,
      announced: MIB,
      sent: MIB - 1,
      headers: elsewhere(),
    }));
    const grown = memoryMib() - before;
    expect(await endings(connections)).toEqual([413]);
    expect(grown).toBeLessThan(64);
    expect((await server.request("GET", "/healthz")).status).toBe(200);
  });

  test("small ones are held up to a bound: for strangers, for one address, and none for long", async () => {
    const before = memoryMib();
    const strangers = await many(1_000, (index) => ({
      path: STRANGERS[index % 4]!,
      sent: 16_000,
      headers: elsewhere(),
    }));
    expect(memoryMib() - before).toBeLessThan(64);

    const headers = { Authorization: `Bearer ${admin.token}`, ...elsewhere() };
    const own = await many(300, () => ({ path: "/v1/secrets", announced: MIB, sent: MIB - 1, headers }));
    expect(memoryMib() - before).toBeLessThan(320);

    const elsewhereMine = { Authorization: `Bearer ${admin.token}`, ...elsewhere() };
    const drops = await sendUnfinished({ path: "/v1/secrets", announced: 200_000, sent: 0, headers: elsewhereMine });
    const beforeDrops = memoryMib();
    for (let sent = 0; sent < 2_000; sent++) await drops.send(" ");
    expect(memoryMib() - beforeDrops).toBeLessThan(32);

    const body = { name: "MEANWHILE", value: "value-value" };
    const meanwhile = await server.request("POST", "/v1/secrets", { body, headers: elsewhereMine });
    expect(meanwhile.status).toBe(201);
    expect(await Promise.all([strangers, own, [drops]].map(endings))).toEqual([[408, 503], [408, 503], [408]]);
    // What they held is free again.
    const after = await server.request("POST", "/v1/secrets", { body: { ...body, name: "AFTER" }, headers });
    expect(after.status).toBe(201);
  });

  test("a head that never ends, drip by drip, is closed too", async () => {
    const connection = await rawConnection(server);
    open.push(connection);
    await connection.send(`GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: `);
    const drip = setInterval(() => void connection.send("a"), 1_000);
    expect(await connection.readUntilClose()).toBe("");
    clearInterval(drip);
  });

  test("an upload of requests without a pause is served and bounded no less", async () => {
    const headers = { Authorization: `Bearer ${admin.token}`, ...elsewhere() };
    const send = (index: number) =>
      server.request("POST", "/v1/secrets", {
        body: { name: `WAVE_${index}`, value: "v".repeat(60_000) },
        headers,
      });
    const statuses = (await Promise.all(Array.from({ length: 100 }, (_, index) => send(index)))).map(
      ({ status }) => status,
    );
    expect(new Set(statuses)).toEqual(new Set([201]));
  });
});
