/** The dashboard's files over HTTP: they come only from this server, are below its prefix, and hide no route. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { startServer, type TestServer } from "../../testing/server.ts";

const asBrowser = { headers: { Accept: "text/html,application/xhtml+xml" } };
const addressesIn = (page: string) => [...page.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, address]) => address!);

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.remove());

test("everything the page names is served by this server, under a policy that lets nothing else in", async () => {
  const page = await server.request<string>("GET", "/");
  expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  const policy = page.headers.get("content-security-policy") ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("require-trusted-types-for 'script'; trusted-types skep-worker");
  expect(policy).not.toContain("unsafe");
  const named = addressesIn(page.body);
  expect(named.length).toBeGreaterThan(3);
  for (const address of named) {
    expect(address).toStartWith("/");
    expect([address, (await server.request("GET", address)).status]).toEqual([address, 200]);
  }
  expect(page.body).not.toMatch(/<style|\sstyle=|\son\w+=/);
  const inline = [...page.body.matchAll(/<script(?![^>]*src=)[^>]*>(.*?)<\/script>/gs)].map(
    ([, script = ""]) => script,
  );
  const hashes = inline.map((script) => `'sha256-${createHash("sha256").update(script).digest("base64")}'`);
  expect(hashes.length).toBe(1);
  expect(policy).toContain(`; script-src 'self' ${hashes.join(" ")};`);
});

test("it can be installed: its manifest and its worker, which answers no request and so keeps nothing private", async () => {
  const manifest = await server.request("GET", "/manifest.webmanifest");
  expect(manifest.headers.get("content-type")).toBe("application/manifest+json");
  expect(manifest.body).toMatchObject({ name: "Skep", start_url: "/", scope: "/", display: "standalone" });
  const icons = manifest.body["icons"] as { src: string; sizes: string; type: string; purpose: string }[];
  expect(icons.map(({ sizes, type, purpose }) => [sizes, type, purpose])).toEqual([
    ["any", "image/svg+xml", "any"],
    ["192x192", "image/png", "any"],
    ["512x512", "image/png", "any"],
    ["512x512", "image/png", "maskable"],
  ]);
  const page = (await server.request<string>("GET", "/")).body;
  const touch = /rel="apple-touch-icon" href="([^"]+)"/.exec(page)?.[1] ?? "";
  for (const { src, sizes, type } of [...icons, { src: touch, sizes: "180x180", type: "image/png" }]) {
    const answer = await fetch(server.url + src);
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect([src, answer.status, answer.headers.get("content-type")]).toEqual([src, 200, type]);
    // The size according to the PNG header (https://www.w3.org/TR/png-3/#11IHDR).
    if (type === "image/png") expect(`${bytes.readUInt32BE(16)}x${bytes.readUInt32BE(20)}`).toBe(sizes);
  }
  const worker = await server.request<string>("GET", "/service-worker.js");
  expect(worker.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
  expect(worker.body).toContain('addEventListener("push"');
  expect(worker.body).not.toMatch(/"fetch"|caches|indexedDB/);
});

test("its hashed files are cached for good, and compressed for browsers that accept brotli", async () => {
  const { body } = await server.request<string>("GET", "/");
  const script = addressesIn(body).find((address) => address.endsWith(".js"))!;
  const fetchScript = async (encoding: string) => {
    const answer = await fetch(server.url + script, { headers: { "Accept-Encoding": encoding }, decompress: false });
    return { headers: answer.headers, bytes: (await answer.arrayBuffer()).byteLength };
  };
  const [small, whole] = [await fetchScript("gzip, br"), await fetchScript("identity")];
  expect(small.headers.get("cache-control")).toContain("immutable");
  expect([small.headers.get("content-encoding"), whole.headers.get("content-encoding")]).toEqual(["br", null]);
  expect(small.bytes).toBeLessThan(whole.bytes);
  expect((await server.request("GET", "/assets/none-12345678.js")).status).toBe(404);
});

test("a browser gets the page at each of its addresses, a program the plain 404; nothing of the API is shadowed", async () => {
  const at = async (path: string, options = {}) => {
    const { status, headers } = await server.request("GET", path, options);
    return [status, headers.get("content-type")?.split(";")[0]];
  };
  expect(await at("/runs/run_1", asBrowser)).toEqual([200, "text/html"]);
  expect(await at("/agents/lead?tab=skills", asBrowser)).toEqual([200, "text/html"]);
  expect(await at("/runs/run_1")).toEqual([404, "application/problem+json"]);
  for (const path of ["/v1", "/v1/nothing", "/docs/nothing", "/assets/nothing", "/healthz/nothing"])
    expect([path, ...(await at(path, asBrowser))]).toEqual([path, 404, "application/problem+json"]);
  const { status, headers } = await server.request("GET", "/v1/runs/x/cancel", asBrowser);
  expect([status, headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
  expect((await server.request("POST", "/runs", asBrowser)).status).toBe(404);
});

test("below a proxy's path every address carries it", async () => {
  const below = await startServer({ env: { PUBLIC_URL: "https://tools.example.org/skep" } });
  try {
    const { body } = await below.request<string>("GET", "/");
    const assets = addressesIn(body).filter((address) => address.includes("assets/"));
    expect(assets.length).toBeGreaterThan(2);
    for (const address of assets) expect(address).toStartWith("/skep/assets/");
    expect(body).toContain('data-base="/skep/"');
  } finally {
    await below.remove();
  }
});

test("without a credential: the health, the version, whether it is set up, and nothing else", async () => {
  const locked = await startServer({ env: { AUTH_ENABLED: "true" } });
  try {
    expect((await locked.request("GET", "/")).status).toBe(200);
    const { body } = await locked.request("GET", "/v1/status");
    expect(Object.keys(body).sort()).toEqual(["broker", "setup_required", "status", "version"]);
    expect(body["setup_required"]).toBe(true);
  } finally {
    await locked.remove();
  }
});
