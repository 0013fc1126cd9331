import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { openTestApp, type TestApp } from "../testing/app.ts";
import { codingOf, compress } from "./compression.ts";

let app: TestApp;
beforeAll(async () => {
  app = await openTestApp();
});
afterAll(() => app.remove());

/** An answer as it came over the wire. */
async function ask(path: string, accepted: string | undefined, more: RequestInit = {}) {
  const headers = { "Accept-Encoding": accepted ?? "identity", ...(more.headers as Record<string, string>) };
  const answer = await fetch(`${app.url}${path}`, { ...more, headers, decompress: false } as RequestInit);
  const { status, headers: got } = answer;
  const of = (name: string) => got.get(name);
  return { status, of, coding: of("content-encoding"), bytes: new Uint8Array(await answer.arrayBuffer()) };
}

const LONG = "/v1/skills?limit=200";

describe("a long text", () => {
  test("comes in gzip or Brotli where the client takes them, and says the same", async () => {
    const plain = await ask(LONG, undefined);
    expect(plain.coding).toBeNull();
    expect(plain.bytes.length).toBeGreaterThan(1_024);
    expect(plain.of("vary")).toContain("Accept-Encoding");
    const small = await ask(LONG, "gzip, deflate, br");
    expect([small.coding, small.of("vary")]).toEqual(["gzip", plain.of("vary")]);
    expect(small.bytes.length).toBeLessThan(plain.bytes.length / 2);
    expect(gunzipSync(small.bytes)).toEqual(Buffer.from(plain.bytes));
    const brotli = await ask(LONG, "gzip;q=0, br");
    expect(brotli.coding).toBe("br");
    expect(brotliDecompressSync(brotli.bytes)).toEqual(Buffer.from(plain.bytes));
  });

  test("of more than can be compressed at once, too", async () => {
    const { coding, bytes } = await ask("/openapi.json", "gzip");
    expect(coding).toBe("gzip");
    expect(JSON.parse(gunzipSync(bytes).toString()).openapi).toStartWith("3.1");
  });

  test("answers HEAD with the headers of GET", async () => {
    const [get, head] = [await ask(LONG, "gzip"), await ask(LONG, "gzip", { method: "HEAD" })];
    expect(head.bytes).toHaveLength(0);
    for (const name of ["content-type", "content-encoding", "vary", "cache-control"])
      expect([name, head.of(name)]).toEqual([name, get.of(name)]);
  });
});

test("a tag stands for both forms of an object: a reader's copy is still current, a change may follow it", async () => {
  const path = "/v1/agents/scribe";
  const [plain, small] = [await ask(path, undefined), await ask(path, "gzip")];
  expect([plain.coding, small.coding]).toEqual([null, "gzip"]);
  expect(small.of("etag")).toBe(`W/${plain.of("etag")}`);
  for (const tag of [plain.of("etag")!, small.of("etag")!, `"other", ${plain.of("etag")}`, "*"]) {
    const same = await ask(path, "gzip", { headers: { "If-None-Match": tag } });
    expect([same.status, same.bytes.length, same.coding]).toEqual([304, 0, null]);
    expect(same.of("etag")).toContain(plain.of("etag")!);
  }
  expect((await ask(path, "gzip", { headers: { "If-None-Match": '"other"' } })).status).toBe(200);
});

describe("not compressed", () => {
  test("are short answers, problems and event streams", async () => {
    for (const path of ["/healthz", "/v1/runs/run_unknown", "/v1/runs"]) {
      const { coding, bytes } = await ask(path, "gzip");
      expect([path, coding, bytes.length < 1_024]).toEqual([path, null, true]);
    }
    const ends = new AbortController();
    const stream = await fetch(`${app.url}/v1/events/stream`, {
      headers: { "Accept-Encoding": "gzip" },
      signal: ends.signal,
    });
    expect(stream.headers.get("content-encoding")).toBeNull();
    ends.abort();
  });

  test("is what is compressed already, a part of a file, or no text", async () => {
    const body = "x".repeat(5_000);
    const of = async (headers: Record<string, string>, status = 200) =>
      (await compress(new Response(body, { status, headers }), "gzip")).headers.get("content-encoding");
    expect(await of({ "Content-Type": "text/css" })).toBe("gzip");
    expect(await of({ "Content-Type": "text/css", "Content-Encoding": "br" })).toBe("br");
    expect(await of({ "Content-Type": "text/plain", "Accept-Ranges": "bytes" })).toBeNull();
    expect(await of({ "Content-Type": "text/plain" }, 206)).toBeNull();
    expect(await of({ "Content-Type": "image/png" })).toBeNull();
    expect(await of({ "Content-Type": "text/event-stream" })).toBeNull();
  });

  test("is any answer of a route that hands out credentials", () => {
    const secret = /secret|token|key|auth|cookie|ticket|\/env$|oauth|mcp/;
    const paths = app.table.entries.filter(({ method, path }) => method === "GET" && secret.test(path));
    expect(paths.length).toBeGreaterThan(10);
    for (const { path, credential } of paths) expect([path, credential]).toEqual([path, true]);
  });
});

test("what a client takes is read from its list", () => {
  const cases: [string | null, string | undefined][] = [
    [null, undefined],
    ["", undefined],
    ["identity", undefined],
    ["gzip", "gzip"],
    ["GZIP; q=0.5", "gzip"],
    ["br;q=1.0, gzip;q=0.000", "br"],
    ["*", "gzip"],
    ["*;q=0", undefined],
    ["deflate, zstd", undefined],
  ];
  for (const [accepted, coding] of cases) expect([accepted, codingOf(accepted)]).toEqual([accepted, coding]);
});
