/** The egress proxy, used from inside a real container: allowed connections work, and nothing else leaves. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { createServer as createHttp, type Server } from "node:http";
import { type AddressInfo, createServer as createTcp } from "node:net";
import { createServer as createTls } from "node:tls";
import { LIMITS } from "../../core/limits.ts";
import { allows } from "../../core/network.ts";
import { becomes } from "../../testing/attacks/waiting.ts";
import { SELF_SIGNED } from "../../testing/certificate.ts";
import { dockerForTests, testImage } from "../../testing/docker-image.ts";
import { EXEC, type SandboxFixture, sandboxFixture } from "../../testing/sandbox-fixture.ts";
import { createAddressGuard } from "../address-guard.ts";
import type { EgressDeps, EgressRecord } from "./model.ts";
import { createEgressProxy, type EgressProxy } from "./proxy.ts";

const docker = await dockerForTests(process.env);

describe.skipIf(!docker)("the way out of a container", () => {
  let sandboxes: SandboxFixture;
  let sandbox: Awaited<ReturnType<SandboxFixture["start"]>>;
  let web: Server;
  let webPort: number;
  let tlsPort: number;
  let greetPort: number;
  let proxy: EgressProxy;
  let deps: EgressDeps;
  let port: number;
  const records: EgressRecord[] = [];
  const seen: string[] = [];
  let places = 3;
  const listening = async (server: {
    listen(port: number, host: string, onListening: () => void): unknown;
    address(): unknown;
  }) => {
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    return (server.address() as AddressInfo).port;
  };
  const greeting = createTcp((socket) => socket.end("SSH-2.0-test\r\n"));
  const tls = createTls(SELF_SIGNED, (socket) => {
    socket.on("error", () => {});
    socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret"));
  });
  tls.on("tlsClientError", () => {});
  beforeAll(async () => {
    sandboxes = sandboxFixture({ docker: docker!, defaultImage: await testImage(docker!) });
    web = createHttp((request, answer) => {
      seen.push(
        `${request.method} ${request.headers.host}${request.url} ${request.headers["proxy-authorization"] ?? ""}`,
      );
      if (request.url === "/redirect") {
        answer.writeHead(302, { location: `http://denied.test:${webPort}/` }).end();
      } else if (request.url === "/large") answer.end(Buffer.alloc(900_000, "x"));
      else {
        let size = 0;
        request.on("data", (chunk) => {
          size += chunk.length;
        });
        request.on("end", () => answer.end(`got ${size}\n`));
      }
    });
    [webPort, tlsPort, greetPort] = [await listening(web), await listening(tls), await listening(greeting)];
    // The name server of these tests, which knows two names. The operator permits the private address of one of them.
    const lookUp = async (host: string) => {
      const addresses: Record<string, string> = { "allowed.test": "127.0.0.1", "private.test": "127.0.0.1" };
      return addresses[host] ? [{ address: addresses[host], family: 4 }] : [];
    };
    const guard = createAddressGuard(["allowed.test"], lookUp);
    const list = ["allowed.test", "private.test", "gone.test", "10.0.0.1", "[::1]"];
    const lists = [list.flatMap((host) => [host, ...[webPort, tlsPort, greetPort].map((at) => `${host}:${at}`)])];
    deps = {
      allows: (host, at) => allows(lists, new Map(), host, at),
      resolve: guard.resolve,
      onEnd: (record) => records.push(record),
      takePlace: () => {
        if (places === 0) return undefined;
        places--;
        return () => void places++;
      },
      now: Date.now,
    };
    proxy = await createEgressProxy(deps);
    sandbox = await sandboxes.start({ routes: true });
    port = (await sandbox.openRoute(proxy.take)).port;
  });
  afterEach(() => {
    records.length = 0;
    seen.length = 0;
  });
  afterAll(async () => {
    proxy.close();
    await sandboxes.end();
    web.closeAllConnections();
    for (const server of [web, tls, greeting]) server.close();
  });
  /** The output of a command in the container. */
  const inside = async (line: string) => (await sandbox.exec(["sh", "-c", line], EXEC)).output;
  /** Sends a text to the proxy, keeps the connection open until the other side ends it, and prints the answer. */
  const say = (text: string) =>
    inside(
      `rm -f /tmp/in; mkfifo /tmp/in; nc -w 20 127.0.0.1 ${port} < /tmp/in & exec 3> /tmp/in; printf '${text}' >&3; wait $!`,
    );
  const request = (method: string, url: string, headers = "", body = "") =>
    say(
      `${method} ${url} HTTP/1.1\\r\\nHost: ${new URL(url).host}\\r\\nConnection: close\\r\\n${headers}\\r\\n${body}`,
    );
  const get = async (url: string) => {
    const answer = await request("GET", url);
    return answer.slice(answer.indexOf("\r\n\r\n") + 4);
  };
  const connect = (target: string, then = "") =>
    say(`CONNECT ${target} HTTP/1.1\\r\\nHost: ${target}\\r\\n\\r\\n${then}`);
  /**
   * The last record. A connection is recorded once both sides have ended, possibly after the program has its answer.
   */
  const last = async () => {
    const record = records.at(-1);
    return record ? [`${record.host}:${record.port}`, record.verdict, record.reason] : [];
  };

  test("plain HTTP to an allowed host, in both directions, counted", async () => {
    expect(await get(`http://allowed.test:${webPort}/a?b=c`)).toBe("got 0\n");
    expect(seen).toEqual([`GET allowed.test:${webPort}/a?b=c `]);
    await becomes(last, [`allowed.test:${webPort}`, "allowed", null]);
    expect((await get(`http://allowed.test:${webPort}/large`)).length).toBe(900_000);
    await becomes(async () => records.at(-1)?.receivedBytes, 900_000);
    expect(await request("POST", `http://allowed.test:${webPort}/`, "Content-Length: 5\\r\\n", "hello")).toEndWith(
      "got 5\n",
    );
    await becomes(async () => records.at(-1)?.sentBytes, 5);
  });

  test("a tunnel to an allowed host, also where the server speaks first", async () => {
    expect(await connect(`allowed.test:${greetPort}`)).toEndWith("\r\n\r\nSSH-2.0-test\r\n");
    await becomes(last, [`allowed.test:${greetPort}`, "allowed", null]);
  });

  test.each([
    ["another host", "denied.test:443", "not_allowed"],
    ["another port of an allowed host", "allowed.test:22", "not_allowed"],
    ["an address in place of a name", "127.0.0.1:443", "not_allowed"],
    ["the address in decimal", "2130706433:443", "not_allowed"],
    ["the metadata service", "169.254.169.254:80", "not_allowed"],
    ["the server itself", "localhost:443", "not_allowed"],
    ["DNS over HTTPS", "dns.google:443", "not_allowed"],
    ["an allowed private address", "10.0.0.1:443", "address_refused"],
    ["IPv6 loopback, though it is in the list", "[::1]:443", "address_refused"],
    ["an allowed name that leads to a private address", "private.test:443", "address_refused"],
  ])("refuses a tunnel to %s", async (_what, target, reason) => {
    expect(await connect(target)).toStartWith("HTTP/1.1 403 ");
    await becomes(async () => (await last()).slice(1), ["denied", reason]);
  });

  test("refuses names that are similar to an allowed one", async () => {
    for (const host of ["xallowed.test", "allowed.test.evil.test", "allowed.tes", "a.allowed.test"])
      expect(await connect(`${host}:443`)).toStartWith("HTTP/1.1 403 ");
    expect(await connect("gone.test:443")).toStartWith("HTTP/1.1 502 ");
    await becomes(last, ["gone.test:443", "failed", "host_unknown"]);
  });

  test("a TLS client must ask for the host that was allowed", async () => {
    const client = (name: string) =>
      inside(
        `(printf 'CONNECT allowed.test:${tlsPort} HTTP/1.1\\r\\n\\r\\n'; cat '/workspace/hello-${name}') | nc -w 5 127.0.0.1 ${port} | head -c 2000 | od -c`,
      );
    for (const name of ["allowed.test", "denied.test", ""])
      await sandbox.workspace.write(`hello-${name}`, await helloFor(name));
    // The server answers a client hello with its own hello: TLS records begin with the octal bytes 026 003.
    expect(await client("allowed.test")).toContain("026 003 003");
    await becomes(last, [`allowed.test:${tlsPort}`, "allowed", null]);
    expect(await client("denied.test")).not.toContain("026 003 003");
    await becomes(last, [`allowed.test:${tlsPort}`, "denied", "name_mismatch"]);
    records.length = 0;
    expect(await client("")).not.toContain("026 003 003");
    await becomes(last, [`allowed.test:${tlsPort}`, "denied", "name_mismatch"]);
  });

  test("a redirect to another host is a new question, and denied", async () => {
    const answer = await request("GET", `http://allowed.test:${webPort}/redirect`);
    const [, location] = /^Location: (\S+)\r$/im.exec(answer) ?? [];
    expect(await request("GET", location!)).toStartWith("HTTP/1.1 403 ");
    await becomes(
      async () => records.map(({ host, verdict }) => [host, verdict]),
      [
        ["allowed.test", "allowed"],
        ["denied.test", "denied"],
      ],
    );
  });

  test("tricks with a plain request reach nothing else", async () => {
    const line = `http://allowed.test:${webPort}/`;
    const mismatch = await say(`GET ${line} HTTP/1.1\\r\\nHost: denied.test\\r\\n\\r\\n`);
    expect(mismatch).toStartWith("HTTP/1.1 400 ");
    const both = await say(
      `POST ${line} HTTP/1.1\\r\\nHost: allowed.test:${webPort}\\r\\nContent-Length: 3\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\nGET /smuggled HTTP/1.1\\r\\n\\r\\n`,
    );
    expect(both).not.toContain("200 OK");
    const user = await say(`GET http://allowed.test@denied.test/ HTTP/1.1\\r\\nHost: denied.test\\r\\n\\r\\n`);
    expect(user).toStartWith("HTTP/1.1 400 ");
    expect(await say("GET / HTTP/1.1\\r\\nHost: allowed.test\\r\\n\\r\\n")).toStartWith("HTTP/1.1 400 ");
    const second = `GET http://denied.test/ HTTP/1.1\\r\\nHost: denied.test\\r\\nConnection: close\\r\\n\\r\\n`;
    const two = await say(`GET ${line} HTTP/1.1\\r\\nHost: allowed.test:${webPort}\\r\\n\\r\\n${second}`);
    expect(two).toContain("got 0");
    expect(two).toContain("403 Forbidden");
    expect(seen).toEqual([`GET allowed.test:${webPort}/ `]);
  });

  test("what the program says to the proxy is not handed on", async () => {
    await say(
      `GET http://allowed.test:${webPort}/ HTTP/1.1\\r\\nHost: allowed.test:${webPort}\\r\\nProxy-Authorization: Basic abc\\r\\nConnection: close\\r\\n\\r\\n`,
    );
    expect(seen).toEqual([`GET allowed.test:${webPort}/ `]);
  });

  test("a head that is too long is cut off", async () => {
    const head = `(printf 'GET http://allowed.test/ HTTP/1.1\\r\\nX: '; head -c ${LIMITS.egressHeadBytes * 4} /dev/zero | tr '\\0' x) | nc -w 20 127.0.0.1 ${port}`;
    expect(await inside(head)).not.toContain("200 OK");
    expect(seen).toEqual([]);
  });

  test("a proxy that is full refuses at once, and has room again when a connection ends", async () => {
    const held = `(printf 'CONNECT allowed.test:${webPort} HTTP/1.1\\r\\n\\r\\n'; sleep 60) | nc 127.0.0.1 ${port}`;
    const line = `for i in 1 2 3; do (${held} > /tmp/held$i) & done; until [ "$(cat /tmp/held* | grep -c established)" = 3 ]; do sleep 0.1; done; printf 'CONNECT allowed.test:${webPort} HTTP/1.1\\r\\n\\r\\n' | nc 127.0.0.1 ${port}; killall nc`;
    expect(await inside(line)).toContain("HTTP/1.1 503 ");
    expect(await get(`http://allowed.test:${webPort}/`)).toBe("got 0\n");
  });

  test("a sandbox has so many connections and bytes; what is over leaves one row", async () => {
    const rows: EgressRecord[] = [];
    const bounds = { connections: 2, bytes: 100_000 };
    const small = await createEgressProxy({ ...deps, onEnd: (record) => rows.push(record), bounds });
    const route = await sandbox.openRoute(small.take);
    const line = `http://allowed.test:${webPort}/`;
    const ask = (path: string) =>
      inside(
        `rm -f /tmp/in; mkfifo /tmp/in; nc -w 20 127.0.0.1 ${route.port} < /tmp/in & exec 3> /tmp/in; printf 'GET ${line}${path} HTTP/1.1\\r\\nHost: allowed.test:${webPort}\\r\\nConnection: close\\r\\n\\r\\n' >&3; wait $!`,
      );
    expect(await ask("")).toContain("got 0");
    expect((await ask("large")).length).toBeLessThan(400_000);
    for (let more = 0; more < 3; more++) expect(await ask("")).toStartWith("HTTP/1.1 503 ");
    await becomes(
      async () => rows.map(({ verdict, reason }) => [verdict, reason]),
      [
        ["allowed", null],
        ["failed", "too_much"],
        ["denied", "full"],
      ],
    );
    small.close();
    route.close();
  });
});

/** The first bytes that a TLS client sends when it asks for this host; "" for a client that names no host. */
async function helloFor(name: string): Promise<Uint8Array> {
  const taken = Promise.withResolvers<Uint8Array>();
  const server = createTcp((socket) => {
    socket.on("error", () => {});
    socket.once("data", (data) => {
      taken.resolve(Buffer.from(data));
      socket.destroy();
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { connect } = await import("node:tls");
  const client = connect({
    port: (server.address() as AddressInfo).port,
    host: "127.0.0.1",
    ...(name ? { servername: name } : {}),
  });
  client.on("error", () => {});
  const bytes = await taken.promise;
  client.destroy();
  server.close();
  return bytes;
}
