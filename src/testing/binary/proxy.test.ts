/** Real proxies in front, set up as docs/reverse-proxy.md says: refusals reach the client as problems of ours. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rawConnection } from "../raw-connection.ts";
import { startServer, type TestServer } from "../server.ts";

// For machines that are busy with other things: none of this waits for a clock.
setDefaultTimeout(60_000);

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

/** A port that was free a moment ago. */
function freePort(): number {
  const taken = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = taken;
  taken.stop(true);
  return port;
}

/** The lines of nginx's `location` on the page, for this server. */
function locationLines(): string {
  const page = readFileSync(join(import.meta.dir, "../../../docs/reverse-proxy.md"), "utf8");
  const lines = /location \/ \{\n([\s\S]*?)\n\s*\}/.exec(page)?.[1];
  if (!lines) throw new Error("The page has no nginx location any more.");
  return lines.replace("http://127.0.0.1:8000", server.url);
}

interface Proxy {
  url: string;
  stop(): Promise<void>;
}

async function started(command: string[], port: number): Promise<Proxy> {
  const child = Bun.spawn(command, {
    stdout: "ignore",
    stderr: "pipe",
    env: { PATH: process.env["PATH"] ?? "", HOME: folder },
  });
  const url = `http://127.0.0.1:${port}`;
  while (
    !(await fetch(`${url}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    if (child.exitCode !== null) throw new Error(`${command[0]} ended: ${await new Response(child.stderr).text()}`);
    await Bun.sleep(50);
  }
  return {
    url,
    async stop() {
      child.kill();
      await child.exited;
    },
  };
}

function nginx(buffering: "on" | "off"): Promise<Proxy> {
  const port = freePort();
  const home = mkdtempSync(join(folder, "nginx-"));
  for (const name of ["body", "proxy", "fastcgi", "uwsgi", "scgi"]) mkdirSync(join(home, name));
  const temporary = [
    "client_body_temp_path body",
    "proxy_temp_path proxy",
    "fastcgi_temp_path fastcgi",
    "uwsgi_temp_path uwsgi",
    "scgi_temp_path scgi",
  ];
  const config = `daemon off; master_process off; pid nginx.pid; error_log stderr;
events {}
http {
  access_log off; ${temporary.join("; ")};
  server {
    listen 127.0.0.1:${port}; client_max_body_size 64m; proxy_request_buffering ${buffering};
    location / {
${locationLines()}
    }
  }
}`;
  writeFileSync(join(home, "nginx.conf"), config);
  return started(["nginx", "-p", home, "-c", join(home, "nginx.conf"), "-e", "stderr"], port);
}

function caddy(): Promise<Proxy> {
  const port = freePort();
  const path = join(folder, "Caddyfile");
  writeFileSync(
    path,
    `{\n  admin off\n  auto_https off\n}\nhttp://127.0.0.1:${port} {\n  reverse_proxy ${server.url.slice(7)}\n}\n`,
  );
  return started(["caddy", "run", "--config", path, "--adapter", "caddyfile"], port);
}

const has = (name: string) => Bun.which(name, { PATH: `${process.env["PATH"]}:/usr/sbin` }) !== null;
const proxies: [name: string, present: boolean, start: () => Promise<Proxy>][] = [
  ["nginx", has("nginx"), () => nginx("on")],
  ["nginx without request buffering", has("nginx"), () => nginx("off")],
  ["caddy", has("caddy"), caddy],
];

for (const [name, present, start] of proxies)
  describe.skipIf(!present)(`behind ${name}`, () => {
    let proxy: Proxy;
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
      const text = await connection.closed();
      expect(text).toContain('"code":"too_large"');
      expect(text).toStartWith("HTTP/1.1 413");
    });
  });
