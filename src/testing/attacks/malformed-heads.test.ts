/**
 * A41: request heads that are not HTTP, or name no host. The answer is one of our problems or a bare status, never a
 * page or source code of the runtime.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { rawConnection } from "../raw-connection.ts";
import { startServer, type TestServer } from "../server.ts";

// A generous limit for busy machines: these tests wait for events, not for fixed times.
setDefaultTimeout(300_000);

let guarded: TestServer;
let local: TestServer;
beforeAll(async () => {
  [guarded, local] = await Promise.all([startServer({ env: { AUTH_ENABLED: "true" } }), startServer()]);
});
afterAll(() => Promise.all([guarded.remove(), local.remove()]));

/** Sends the head and closes our side. @returns the whole answer. */
async function sendHead(server: TestServer, head: string): Promise<string> {
  const connection = await rawConnection(server);
  await connection.send(head);
  const text = await connection.until(/\r\n\r\n(?:$|\{.*\}$)/s);
  connection.destroy();
  return text;
}
/** Checks that the text contains nothing internal. */
const assertOurs = (text: string) => {
  const [head = "", body = ""] = text.split("\r\n\r\n");
  expect(text).not.toMatch(/<html|<!doctype|bun|\.ts\b|node_modules|\/root|\/\$bunfs|at \w+ \(/i);
  if (body === "") return;
  expect(head).toContain("application/problem+json");
  expect(Object.keys(JSON.parse(body))).toEqual(expect.arrayContaining(["type", "title", "status", "detail", "code"]));
};

const hosts: Record<string, string> = {
  "with a user": "Host: a@b",
  "that is empty": "Host: ",
  "that is missing": "X-Not-Host: a",
  "given twice": "Host: 127.0.0.1\r\nHost: evil.example",
  "with a blank": "Host: 127.0.0.1 evil.example",
  "with a path": "Host: 127.0.0.1/x",
  "with a question": "Host: 127.0.0.1?x#y",
  "with an open bracket": "Host: [::1",
  "that is percent-encoded": "Host: %31%32%37.0.0.1",
  "with a port of letters": "Host: 127.0.0.1:http",
  "with a port that is not valid": "Host: 127.0.0.1:",
  "with a byte above ASCII": "Host: löcalhost",
  "with a backslash": "Host: 127.0.0.1\\@evil.example",
  "with a list": "Host: 127.0.0.1, evil.example",
};

describe("A41: a host", () => {
  test.each(Object.entries(hosts))("%s is 400", async (_, line) => {
    for (const server of [guarded, local])
      for (const [method, version] of [
        ["GET", "1.1"],
        ["GET", "1.0"],
        ["POST", "1.1"],
      ]) {
        const text = await sendHead(
          server,
          `${method} /v1/status HTTP/${version}\r\n${line}\r\nContent-Length: 0\r\n\r\n`,
        );
        expect([method, version, text.slice(0, 12)]).toEqual([method, version, "HTTP/1.1 400"]);
        assertOurs(text);
      }
  });

  test("that is one, by name, address, with and without a port, is answered, by HTTP/1.0 too", async () => {
    for (const host of ["localhost", "127.0.0.1", "LOCALHOST:8000", "[::1]", "[::1]:8000"])
      for (const version of ["1.0", "1.1"]) {
        const text = await sendHead(local, `GET /healthz HTTP/${version}\r\nHost: ${host}\r\n\r\n`);
        expect([host, version, text.slice(0, 12)]).toEqual([host, version, "HTTP/1.1 200"]);
      }
  });
});

/** Lines that no client sends. The runtime closes the connection for an unknown method. */
const lines: Record<string, RegExp> = {
  GET: /^HTTP\/1.1 400/,
  "GET /v1/status": /^HTTP\/1.1 (400|505)/,
  "GET  /v1/status HTTP/1.1": /^HTTP\/1.1 4/,
  "GET v1/status HTTP/1.1": /^HTTP\/1.1 400/,
  "GET * HTTP/1.1": /^HTTP\/1.1 400/,
  "GET ftp://127.0.0.1/v1/status HTTP/1.1": /^HTTP\/1.1 4/,
  "GET /v1/status\0 HTTP/1.1": /^HTTP\/1.1 [45]0[05]/,
  "GET /v1/status HTTP/9.9": /^HTTP\/1.1 505/,
  "GET /v1/status HTTP/0.9": /^HTTP\/1.1 505/,
  "get /v1/status HTTP/1.1": /^(HTTP\/1.1 4|$)/,
  "\u0016\u0003\u0001\u0002\0": /^HTTP\/1.1 400/,
  "CONNECT evil.example:443 HTTP/1.1": /^HTTP\/1.1 4/,
  "FOO /v1/status HTTP/1.1": /^(HTTP\/1.1 4|$)/,
  "TRACE /v1/status HTTP/1.1": /^HTTP\/1.1 4/,
  "OPTIONS * HTTP/1.1": /^HTTP\/1.1 4/,
};
const fields: Record<string, RegExp> = {
  "Content-Length: 3\r\nContent-Length: 4": /^HTTP\/1.1 400/,
  "Content-Length: 3\r\nTransfer-Encoding: chunked": /^HTTP\/1.1 400/,
  "Transfer-Encoding: gzip": /^HTTP\/1.1 4/,
  "Content-Length: -1": /^HTTP\/1.1 400/,
  "Content-Length: 0x10": /^HTTP\/1.1 400/,
  "No colon here": /^HTTP\/1.1 400/,
  ": no name": /^HTTP\/1.1 400/,
  " folded": /^HTTP\/1.1 400/,
  "Spaced : name": /^HTTP\/1.1 400/,
  "A: b\0c": /^HTTP\/1.1 400/,
};

describe("A41: a head", () => {
  test.each(Object.entries(lines))("%j is refused", async (line, wanted) => {
    for (const server of [guarded, local]) {
      const text = await sendHead(server, `${line}\r\nHost: ${new URL(server.url).host}\r\n\r\n`);
      expect(text).toMatch(wanted);
      assertOurs(text);
    }
  });

  test.each(Object.entries(fields))("with %j is refused", async (field, wanted) => {
    const text = await sendHead(guarded, `POST /v1/status HTTP/1.1\r\nHost: 127.0.0.1\r\n${field}\r\n\r\n`);
    expect(text).toMatch(wanted);
    assertOurs(text);
  });

  test("that is too large is refused, and the server continues", async () => {
    const text = await sendHead(guarded, `GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ${"a".repeat(100_000)}\r\n\r\n`);
    expect(text).toMatch(/^HTTP\/1.1 431/);
    assertOurs(text);
    expect((await guarded.request("GET", "/healthz")).status).toBe(200);
  });

  test("of random bytes is refused, a thousand times, and the server continues", async () => {
    let seed = 41;
    const byte = () => {
      seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff;
      return (seed >> 16) & 255;
    };
    for (let round = 0; round < 1_000; round++) {
      const noise = String.fromCharCode(...Array.from({ length: 1 + (byte() % 60) }, byte));
      const text = await sendHead(
        guarded,
        round % 2 === 0
          ? `${noise}\r\n\r\n`
          : `GET /${noise.replace(/[\r\n]/g, "")} HTTP/1.1\r\nHost: ${noise}\r\n\r\n`,
      );
      assertOurs(text);
      expect(text).not.toMatch(/^HTTP\/1.1 (2|500)/);
    }
    expect((await guarded.request("GET", "/healthz")).status).toBe(200);
  });
});
