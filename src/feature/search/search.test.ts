/** Search over a running server: what is found, in which order, and by whom. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type Account, makeUser, setupAdmin } from "../../testing/accounts.ts";
import { waitFor } from "../../testing/attacks/waiting.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import { createSourceTree, SHOP } from "../../testing/source-tree.ts";
import type { Found } from "./model.ts";

setDefaultTimeout(300_000);

let server: TestServer;
let admin: Account;
let user: Account;
beforeAll(async () => {
  server = await startServer({ env: { AUTH_ENABLED: "true", ALLOW_LOCAL_REPOSITORIES: "true" } });
  admin = await setupAdmin(server);
  user = await makeUser(server, admin, "user@example.test");
  const send = (path: string, body: unknown) =>
    server.request<{ id: string }>("POST", path, { token: admin.token, body });
  const project = await send("/v1/projects", { name: "Beehive shop", description: "Sells honey." });
  await send(`/v1/projects/${project.body.id}/tasks`, { title: "Honey in 100% glass", description: "no_plastic" });
  await send("/v1/agents", { id: "keeper", name: "Honey keeper", prompt: "You keep." });
  await send("/v1/runs", { pipeline_id: "hello", task_description: "Count the honey pots" });
});
afterAll(() => server.remove());

const find = async (q: string, { token }: Account = admin) => {
  const path = `/v1/search?q=${encodeURIComponent(q)}`;
  const { status, body } = await server.request<{ items: Found[] }>("GET", path, { token });
  expect([q, status]).toEqual([q, 200]);
  return body.items.map(({ kind, title }) => `${kind} ${title}`);
};

test("finds by words, in titles and descriptions, across kinds", async () => {
  expect(await find("honey")).toEqual(
    expect.arrayContaining([
      "agent Honey keeper",
      "project Beehive shop",
      "task Honey in 100% glass",
      "run Count the honey pots",
    ]),
  );
  expect(await find("HONEY shop")).toEqual(["project Beehive shop"]);
  expect(await find("engineer")).toContain("agent Engineer");
});

test("characters that are special to a database are plain text here", async () => {
  expect(await find("100%")).toEqual(["task Honey in 100% glass"]);
  expect(await find("no_plastic")).toEqual(["task Honey in 100% glass"]);
  for (const text of ["%", "h_ney", "'", "\\", '" OR 1=1'])
    expect([text, (await find(text)).includes("run Count the honey pots")]).toEqual([text, false]);
});

test("finds the caller's own chats by their titles, and what agents remember", async () => {
  const post = (path: string, body: unknown) => server.request("POST", path, { token: admin.token, body });
  await post("/v1/chat/sessions", { agent_id: "keeper", title: "About the smoker" });
  const entry = { title: "The smoker is in the shed", content: "On the left." };
  expect((await post("/v1/memory/vaults/keeper/entries", { ...entry, private: true })).status).toBe(201);
  expect((await find("smoker")).toSorted()).toEqual(["chat About the smoker", "memory The smoker is in the shed"]);
  expect(await find("smoker", user)).toEqual([]);
});

test("another user's runs are not found", async () => {
  expect(await find("honey pots", user)).toEqual([]);
  expect(await find("honey", user)).toContain("agent Honey keeper");
});

test("finds documents that the caller may read", async () => {
  const path = "/v1/documents";
  const body = { title: "Keeping bees in winter", content: "# Feeding\n\nSyrup until October, fondant after." };
  const { body: made } = await server.request<{ id: string }>("POST", "/v1/ingest/document", {
    token: admin.token,
    body,
  });
  await waitFor(async () => {
    const read = await server.request<{ status: string }>("GET", `${path}/${made.id}`, { token: admin.token });
    return read.body.status === "ready";
  }, "the document to be read");
  expect(await find("fondant")).toEqual(["document Keeping bees in winter"]);
  // The hit names the section at which the document opens.
  const { body: hits } = await server.request<{ items: Found[] }>("GET", "/v1/search?q=fondant", {
    token: admin.token,
  });
  const section = hits.items[0]?.section_id ?? "";
  const query = `section_id=${encodeURIComponent(section)}`;
  const read = await server.request("GET", `${path}/${made.id}/section?${query}`, { token: admin.token });
  expect(JSON.stringify(read.body)).toContain("fondant");
  expect(await find("fondant", user)).toEqual([]);
});

test("finds symbols of indexed projects; kinds narrow what is looked for", async () => {
  const tree = createSourceTree(SHOP);
  try {
    const send = <T>(method: string, path: string, body?: unknown) =>
      server.request<T>(method, path, { token: admin.token, ...(body ? { body } : {}) });
    const { body: project } = await send<{ id: string }>("POST", "/v1/projects", {
      name: "Graphed",
      repository: tree.root,
    });
    const graph = `/v1/projects/${project.id}/knowledge-graph`;
    const workspace = async () =>
      (await send<{ workspace: { state: string } }>("GET", `/v1/projects/${project.id}`)).body.workspace.state;
    await waitFor(async () => (await workspace()) === "ready", "the clone");
    const { body: job } = await send<{ id: string }>("POST", `${graph}/index`, {});
    const readFinishedAt = async () =>
      (await send<{ finished_at: string | null }>("GET", `${graph}/index/${job.id}`)).body.finished_at;
    await waitFor(async () => (await readFinishedAt()) !== null, "the index");
    const { body } = await send<{ items: Found[] }>("GET", "/v1/search?q=withtax&kinds=symbol");
    expect(body.items).toContainEqual(
      expect.objectContaining({ kind: "symbol", title: "withTax", project_id: project.id }),
    );
    expect(body.items[0]?.detail).toMatch(/\.\w+:\d+$/);
    const named = await send<{ items: Found[] }>("GET", "/v1/search?q=engineer&kinds=agent,project");
    expect(new Set(named.body.items.map(({ kind }) => kind))).toEqual(new Set(["agent"]));
    expect((await send("GET", "/v1/search?q=a&kinds=nothing")).status).toBe(422);
  } finally {
    tree.remove();
  }
});
