/**
 * Credentials that are added to outgoing requests: what the host gets, what the program reads, and when nothing is
 * added.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createServer, type Server } from "node:https";
import { type AddressInfo, connect, createServer as createTcp, type Server as TcpServer } from "node:net";
import { connect as connectTls } from "node:tls";
import { createAuthority } from "./certificate.ts";
import type { Credential } from "./credentials.ts";
import { createEchoMask } from "./echo-mask.ts";
import type { EgressRecord } from "./model.ts";
import { createEgressProxy } from "./proxy.ts";

const VALUE = "canary-0123456789-abcdefgh";
const [outside, inside] = [createAuthority(Date.now()), createAuthority(Date.now())];

describe("a credential for a host", () => {
  const got: string[] = [];
  const records: EgressRecord[] = [];
  let host: Server;
  let front: TcpServer;
  let [port, proxyPort] = [0, 0];
  let credentials: Credential[] = [];
  let onRecord = () => {};
  const firstRecord = async () => {
    while (records.length === 0)
      await new Promise<void>((done) => {
        onRecord = done;
      });
    return records[0];
  };

  beforeAll(async () => {
    host = createServer(outside.issue("localhost"), (request, answer) => {
      const said = request.headers.authorization ?? "none";
      got.push(`${request.method} ${request.url} ${said}`);
      answer.setHeader("x-echo", said);
      if (request.url === "/away") return answer.writeHead(302, { location: `https://127.0.0.1:${port}/next` }).end();
      if (request.url?.startsWith("/packed"))
        return answer.writeHead(200, { "content-encoding": request.url.slice(8) }).end(Bun.gzipSync(Buffer.from(said)));
      answer.write(`you said ${said.slice(0, 15)}`);
      answer.end(
        `${said.slice(15)} ${Buffer.from(`x${said}`).toString("base64")} ${Buffer.from(said).toString("hex")}`,
      );
    });
    await new Promise<void>((done) => host.listen(0, "127.0.0.1", done));
    port = (host.address() as AddressInfo).port;
    const proxy = await createEgressProxy({
      allows: (name) => name === "localhost" || name === "127.0.0.1",
      resolve: async () => [{ address: "127.0.0.1", family: 4 }],
      onEnd: (record) => {
        records.push(record);
        onRecord();
      },
      takePlace: () => () => {},
      now: Date.now,
      edge: {
        certificateFor: inside.issue,
        ca: [outside.pem],
        credentialsFor: (name) => (name === "localhost" ? credentials : []),
      },
    });
    front = createTcp((socket) => proxy.take(socket));
    await new Promise<void>((done) => front.listen(0, "127.0.0.1", done));
    proxyPort = (front.address() as AddressInfo).port;
  });
  afterAll(() => {
    host.closeAllConnections();
    host.close();
    front.close();
  });

  /** Sends bytes through the tunnel, as a program of the sandbox would. */
  async function through(
    text: string,
    { name = "localhost", ca = inside.pem, plain = false }: { name?: string; ca?: string; plain?: boolean } = {},
  ): Promise<string> {
    const socket = connect({ host: "127.0.0.1", port: proxyPort });
    socket.on("error", () => {});
    socket.write(`CONNECT ${name}:${port} HTTP/1.1\r\nHost: ${name}:${port}\r\n\r\n`);
    await new Promise((done) => socket.once("data", done));
    const stream = plain ? socket : connectTls({ socket, servername: "localhost", ca: [ca] });
    let read = "";
    return await new Promise((done) => {
      stream.on("data", (chunk: Buffer) => {
        read += chunk;
      });
      stream.on("error", (error: Error) => done(`error: ${error.message}`));
      stream.on("close", () => done(read));
      stream.write(text);
    });
  }
  const ask = (method: string, path: string, more = "") =>
    through(`${method} ${path} HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: close\r\n${more}\r\n`);
  const bearer = (more: Partial<Credential> = {}) => {
    credentials = [{ header: "authorization", prefix: "Bearer ", value: VALUE, ...more }];
    got.length = 0;
    records.length = 0;
  };

  test("the host gets it, and the program reads nothing of it, whatever the answer repeats", async () => {
    bearer();
    const answer = await ask("GET", "/a?b=1", "Authorization: Bearer of-the-program\r\n");
    expect(got).toEqual([`GET /a?b=1 Bearer ${VALUE}`]);
    expect(answer).toStartWith("HTTP/1.1 200");
    expect(answer).toContain(`x-echo: Bearer ${"*".repeat(VALUE.length)}`);
    // The answer without the length lines of its chunks.
    expect(answer.replace(/\r\n[0-9a-f]+\r\n/g, "")).toContain(`you said Bearer ${"*".repeat(VALUE.length)} `);
    for (const form of [
      "canary",
      Buffer.from(VALUE).toString("hex"),
      Buffer.from(`xBearer ${VALUE}`).toString("base64"),
    ])
      expect(answer).not.toContain(form);
    expect(await firstRecord()).toMatchObject({ host: "localhost", port, verdict: "allowed", reason: null });
  });

  test("compressed answers are read, and those that cannot be are refused", async () => {
    bearer();
    expect(await ask("GET", "/packed/gzip")).toMatch(/^HTTP\/1\.1 200[\s\S]*Bearer \*{26}/);
    expect(await ask("HEAD", "/packed/gzip")).toMatch(/^HTTP\/1\.1 200[\s\S]*content-encoding: gzip/i);
    const unknown = await ask("GET", "/packed/zstd");
    expect(unknown).toStartWith("HTTP/1.1 502");
    expect(unknown).not.toContain("canary");
  });

  test("it is for the methods and the path that are named, and for no other spelling of that path", async () => {
    bearer({ methods: ["GET"], path: "/repos/" });
    for (const path of [
      "/repos/x",
      "/repos",
      "/other/../repos/y",
      "/repos/%2e%2e/admin",
      "/repos/..%2fadmin",
      "/repos//x",
      "/REPOS/x",
    ])
      await ask("GET", path);
    await ask("DELETE", "/repos/x");
    const given = got.filter((line) => line.endsWith(VALUE)).map((line) => line.split(" ")[1]);
    expect(given).toEqual(["/repos/x", "/repos/y"]);
    expect(got).toContain("GET /admin none");
    expect(got).toContain("DELETE /repos/x none");
  });

  test("a redirect is the program's to follow, and another host gets nothing", async () => {
    bearer();
    const away = await ask("GET", "/away");
    expect(away).toMatch(/^HTTP\/1\.1 302[\s\S]*location: https:\/\/127\.0\.0\.1:\d+\/next/i);
    expect(got).toEqual([`GET /away Bearer ${VALUE}`]);
    // This host has no credential, so the program sees the host's own certificate: its TLS connection is not
    // terminated.
    const other = await through("GET /next HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", {
      name: "127.0.0.1",
      ca: outside.pem,
    });
    expect(other).toContain("error");
    expect(got).toHaveLength(1);
  });

  test("another Host, a path that is none, and a connection that is not encrypted get no further", async () => {
    bearer();
    expect(await through("GET / HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n")).toStartWith("HTTP/1.1 400");
    expect(await ask("GET", "https://evil.test/")).toStartWith("HTTP/1.1 400");
    expect(got).toEqual([]);
    while (records.length < 2) await Bun.sleep(5);
    bearer();
    expect(await through(`GET / HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`, { plain: true })).toBe("");
    expect(await firstRecord()).toMatchObject({ verdict: "denied", reason: "not_encrypted" });
    expect(got).toEqual([]);
  });

  test("several requests in one tunnel are answered one after another; one that does not wait ends it", async () => {
    bearer();
    const request = (path: string, more = "") => `GET ${path} HTTP/1.1\r\nHost: localhost:${port}\r\n${more}\r\n`;
    const flood = Array.from({ length: 200 }, (_, at) => request(`/${at}`)).join("");
    expect(await through(flood)).not.toContain("canary");
    expect(got.length).toBeLessThan(200);
    bearer();
    const socket = connect({ host: "127.0.0.1", port: proxyPort });
    socket.write(`CONNECT localhost:${port} HTTP/1.1\r\n\r\n`);
    await new Promise((done) => socket.once("data", done));
    const stream = connectTls({ socket, servername: "localhost", ca: [inside.pem] });
    for (const path of ["/first", "/second"]) {
      let read = "";
      stream.write(request(path));
      while (!read.endsWith("\r\n0\r\n\r\n")) read += await new Promise<Buffer>((done) => stream.once("data", done));
      expect(read).toStartWith("HTTP/1.1 200");
    }
    stream.destroy();
    expect(got).toEqual([`GET /first Bearer ${VALUE}`, `GET /second Bearer ${VALUE}`]);
  });

  test("a host whose certificate is not its own gets nothing", async () => {
    bearer();
    credentials = [{ header: "authorization", prefix: "", value: VALUE }];
    const proxy = await createEgressProxy({
      allows: () => true,
      resolve: async () => [{ address: "127.0.0.1", family: 4 as const }],
      takePlace: () => () => {},
      onEnd: (record: EgressRecord) => void records.push(record),
      now: Date.now,
      edge: { certificateFor: inside.issue, credentialsFor: () => credentials },
    });
    const before = proxyPort;
    const own = createTcp((socket) => proxy.take(socket));
    await new Promise<void>((done) => own.listen(0, "127.0.0.1", done));
    proxyPort = (own.address() as AddressInfo).port;
    expect(await ask("GET", "/")).toStartWith("HTTP/1.1 502");
    own.close();
    proxyPort = before;
    expect(got).toEqual([]);
  });
});

test("a text is blanked wherever a stream is cut, and what only begins like it passes", async () => {
  const mask = createEchoMask(["secret-value", "value-two"]);
  const whole = "a secret-value b secret-valuf secret-value-two c secret-val";
  for (let cut = 0; cut <= whole.length; cut++) {
    const stream = mask.stream();
    let read = "";
    stream.on("data", (chunk: Buffer) => {
      read += chunk;
    });
    stream.write(whole.slice(0, cut));
    stream.end(whole.slice(cut));
    await new Promise((done) => stream.once("end", done));
    expect([cut, read]).toEqual([cut, `a ${"*".repeat(12)} b secret-valuf ${"*".repeat(16)} c secret-val`]);
  }
});
