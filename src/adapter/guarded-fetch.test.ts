import { afterAll, describe, expect, test } from "bun:test";
import { createAddressGuard, type LookUp } from "./address-guard.ts";
import { createGuardedFetch } from "./guarded-fetch.ts";

const seen: string[] = [];
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const { pathname, searchParams } = new URL(request.url);
    seen.push(`${request.headers.get("host")} ${pathname}`);
    if (pathname === "/to") return new Response(null, { status: 302, headers: { Location: searchParams.get("at")! } });
    if (pathname === "/loop") return new Response(null, { status: 302, headers: { Location: "/loop" } });
    if (pathname === "/big") return new Response(new Uint8Array(100_000).fill(97));
    if (pathname === "/endless")
      return new Response(
        new ReadableStream({
          async pull(controller) {
            await Bun.sleep(1);
            controller.enqueue(new Uint8Array(1_000));
          },
        }),
      );
    if (pathname === "/slow") {
      await new Promise((done) => request.signal.addEventListener("abort", done));
      return new Response("late");
    }
    return new Response("the page", { headers: { "Content-Type": "text/plain" } });
  },
});
afterAll(() => server.stop(true));

const never = new AbortController().signal;
const at = (host: string, path = "/") => `http://${host}:${server.port}${path}`;
/** `listed.example` resolves to this test's server, and so does the first look-up of `moving.example`. */
let moves = 0;
const lookUp: LookUp = async (host) => {
  if (host === "listed.example") return [{ address: "127.0.0.1", family: 4 }];
  if (host === "moving.example") return [{ address: moves++ === 0 ? "127.0.0.1" : "127.0.0.2", family: 4 }];
  return [{ address: "10.0.0.1", family: 4 }];
};
const fetcher = (options: { maxBytes?: number; timeoutMs?: number } = {}, allow = ["listed.example"]) =>
  createGuardedFetch({ resolve: createAddressGuard(allow, lookUp).resolve, userAgent: "test", ...options });
const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "fetched",
    (error: { code?: string }) => error.code,
  );

describe("guarded fetch", () => {
  test("connects to the address that the guard gave, under the name that was asked for", async () => {
    const page = await fetcher()(at("listed.example", "/a"), never);
    expect(new TextDecoder().decode(page.body)).toBe("the page");
    expect([page.status, page.contentType, page.truncated]).toEqual([200, "text/plain", false]);
    expect(seen).toContain(`listed.example:${server.port} /a`);
  });

  test("a name that turns to another address after the check is still the checked one", async () => {
    moves = 0;
    const page = await fetcher({}, ["moving.example"])(at("moving.example", "/rebound"), never);
    expect([page.status, moves]).toEqual([200, 1]);
  });

  test.each([
    ["private by name", at("private.example"), "address_refused"],
    ["loopback", at("127.0.0.1"), "address_refused"],
    ["decimal", `http://2130706433:${server.port}/`, "address_refused"],
    ["octal", `http://0177.0.0.1:${server.port}/`, "address_refused"],
    ["mapped", `http://[::ffff:7f00:1]:${server.port}/`, "address_refused"],
    ["metadata", "http://169.254.169.254/latest/meta-data/", "address_refused"],
    ["redirect to loopback", at("listed.example", `/to?at=http://127.0.0.1:${server.port}/x`), "address_refused"],
    ["redirect to a file", at("listed.example", "/to?at=file:///etc/passwd"), "bad_address"],
    ["redirects without end", at("listed.example", "/loop"), "too_many_redirects"],
    ["file", "file:///etc/passwd", "bad_address"],
    ["credentials", "http://a:b@listed.example/", "bad_address"],
    ["garbage", "http://", "bad_address"],
  ])("refuses: %s", async (_what, url, code) => {
    const before = seen.filter((line) => line.startsWith("127.0.0.1")).length;
    expect(await codeOf(fetcher()(url, never))).toBe(code);
    expect(seen.filter((line) => line.startsWith("127.0.0.1")).length).toBe(before);
  });

  test("a body over the limit is cut and says so, an endless one too", async () => {
    for (const path of ["/big", "/endless"]) {
      const page = await fetcher({ maxBytes: 5_000 })(at("listed.example", path), never);
      expect([page.body.byteLength, page.truncated]).toEqual([5_000, true]);
    }
  });

  test("a server that does not answer is given up after the limit, an abort ends it at once", async () => {
    expect(await codeOf(fetcher({ timeoutMs: 100 })(at("listed.example", "/slow"), never))).toBe("fetch_timeout");
    const abort = new AbortController();
    const pending = codeOf(fetcher()(at("listed.example", "/slow"), abort.signal));
    abort.abort();
    expect(await pending).not.toBe("fetched");
  });
});
