/** A21 for bodies, and A22 for `skep image load`: input that is too large, is no archive, or leads out of it. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { type Header, pack } from "tar-stream";
import { skep } from "../command.ts";
import { dockerForTests } from "../docker-image.ts";
import { startServer, type TestServer } from "../server.ts";

// A generous limit for busy machines: these tests wait for events, not for fixed times.
setDefaultTimeout(300_000);

const docker = await dockerForTests(process.env);
const folder = mkdtempSync(join(tmpdir(), "skep-uploads-"));
let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(async () => {
  await server.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** A handmade request that may never end. @returns the status, or 0 if the connection closed without one. */
function raw(head: string, body: () => string | undefined): Promise<number> {
  const { port, host } = new URL(server.url);
  return new Promise((resolve) => {
    const socket = new Socket();
    let text = "";
    const more = () => {
      for (let piece = body(); piece !== undefined && !socket.destroyed; piece = body())
        if (!socket.write(piece)) return void socket.once("drain", more);
    };
    socket.on("data", (chunk) => {
      text += chunk;
      const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(text) ?? [];
      if (!status) return;
      resolve(Number(status));
      socket.destroy();
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0)));
    socket.connect(Number(port), "127.0.0.1", () => {
      socket.write(`POST /v1/secrets HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\n${head}\r\n\r\n`);
      more();
    });
  });
}

describe("A21: bodies", () => {
  const MIB = 1024 * 1024;
  test("over the limit are refused, announced or not, and the server continues", async () => {
    expect(await raw(`Content-Length: ${2 * MIB}`, () => undefined)).toBe(413);
    expect(await raw("Content-Length: 99999999999999", () => undefined)).toBeOneOf([0, 400, 413]);
    let left = 64;
    const piece = `${(65_536).toString(16)}\r\n${"x".repeat(65_536)}\r\n`;
    // The runtime may cut the connection instead of answering; it must not read on forever.
    expect(await raw("Transfer-Encoding: chunked", () => (left-- > 0 ? piece : undefined))).toBeOneOf([0, 413]);
    expect(await raw("Content-Length: -1", () => "{}")).toBeOneOf([0, 400]);
    expect(await raw("Content-Length: 2\r\nTransfer-Encoding: chunked", () => "0\r\n\r\n")).toBeOneOf([0, 400, 422]);
    expect((await server.request("GET", "/readyz")).status).toBe(200);
  });
  test("that are not JSON, or forms where none is taken, are refused by their type", async () => {
    const form = new FormData();
    for (let part = 0; part < 10_000; part++) form.append(`f${part}`, "x");
    expect((await server.request("POST", "/v1/secrets", { body: form })).status).toBeOneOf([413, 415]);
    const small = new FormData();
    small.append("name", new File(["x"], "../../../../tmp/skep-planted"));
    expect((await server.request("POST", "/v1/secrets", { body: small })).status).toBe(415);
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "application/xml",
      "",
      "application/json-not",
    ])
      expect([
        type,
        (await server.request("POST", "/v1/secrets", { body: "a=b", headers: { "Content-Type": type } })).status,
      ]).toEqual([type, 415]);
    expect(readdirSync(tmpdir())).not.toContain("skep-planted");
    expect(readdirSync(join(server.data, "uploads"))).toEqual([]);
  });
});

type Entry = Partial<Header> & { name: string; data?: string | Buffer };

async function tarOf(entries: readonly Entry[]): Promise<Buffer> {
  const tar = pack();
  for (const { data, ...header } of entries) tar.entry(header, data ?? "");
  tar.finalize();
  return Buffer.concat(await Array.fromAsync(tar as AsyncIterable<Buffer>));
}

describe.skipIf(!docker)("A22: skep image load", () => {
  // The guard's own tests cover every kind. This tests the way from the command line to the guard.
  const escapes: [string, Entry[]][] = [
    ["climbs", [{ name: "../../../tmp/skep-slipped", data: "x" }]],
    [
      "links out step by step",
      [
        { name: "l", type: "symlink", linkname: ".." },
        { name: "l/x", data: "x" },
      ],
    ],
    ["links hard by climbing", [{ name: "h", type: "link", linkname: "../../../etc/shadow" }]],
    ["holds a device", [{ name: "d", type: "block-device", devmajor: 8, devminor: 0 }]],
    [
      "occurs twice",
      [
        { name: "manifest.json", data: "[]" },
        { name: "./manifest.json", data: "[]" },
      ],
    ],
  ];

  test("refuses every archive that leads out of itself, plain and packed, and loads nothing of it", async () => {
    for (const [what, entries] of escapes) {
      const bytes = await tarOf([{ name: "repositories", data: "{}" }, ...entries]);
      const path = join(folder, "image.tar");
      writeFileSync(path, what.length % 2 ? bytes : gzipSync(bytes));
      const { code, stdout, stderr } = await skep(["image", "load", path]);
      expect([what, code === 0, stdout]).toEqual([what, false, ""]);
      expect([what, /archive/.test(stderr)]).toEqual([what, true]);
    }
    expect(readdirSync(tmpdir())).not.toContain("skep-slipped");
  }, 300_000);

  test("refuses an image whose small layer unpacks to gigabytes, before the engine has it", async () => {
    const piece = gzipSync(Buffer.alloc(16 * 1024 * 1024), { level: 9 });
    const layer = Buffer.concat(Array.from({ length: 90 }, () => piece));
    const path = join(folder, "bomb.tar");
    writeFileSync(
      path,
      await tarOf([
        { name: "layer.tar", data: layer },
        { name: "manifest.json", data: "[]" },
      ]),
    );
    const { code, stderr } = await skep(["image", "load", path]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("it is a bomb")]);
  });

  test("refuses what is not an archive, a cut one and an empty one, in words", async () => {
    const good = await tarOf([{ name: "manifest.json", data: "x".repeat(5_000) }]);
    for (const bytes of [
      Buffer.alloc(0),
      good.subarray(0, 3_000),
      gzipSync(good).subarray(0, 40),
      Buffer.alloc(4_096, 0xff),
    ]) {
      const path = join(folder, "image.tar");
      writeFileSync(path, bytes);
      const { code, stderr } = await skep(["image", "load", path]);
      expect([code === 0, stderr.includes("    at ")]).toEqual([false, false]);
      expect(stderr.length).toBeGreaterThan(10);
    }
    const missing = await skep(["image", "load", "--", "-x"]);
    expect([missing.code === 0, missing.stderr]).toEqual([false, expect.stringContaining("Cannot read")]);
  }, 300_000);
});
