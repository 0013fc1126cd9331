/** The page at `/`: in a browser it tells the truth about the server, and takes nothing from anywhere else. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { startServer, type TestServer } from "../../testing/server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.remove());

test("everything it names is served by this server, under a policy that lets nothing else in", async () => {
  const page = await server.request<string>("GET", "/");
  expect(page.status).toBe(200);
  expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(page.headers.get("content-security-policy")).not.toContain("unsafe");
  const named = [...page.body.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, address]) => address!);
  expect(named).toContain("docs");
  expect(named).toContain("openapi.json");
  for (const address of named) {
    expect(address).not.toMatch(/^(\w+:|\/)/);
    const answer = await server.request("GET", `/${address}`);
    expect([address, answer.status]).toEqual([address, 200]);
  }
});

test("it needs no style and no script within itself, which its policy would refuse", async () => {
  const { body } = await server.request<string>("GET", "/");
  expect(body).not.toMatch(/<script(?![^>]*src=)|<style|\sstyle=|\son\w+=/);
});

test("a stranger is told the health and the version, and no more", async () => {
  const locked = await startServer({ env: { AUTH_ENABLED: "true" } });
  try {
    expect((await locked.request("GET", "/")).status).toBe(200);
    expect(Object.keys((await locked.request("GET", "/v1/status")).body).sort()).toEqual([
      "broker",
      "status",
      "version",
    ]);
  } finally {
    await locked.remove();
  }
});
