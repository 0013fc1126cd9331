import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Account, makeUser, setupAdmin } from "../../testing/accounts.ts";
import { createModelServer, type ModelServer } from "../../testing/model-server.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { Provider, ProviderKey, ProviderTest, UserKey } from "./model.ts";

const KEY = "sk-instance-0123456789abcdef-canary";
const OWN = "sk-personal-0123456789abcdef-canary";
const ENV = "sk-environment-0123456789abcdef-canary";
const ENGINE = "engine-token-engine-token";

let server: TestServer;
let models: ModelServer;
let admin: Account;
let user: Account;
beforeAll(async () => {
  models = await createModelServer();
  models.get("/v1/models", { data: [{ id: "tiny", context_length: 4096 }, { id: "large" }] });
  server = await startServer({
    env: { AUTH_ENABLED: "true", ENGINE_INTERNAL_TOKEN: ENGINE, MISTRAL_API_KEY: ENV, LOG_LEVEL: "debug" },
  });
  admin = await setupAdmin(server);
  user = await makeUser(server, admin, "user@example.test");
});
afterAll(async () => {
  await models.stop();
  await server.remove();
});

const call = <T = Record<string, unknown>>(method: string, path: string, body?: unknown, token = admin.token) =>
  server.request<T>(method, path, { token, body });
const PROVIDERS = "/v1/settings/providers";
const provider = async (id: string) => (await call<Provider>("GET", `${PROVIDERS}/${id}`)).body;
const tryIt = async (id: string, body: unknown = {}) =>
  (await call<ProviderTest>("POST", `${PROVIDERS}/${id}/test`, body)).body;
const keysSent = () =>
  models.requests
    .splice(0)
    .map((request) => request.headers["authorization"] ?? request.headers["x-api-key"] ?? "none");

describe("providers", () => {
  test("the list holds every provider with its offline models, unconfigured ones too", async () => {
    const { body } = await call<{ items: Provider[] }>("GET", PROVIDERS);
    const byId = new Map(body.items.map((item) => [item.id, item]));
    for (const id of ["anthropic", "openai", "google", "openrouter", "ollama", "demo"]) expect(byId.has(id)).toBe(true);
    expect(byId.get("anthropic")).toMatchObject({ configured: false, masked_key: null, env_var: "ANTHROPIC_API_KEY" });
    expect(byId.get("anthropic")!.models.some((model) => model.input_usd_per_mtok !== null)).toBe(true);
    expect(byId.get("mistral")).toMatchObject({ configured: true, key_source: "env", enabled: true });
    expect(JSON.stringify(body)).not.toContain(ENV);
  });

  test("a key is answered masked, makes the provider ready, and null removes it", async () => {
    const made = await call<Provider>("PUT", `${PROVIDERS}/anthropic`, { api_key: KEY, default: "claude-sonnet-4-5" });
    expect(made.body).toMatchObject({ configured: true, key_source: "instance", masked_key: "sk-i…nary" });
    expect(made.body.default).toBe("anthropic/claude-sonnet-4-5");
    const settings = await call<{ models: { default: string } }>("GET", "/v1/settings");
    expect(settings.body.models.default).toBe("anthropic/claude-sonnet-4-5");
    const off = await call<Provider>("PUT", `${PROVIDERS}/anthropic`, { enabled: false, default: null });
    expect(off.body).toMatchObject({ configured: false, enabled: false, masked_key: "sk-i…nary", default: null });
    const gone = await call<Provider>("PUT", `${PROVIDERS}/anthropic`, { enabled: true, api_key: null });
    expect(gone.body).toMatchObject({ configured: false, key_source: "none", masked_key: null });
  });

  test("a self-hosted server is added with one call, lists its models live, and is removed with DELETE", async () => {
    const path = `${PROVIDERS}/custom-lab`;
    const made = await call<Provider>("PUT", path, { name: "Lab", base_url: models.origin, api_key: KEY });
    expect(made.status).toBe(200);
    expect(made.body).toMatchObject({ id: "custom-lab", name: "Lab", kind: "openai-compatible", configured: true });
    expect(made.body.base_url).toBe(`${models.origin}/v1`);
    const tried = await tryIt("custom-lab");
    expect(tried).toMatchObject({ ok: true, key_source: "instance", error: null });
    expect(tried.models.map((model) => model.id)).toEqual(["custom-lab/large", "custom-lab/tiny"]);
    expect(tried.models.find((model) => model.name === "tiny")?.context_window).toBe(4096);
    expect(keysSent()).toEqual([`Bearer ${KEY}`]);
    const priced = { id: "tiny", input_usd_per_mtok: 1, output_usd_per_mtok: 2 };
    const after = await call<Provider>("PUT", path, { models: [priced] });
    expect(after.body.models.map((model) => [model.id, model.input_usd_per_mtok])).toEqual([
      ["custom-lab/tiny", 1],
      ["custom-lab/large", null],
    ]);
    const usable = await call<{ items: { id: string }[] }>(
      "GET",
      "/v1/models?provider=custom-lab",
      undefined,
      user.token,
    );
    expect(usable.body.items.map((model) => model.id)).toEqual(["custom-lab/tiny", "custom-lab/large"]);
    expect((await call("DELETE", path)).status).toBe(204);
    expect([(await call("DELETE", path)).status, (await call("GET", path)).status]).toEqual([404, 404]);
  });

  test("a refused key, a server that is away and a redirect are reported, without the key", async () => {
    await call("PUT", `${PROVIDERS}/custom-away`, { base_url: "http://127.0.0.1:9/v1", api_key: KEY });
    expect(await tryIt("custom-away")).toMatchObject({ ok: false, models: [] });
    models.get("/refuses/models", { error: { message: `bad key ${KEY}` } }, 401);
    const refused = await tryIt("custom-away", { base_url: `${models.origin}/refuses`, api_key: KEY });
    expect(refused.ok).toBe(false);
    expect(refused.error).toContain("401");
    expect(JSON.stringify(refused)).not.toContain(KEY);
    const far = await createModelServer();
    const hop = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () => Response.redirect(`${far.origin}/v1/models`, 307),
    });
    expect(await tryIt("custom-away", { base_url: hop.url.origin, api_key: KEY })).toMatchObject({ ok: false });
    expect(far.requests).toEqual([]);
    // This is Skep's own address, which is also vLLM's default: without a key, with a key, and on a server that needs
    // none.
    const list = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => Response.json({ items: [] }) });
    for (const [base_url, api_key] of [[server.url], [server.url, KEY], [list.url.origin]] as const)
      expect(await tryIt("vllm", { base_url, ...(api_key ? { api_key } : {}) })).toMatchObject({
        ok: false,
        models: [],
        error: expect.stringContaining("Skep itself answers there"),
      });
    await list.stop(true);
    await Promise.all([far.stop(), hop.stop(true)]);
    keysSent();
    await call("DELETE", `${PROVIDERS}/custom-away`);
  });

  test.each([
    ["custom-x", {}, "/base_url"],
    ["custom-x", { base_url: "ftp://example.test" }, "/base_url"],
    ["custom-x", { base_url: "http://user:word@example.test/v1" }, "/base_url"],
    ["custom-x", { base_url: "http://example.test/v1?key=1" }, "/base_url"],
    ["custom-x", { base_url: "not an address" }, "/base_url"],
    ["openai", { kind: "anthropic" }, "/kind"],
    ["openai", { api_key: "" }, "/api_key"],
    ["openai", { api_key: "two words" }, "/api_key"],
    ["demo", { api_key: "sk-some-key-for-nothing" }, "/api_key"],
  ])("%s with %p is refused at its field", async (id, body, pointer) => {
    const refused = await call("PUT", `${PROVIDERS}/${id}`, body);
    expect([refused.status, (refused.body["errors"] as { pointer: string }[])[0]?.pointer]).toEqual([422, pointer]);
  });

  test("A23: the metadata services of clouds are refused in every spelling", async () => {
    for (const host of [
      "169.254.169.254",
      "2852039166",
      "0xa9fea9fe",
      "0251.0376.0251.0376",
      "169.254.43518",
      "[::ffff:169.254.169.254]",
      "[64:ff9b::a9fe:a9fe]",
      "[64:ff9b:1::a9fe:a9fe]",
      "[2002:a9fe:a9fe::1]",
      "[::169.254.169.254]",
      "[::ffff:a9fe:a9fe]",
      "[fe80::1]",
      "[fd00:ec2::254]",
      "metadata.google.internal",
      "metadata.google.internal.",
      "0.0.0.0",
      "0",
      "[::]",
    ]) {
      const base_url = `http://${host}/v1`;
      for (const [method, path] of [
        ["PUT", `${PROVIDERS}/openai`],
        ["POST", `${PROVIDERS}/openai/test`],
      ] as const)
        expect([host, method, (await call(method, path, { base_url })).status]).toEqual([host, method, 422]);
    }
  });

  test("unknown providers are 404, and nothing of a provider is shown to users", async () => {
    for (const id of ["nobody", "custom-", "CUSTOM-X", "__proto__", "constructor"])
      expect([id, (await call("PUT", `${PROVIDERS}/${id}`, { enabled: true })).status]).toEqual([id, 404]);
    expect((await call("GET", PROVIDERS, undefined, user.token)).status).toBe(403);
    expect((await call("PUT", `${PROVIDERS}/openai`, { api_key: KEY }, user.token)).status).toBe(403);
    expect((await call("GET", `${PROVIDERS}/keys/all`, undefined, user.token)).status).toBe(403);
    expect((await call("POST", `${PROVIDERS}/openai/test`, {}, user.token)).status).toBe(403);
  });
});

describe("A8: a stored key goes to no other address", () => {
  test("another base_url drops the instance's key and everybody's own", async () => {
    await call("PUT", `${PROVIDERS}/openai`, { api_key: KEY });
    await call("PUT", "/v1/settings/user-providers/openai", { api_key: OWN }, user.token);
    const moved = await call<Provider>("PUT", `${PROVIDERS}/openai`, { base_url: models.origin });
    expect(moved.body).toMatchObject({ masked_key: null, key_source: "none", configured: false });
    await tryIt("openai");
    await call("POST", "/v1/settings/user-providers/openai/test", undefined, user.token);
    expect(keysSent()).toEqual([]);
    expect(
      (await call<{ items: UserKey[] }>("GET", "/v1/settings/user-providers", undefined, user.token)).body.items,
    ).toEqual([]);
    const back = await call<Provider>("PUT", `${PROVIDERS}/openai`, { base_url: null });
    expect(back.body.masked_key).toBeNull();
  });

  test("a key sent together with the address is the new address's", async () => {
    const both = await call<Provider>("PUT", `${PROVIDERS}/openai`, { base_url: models.origin, api_key: KEY });
    expect(both.body.masked_key).toBe("sk-i…nary");
    await tryIt("openai");
    expect(keysSent()).toEqual([`Bearer ${KEY}`]);
    // Another spelling of the same address keeps the key.
    const same = await call<Provider>("PUT", `${PROVIDERS}/openai`, { base_url: `${models.origin}/v1/` });
    expect(same.body.masked_key).toBe("sk-i…nary");
    await call("DELETE", `${PROVIDERS}/openai`);
  });

  test("the environment's key is not sent to an address that was set here", async () => {
    await call("PUT", `${PROVIDERS}/mistral`, { base_url: models.origin });
    expect(await provider("mistral")).toMatchObject({ key_source: "none", configured: false });
    await tryIt("mistral");
    expect(keysSent()).toEqual([]);
    await call("DELETE", `${PROVIDERS}/mistral`);
    expect(await provider("mistral")).toMatchObject({ key_source: "env", configured: true });
  });

  test("a test of another address uses only the key that came with it", async () => {
    await call("PUT", `${PROVIDERS}/custom-own`, { base_url: "http://127.0.0.1:9/v1", api_key: KEY });
    await tryIt("custom-own", { base_url: models.origin });
    await tryIt("custom-own", { base_url: models.origin, api_key: "sk-tried-once-only" });
    expect(keysSent()).toEqual(["none", "Bearer sk-tried-once-only"]);
    await call("DELETE", `${PROVIDERS}/custom-own`);
  });
});

describe("keys", () => {
  test("all keys are masked for administrators and plain for the engine alone, which is audited", async () => {
    await call("PUT", `${PROVIDERS}/groq`, { api_key: KEY });
    const masked = await call<{ items: ProviderKey[] }>("GET", `${PROVIDERS}/keys/all`);
    expect(masked.body.items.map((item) => [item.provider, item.source])).toEqual([
      ["groq", "instance"],
      ["mistral", "env"],
    ]);
    expect(JSON.stringify(masked.body)).not.toContain("canary");
    const plain = await call<{ items: ProviderKey[] }>("GET", `${PROVIDERS}/keys/all`, undefined, ENGINE);
    expect(plain.body.items.map((item) => item.api_key)).toEqual([KEY, ENV]);
    expect(plain.headers.get("cache-control")).toBe("no-store");
    const audit = await call<{ items: { action: string; actor: string }[] }>("GET", "/v1/admin/audit");
    expect(audit.body.items.filter((row) => row.action === "provider.keys_read").map((row) => row.actor)).toEqual([
      "engine",
    ]);
  });

  test("a user's own key is used first for its user, seen by nobody else, and gone after DELETE", async () => {
    await call("PUT", `${PROVIDERS}/custom-team`, { base_url: models.origin, api_key: KEY });
    const path = "/v1/settings/user-providers/custom-team";
    const set = await call<UserKey>("PUT", path, { api_key: OWN, user_id: admin.id }, user.token);
    expect(set.body).toMatchObject({ provider: "custom-team", masked_key: "sk-p…nary", usable: true });
    expect((await call<{ items: UserKey[] }>("GET", "/v1/settings/user-providers")).body.items).toEqual([]);
    expect((await call("DELETE", path)).status).toBe(404);
    await call("POST", `${path}/test`, undefined, user.token);
    await call("POST", `${path}/test`);
    expect(keysSent()).toEqual([`Bearer ${OWN}`, `Bearer ${KEY}`]);
    expect((await call("DELETE", path, undefined, user.token)).status).toBe(204);
    expect((await call("DELETE", path, undefined, user.token)).status).toBe(404);
    await call("POST", `${path}/test`, undefined, user.token);
    expect(keysSent()).toEqual([`Bearer ${KEY}`]);
    expect((await call("PUT", path, { api_key: OWN }, ENGINE)).status).toBe(403);
    expect((await call("PUT", "/v1/settings/user-providers/nobody", { api_key: OWN }, user.token)).status).toBe(404);
  });

  test("a deleted user's keys are gone, not handed over", async () => {
    const leaver = await makeUser(server, admin, "leaver@example.test");
    await call("PUT", "/v1/settings/user-providers/custom-team", { api_key: OWN }, leaver.token);
    expect((await call("DELETE", `/v1/users/${leaver.id}`)).status).toBe(204);
    await call("POST", "/v1/settings/user-providers/custom-team/test");
    expect(keysSent()).toEqual([`Bearer ${KEY}`]);
  });

  test("no key is in plain text on the disk or in the log, at its most verbose", async () => {
    await call("PUT", "/v1/settings/user-providers/groq", { api_key: OWN }, user.token);
    await call("PUT", `${PROVIDERS}/groq`, { api_key: 7, base_url: KEY });
    const found: string[] = [];
    const walk = (folder: string) => {
      for (const name of readdirSync(folder)) {
        const path = join(folder, name);
        if (statSync(path).isDirectory()) walk(path);
        else if (readFileSync(path).includes("0123456789abcdef-canary")) found.push(path);
      }
    };
    walk(server.data);
    expect(found).toEqual([]);
    expect(server.output()).not.toContain("canary");
  });
});
