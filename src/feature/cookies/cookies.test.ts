import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Account, makeUser, setupAdmin } from "../../testing/accounts.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { CookieSet } from "./model.ts";

const VALUE = "cookie-canary-51f0c2";
const row = (domain: string, expiry = "0", name = "sid") =>
  [`#HttpOnly_${domain}`, "FALSE", "/", "TRUE", expiry, name, VALUE].join("\t");

let server: TestServer;
let admin: Account;
let a: Account;
let b: Account;
beforeAll(async () => {
  server = await startServer({ env: { AUTH_ENABLED: "true" } });
  admin = await setupAdmin(server);
  a = await makeUser(server, admin, "a@example.test");
  b = await makeUser(server, admin, "b@example.test");
});
afterAll(() => server.remove());

function upload(who: Account, name: string, text: string | Uint8Array) {
  const body = new FormData();
  body.append("name", name);
  body.append("file", new File([text as string], "../../cookies.txt"));
  return server.request<CookieSet>("POST", "/v1/browser/cookies", { token: who.token, body });
}
const by = <T = CookieSet>(who: Account, method: string, path: string) =>
  server.request<T>(method, `/v1/browser/cookies${path}`, { token: who.token });
const itemsOf = async (who: Account, path = "") => (await by<{ items: CookieSet[] }>(who, "GET", path)).body.items;

describe("cookie sets", () => {
  test("an uploaded file is a set with its domains, count and expiry; its values are in no answer and not in the data folder", async () => {
    const made = await upload(
      a,
      "shop",
      `${row("shop.example.com", "4102444800")}\n${row("example.com", "4000000000")}`,
    );
    expect(made.status).toBe(201);
    expect(made.headers.get("location")).toBe(`/v1/browser/cookies/${made.body.id}`);
    expect(made.body).toMatchObject({
      name: "shop",
      domains: ["example.com", "shop.example.com"],
      cookie_count: 2,
      owner_id: a.id,
      expires_at: "2100-01-01T00:00:00.000Z",
      expired: false,
      granted_agents: [],
    });
    expect((await by(a, "GET", `/${made.body.id}`)).body).toEqual(made.body);
    expect(JSON.stringify([made.body, await itemsOf(a)])).not.toContain(VALUE);
    for (const file of ["skep.db", "skep.db-wal"])
      expect(readFileSync(join(server.data, file)).includes(VALUE)).toBe(false);
    expect((await upload(a, "shop", row("example.com"))).status).toBe(409);
    expect((await upload(b, "shop", row("example.com"))).status).toBe(201);
  });

  test("a set whose cookies are all past says that it has expired; one with a cookie of the session does not", async () => {
    expect((await upload(a, "old", row("example.com", "1000000000"))).body).toMatchObject({ expired: true });
    expect((await upload(a, "session", row("example.com"))).body).toMatchObject({ expired: false, expires_at: null });
  });

  test("what is not a cookie file is refused with its line, and nothing is kept of it", async () => {
    const before = (await itemsOf(a)).length;
    const bad: [string | Uint8Array, number][] = [
      ["", 422],
      ["hello", 422],
      [`example.com\tTRUE\t/\tTRUE\t0\tsid\t${VALUE}\textra`, 422],
      [new Uint8Array([0xff, 0xfe, 0x00]), 400],
      ["#\n".repeat(600_000), 413],
    ];
    for (const [text, status] of bad) {
      const answer = await upload(a, "bad", text);
      expect([text.length, answer.status]).toEqual([text.length, status]);
      expect(JSON.stringify(answer.body)).not.toContain(VALUE);
    }
    expect(await itemsOf(a)).toHaveLength(before);
  });

  test("nobody else reads, grants or deletes a set, an administrator included; its owner does", async () => {
    const { id } = (await upload(a, "mine", row("example.com"))).body;
    for (const other of [b, admin]) {
      expect((await by(other, "GET", `/${id}`)).status).toBe(404);
      expect((await by(other, "POST", `/agents/scribe/${id}/grant`)).status).toBe(404);
      expect((await by(other, "DELETE", `/agents/scribe/${id}`)).status).toBe(404);
      expect((await by(other, "DELETE", `/${id}`)).status).toBe(404);
      expect((await itemsOf(other)).map((set) => set.id)).not.toContain(id);
    }
    expect((await by(a, "POST", `/agents/no-such/${id}/grant`)).status).toBe(404);
    for (let i = 0; i < 2; i++)
      expect((await by(a, "POST", `/agents/scribe/${id}/grant`)).body.granted_agents).toEqual(["scribe"]);
    expect((await itemsOf(a, "/agents/scribe")).map((set) => set.id)).toEqual([id]);
    expect(await itemsOf(b, "/agents/scribe")).toEqual([]);
    for (let i = 0; i < 2; i++) expect((await by(a, "DELETE", `/agents/scribe/${id}`)).status).toBe(204);
    expect(await itemsOf(a, "/agents/scribe")).toEqual([]);
    expect((await by(a, "DELETE", `/${id}`)).status).toBe(204);
    expect((await by(a, "GET", `/${id}`)).status).toBe(404);
  });

  test("the list is paged, newest first", async () => {
    const c = await makeUser(server, admin, "c@example.test");
    for (const name of ["one", "two", "three"]) expect((await upload(c, name, row("example.com"))).status).toBe(201);
    const first = await by<{ items: CookieSet[]; next_cursor: string }>(c, "GET", "?limit=2");
    expect(first.body.items.map(({ name }) => name)).toEqual(["three", "two"]);
    const rest = await itemsOf(c, `?limit=2&cursor=${first.body.next_cursor}`);
    expect(rest.map(({ name }) => name)).toEqual(["one"]);
  });
});
