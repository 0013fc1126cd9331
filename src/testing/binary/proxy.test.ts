/**
 * Real proxies in front of the server, configured as in docs/reverse-proxy.md: refusals reach the client as our own
 * problems.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasProgram, type RealProxy, startCaddy, startNginx } from "../proxies.ts";
import { rawConnection } from "../raw-connection.ts";
import { startServer, type TestServer } from "../server.ts";

// A generous limit for busy machines: these tests wait for events, not for fixed times.
setDefaultTimeout(300_000);

const MIB = 1024 * 1024;
const folder = mkdtempSync(join(tmpdir(), "skep-proxy-"));
let server: TestServer;
beforeAll(async () => {
  server = await startServer({ env: { AUTH_ENABLED: "true", TRUSTED_PROXIES: "127.0.0.1" } });
});
afterAll(async () => {
  await server.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** The lines of the page's nginx `location` block, adapted to this server. */
function locationLines(): string {
  const page = readFileSync(join(import.meta.dir, "../../../docs/reverse-proxy.md"), "utf8");
  const lines = /location \/ \{\n([\s\S]*?)\n\s*\}/.exec(page)?.[1];
  if (!lines) throw new Error("The page has no nginx location any more.");
  return lines.replace("http://127.0.0.1:8000", server.url);
}

const nginx = (buffering: "on" | "off") =>
  startNginx(folder, `proxy_request_buffering ${buffering};\n    location / {\n${locationLines()}\n    }`);
const caddy = () => startCaddy(folder, `reverse_proxy ${server.url.slice(7)}`);
const proxies: [name: string, present: boolean, start: () => Promise<RealProxy>][] = [
  ["nginx", hasProgram("nginx"), () => nginx("on")],
  ["nginx without request buffering", hasProgram("nginx"), () => nginx("off")],
  ["caddy", hasProgram("caddy"), caddy],
];

for (const [name, present, start] of proxies)
  describe.skipIf(!present)(`behind ${name}`, () => {
    let proxy: RealProxy;
    beforeAll(async () => {
      proxy = await start();
    });
    afterAll(() => proxy.stop());

    test("what is too large or not allowed is refused with our own words, again and again on one connection", async () => {
      const send = async (path: string, bytes: number) => {
        const headers = { "Content-Type": "application/json" };
        const answer = await fetch(proxy.url + path, { method: "POST", headers, body: "x".repeat(bytes) });
        return [answer.status, answer.headers.get("content-type"), ((await answer.json()) as { code: string }).code];
      };
      const problem = "application/problem+json";
      for (let round = 0; round < 6; round++) {
        expect(await send("/v1/auth/refresh", 2 * MIB)).toEqual([413, problem, "too_large"]);
        expect(await send("/v1/auth/refresh", 40 * MIB)).toEqual([413, problem, "too_large"]);
        expect(await send("/v1/secrets", 30 * MIB)).toEqual([401, problem, "unauthorized"]);
        expect((await fetch(`${proxy.url}/healthz`)).status).toBe(200);
      }
    });

    test("a body without a length that grows too large is refused with our own words", async () => {
      const connection = await rawConnection(proxy);
      const host = new URL(proxy.url).host;
      await connection.send(
        `POST /v1/auth/refresh HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n`,
      );
      const piece = `10000\r\n${"x".repeat(65_536)}\r\n`;
      for (let sent = 0; sent < 64; sent++) await connection.send(piece);
      await connection.send("0\r\n\r\n");
      const text = await connection.readUntilClose();
      expect(text).toContain('"code":"too_large"');
      expect(text).toStartWith("HTTP/1.1 413");
    });
  });
