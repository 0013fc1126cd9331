import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { LIMITS } from "../../core/limits.ts";
import { createSealer } from "../../core/sealing.ts";
import { startServer, type TestServer } from "../../testing/server.ts";

const VALUE = "sk-canary-0123456789abcdef";
let server: TestServer;
beforeAll(async () => {
  server = await startServer({ env: { ENGINE_INTERNAL_TOKEN: "engine-token-engine-token" } });
});
afterAll(() => server.remove());

describe("secrets", () => {
  test("a created secret is answered masked, listed masked, and its value is nowhere in the answer", async () => {
    const made = await server.request("POST", "/v1/secrets", {
      body: { name: "MASKED_ONE", description: "d", secret_type: "token", value: VALUE },
    });
    expect(made.status).toBe(201);
    expect(made.headers.get("location")).toBe(`/v1/secrets/${made.body["secret_id"]}`);
    expect(made.body["masked_preview"]).toBe("sk-c…cdef");
    const list = await server.request("GET", "/v1/secrets/");
    expect(JSON.stringify([made.body, list.body])).not.toContain(VALUE);
    const again = await server.request("POST", "/v1/secrets", { body: { name: "MASKED_ONE", value: "x" } });
    expect(again.status).toBe(409);
  });

  test("a bad name, a reserved name and an empty value are refused without echoing them", async () => {
    for (const name of ["1ST", "A-B", "", "PATH", "LD_PRELOAD", "ENGINE_INTERNAL_TOKEN"]) {
      const answer = await server.request("POST", "/v1/secrets", { body: { name, value: VALUE } });
      expect([name, answer.status]).toEqual([name, 422]);
      expect(JSON.stringify(answer.body)).not.toContain(VALUE);
    }
    for (const value of ["", "with\0nul", "x".repeat(LIMITS.secretValueBytes + 1)])
      expect((await server.request("POST", "/v1/secrets", { body: { name: "ODD", value } })).status).toBe(422);
  });

  test("the plaintext map needs the engine's token: 403 for a missing, wrong or empty one", async () => {
    const path = "/v1/secrets/agents/scribe/env";
    for (const headers of [
      {},
      { Authorization: "Bearer wrong" },
      { Authorization: "Bearer " },
      { Authorization: "Basic eDp5" },
    ] as Record<string, string>[])
      expect((await server.request("GET", path, { headers })).status).toBe(403);
    const made = await server.request("POST", "/v1/secrets", { body: { name: "GRANTED", value: VALUE } });
    const grant = `/v1/secrets/${made.body["secret_id"]}/grant/scribe`;
    expect((await server.request("POST", grant)).status).toBe(200);
    expect((await server.request("POST", grant)).status).toBe(200);
    const env = await server.request("GET", path, { token: "engine-token-engine-token" });
    expect(env.status).toBe(200);
    expect(env.body).toEqual({ GRANTED: VALUE });
    expect(env.headers.get("cache-control")).toBe("no-store");
    // The secret is shown without its value, and reading it does not count as a change.
    const before = made.body as Record<string, unknown>;
    expect(before).toMatchObject({ last_used_at: null, last_used_by: null });
    const { body: now } = await server.request("GET", "/v1/secrets/GRANTED");
    expect(now).toMatchObject({ last_used_by: "agent:scribe", updated_at: before["updated_at"] });
    expect(Date.parse(String(now["last_used_at"]))).toBeGreaterThanOrEqual(Date.parse(String(before["created_at"])));
    expect((await server.request("DELETE", grant)).status).toBe(204);
    expect((await server.request("GET", path, { token: "engine-token-engine-token" })).body).toEqual({});
  });

  test("the audit says who changed and who read a secret, by name alone", async () => {
    const read = () => server.request("GET", "/v1/secrets/agents/scribe/env", { token: "engine-token-engine-token" });
    await server.request("POST", "/v1/secrets", { body: { name: "WATCHED", value: VALUE } });
    await server.request("POST", "/v1/secrets/WATCHED/grant/scribe");
    await read();
    await server.request("PUT", "/v1/secrets/WATCHED", { body: { value: `${VALUE}-2` } });
    await server.request("DELETE", "/v1/secrets/WATCHED/grant/scribe");
    const listReads = async () =>
      (await server.request<{ items: unknown[] }>("GET", "/v1/admin/audit?action=secret.env_read&limit=200")).body
        .items;
    // Nothing is granted any more, so the agent gets nothing and nothing is audited.
    const before = (await listReads()).length;
    await read();
    expect((await listReads()).length).toBe(before);
    await server.request("DELETE", "/v1/secrets/WATCHED");
    const { body } = await server.request<{
      items: { action: string; actor: string; data: Record<string, unknown> }[];
    }>("GET" as const, "/v1/admin/audit?limit=200" as const);
    const about = body.items.filter(({ data }) => JSON.stringify(data).includes("WATCHED")).reverse();
    expect(about.map(({ action, actor }) => `${action} by ${actor}`)).toEqual([
      "secret.created by local",
      "secret.granted by local",
      "secret.env_read by engine",
      "secret.updated by local",
      "secret.revoked by local",
      "secret.deleted by local",
    ]);
    expect(JSON.stringify(body)).not.toContain(VALUE);
  });

  test("deleting by name removes the grants too", async () => {
    await server.request("POST", "/v1/secrets", { body: { name: "GONE", value: VALUE } });
    await server.request("POST", "/v1/secrets/GONE/grant/scribe");
    expect((await server.request("DELETE", "/v1/secrets/GONE")).status).toBe(204);
    expect((await server.request("DELETE", "/v1/secrets/GONE")).status).toBe(404);
    expect((await server.request("GET", "/v1/secrets/agents/scribe")).body).toEqual({ items: [], next_cursor: null });
  });
});

describe("sealing", () => {
  const key = Buffer.alloc(32, 7);
  const sealer = createSealer(() => key);
  test("stored text is base64 of nonce, tag and ciphertext, and differs each time", () => {
    const [one, two] = [sealer.seal(VALUE), sealer.seal(VALUE)];
    expect(one).not.toBe(two);
    expect(Buffer.from(one, "base64").byteLength).toBe(12 + 16 + VALUE.length);
    expect(sealer.open(one)).toBe(VALUE);
  });
  test("one changed bit anywhere is noticed", () => {
    const sealed = Buffer.from(sealer.seal(VALUE), "base64");
    for (let at = 0; at < sealed.length; at++) {
      const altered = Buffer.from(sealed);
      altered[at]! ^= 1;
      expect(() => sealer.open(altered.toString("base64"))).toThrow();
    }
  });
});
