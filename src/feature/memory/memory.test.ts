/** Agents' memory over a running server: files, search, scores, and who may read and change what. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Account, makeUser, setupAdmin } from "../../testing/accounts.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { MemoryEntry, MemoryGraph, MemoryHit, MemoryScore, ScoreSettings, Vault } from "./model.ts";

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

const by = <T = MemoryEntry>(who: Account, method: string, path: string, body?: object) =>
  server.request<T>(method, `/v1${path}`, { token: who.token, ...(body ? { body } : {}) });
const entryPath = (id: string, agent = "lead") => `/memory/vaults/${agent}/entries/${encodeURIComponent(id)}`;
const write = async (who: Account, body: object, agent = "lead") => {
  const made = await by(who, "POST", `/memory/vaults/${agent}/entries`, body);
  expect([made.status, made.body]).toEqual([201, made.body]);
  return made;
};
const search = async (who: Account, query: string, more = "") =>
  (await by<{ items: MemoryHit[] }>(who, "GET", `/memory/search?query=${encodeURIComponent(query)}${more}`)).body.items;
const vault = async () => {
  const { body } = await by<{ items: Vault[] }>(admin, "GET", "/memory/vaults");
  return body.items.find(({ agent_id }) => agent_id === "lead") ?? { unconfirmed: 0 };
};
/** Asks until the condition holds, because a watched file is read soon, but not at once. */
async function eventually<T>(ask: () => Promise<T>, holds: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await ask();
    if (holds(value)) return value;
    await Bun.sleep(50);
  }
}

describe("entries", () => {
  test("are files that the API writes, changes, deletes and puts back", async () => {
    const made = await write(admin, {
      title: "Deploys happen on Tuesdays",
      content: "Never on [[note/friday]].",
      type: "fact",
    });
    expect(made.headers.get("location")).toBe(`/v1${entryPath("fact/deploys-happen-on-tuesdays")}`);
    expect(made.body).toMatchObject({
      agent_id: "lead",
      id: "fact/deploys-happen-on-tuesdays",
      type: "fact",
      owner_id: null,
      trusted: true,
      links: ["note/friday"],
      origin: { by: "person", author: admin.id },
      problem: null,
    });
    const file = join(server.data, "vaults/lead/fact/deploys-happen-on-tuesdays.md");
    expect(readFileSync(file, "utf8")).toContain("title: Deploys happen on Tuesdays");
    const path = entryPath(made.body.id);
    expect((await by(admin, "PUT", path, { content: "Never on Mondays." })).body.content).toBe("Never on Mondays.");
    expect((await by(admin, "DELETE", path)).status).toBe(204);
    expect(existsSync(file)).toBe(false);
    expect((await by(admin, "GET", path)).status).toBe(404);
    const undone = await by<{ entry?: MemoryEntry }>(admin, "POST", `${path}/undo`);
    expect(undone.body.entry?.content).toBe("Never on Mondays.");
    expect((await by<{ entry: MemoryEntry }>(admin, "POST", `${path}/undo`)).body.entry.content).toContain(
      "[[note/friday]]",
    );
    expect((await by(admin, "POST", `${path}/undo`)).body).toEqual({} as never);
    expect((await by(admin, "POST", `${path}/undo`)).status).toBe(404);
  });

  test("saved by an editor are found; a broken one is a problem of its own, and is mended by the file", async () => {
    const folder = join(server.data, "vaults/reviewer/lesson");
    mkdirSync(folder, { recursive: true });
    writeFileSync(
      join(folder, "Zebra crossing.md"),
      "---\ntitle: Zebras\ntags: [stripes]\n---\nZebras have stripes.\n",
    );
    writeFileSync(join(folder, "bad.md"), "---\ntitle: [\n---\nquagga text\n");
    const [hit] = await eventually(
      () => search(admin, "zebra"),
      (hits) => hits.length > 0,
    );
    expect(hit).toMatchObject({
      agent_id: "reviewer",
      entry: "lesson/Zebra crossing",
      title: "Zebras",
      type: "lesson",
    });
    const broken = await by(admin, "GET", entryPath("lesson/bad", "reviewer"));
    expect(broken.body.problem).toContain("Line");
    expect(await search(admin, "quagga")).toEqual([]);
    expect((await by(a, "GET", entryPath("lesson/bad", "reviewer"))).status).toBe(404);
    writeFileSync(join(folder, "bad.md"), "quagga text\n");
    expect(
      await eventually(
        () => search(admin, "quagga"),
        (hits) => hits.length > 0,
      ),
    ).toHaveLength(1);
  });

  test("are listed by type, and those that nobody has confirmed by themselves, with their number", async () => {
    const before = await vault();
    await write(admin, { title: "Freeze in December", content: "No deploys.", type: "decision" });
    const folder = join(server.data, "vaults/lead/fact");
    mkdirSync(folder, { recursive: true });
    const text = "---\ntitle: Read on a page\ntype: fact\ntrusted: false\n---\nSomebody said so.\n";
    writeFileSync(join(folder, "read-on-a-page.md"), text);
    const list = async (query: string) =>
      (await by<{ items: MemoryEntry[] }>(admin, "GET", `/memory/vaults/lead?${query}`)).body.items.map(({ id }) => id);
    expect(
      await eventually(
        () => list("unconfirmed=true"),
        (ids) => ids.length > 0,
      ),
    ).toEqual(["fact/read-on-a-page"]);
    expect((await list("type=decision")).every((id) => id.startsWith("decision/"))).toBe(true);
    expect(await list("type=decision&unconfirmed=true")).toEqual([]);
    expect((await by(admin, "GET", "/memory/vaults/lead?type=rumour")).status).toBe(422);
    expect((await vault()).unconfirmed).toBe(before.unconfirmed + 1);
    await by(admin, "PUT", entryPath("fact/read-on-a-page"), { trusted: true });
    expect(await list("unconfirmed=true")).toEqual([]);
  });

  test("of one user are unknown to another in every list, search, score and graph; nor can that one change them", async () => {
    const { body: mine } = await write(a, { title: "My salary", content: "The canary figure is 77123." });
    expect(mine.owner_id).toBe(a.id);
    for (const path of [
      "/memory/vaults/lead",
      "/memory/search?query=canary%20figure",
      "/memory-scores/lead",
      "/memory/graph/lead",
      "/memory/shared?query=canary",
    ]) {
      const answer = await by(b, "GET", path);
      expect([path, answer.status]).toEqual([path, 200]);
      expect(JSON.stringify(answer.body)).not.toMatch(/salary|77123/);
    }
    for (const [method, path, body] of [
      ["GET", entryPath(mine.id)],
      ["PUT", entryPath(mine.id), { content: "x" }],
      ["DELETE", entryPath(mine.id)],
      ["POST", `${entryPath(mine.id)}/undo`],
      ["PUT", `/memory-scores/lead/${encodeURIComponent(mine.id)}`, { useful: true }],
    ] as const)
      expect([method, path, (await by(b, method, path, body)).status]).toEqual([method, path, 404]);
    expect(await search(a, "canary")).toHaveLength(1);
  });

  test("for everybody are read by users and changed by administrators alone", async () => {
    const { body: entry } = await write(admin, { title: "House rules", content: "Tests before features." });
    expect((await by(a, "GET", entryPath(entry.id))).body.title).toBe("House rules");
    expect((await by(a, "PUT", entryPath(entry.id), { content: "x" })).status).toBe(403);
    expect((await by(a, "DELETE", entryPath(entry.id))).status).toBe(403);
    expect((await by(a, "POST", "/memory/vaults/shared/entries", { title: "x", content: "y" })).status).toBe(403);
    expect((await write(admin, { title: "Shared fact", content: "Marmots whistle." }, "shared")).status).toBe(201);
    expect((await by<{ items: MemoryHit[] }>(a, "GET", "/memory/shared?query=marmot")).body.items).toHaveLength(1);
  });

  test("that were superseded or have expired are read, not found", async () => {
    const { body: old } = await write(admin, { title: "Old port", content: "The wombat port is 80." });
    const { body: fresh } = await write(admin, {
      title: "New port",
      content: "The wombat port is 81.",
      supersedes: old.id,
    });
    await write(admin, { title: "Gone", content: "wombat of yore", expires_at: "2020-01-01T00:00:00.000Z" });
    expect((await search(admin, "wombat")).map(({ entry }) => entry)).toEqual([fresh.id]);
    expect((await by(admin, "GET", entryPath(old.id))).body.superseded_by).toBe(fresh.id);
    const graph = await by<MemoryGraph>(admin, "GET", "/memory/graph/lead");
    expect(graph.body.links).toContainEqual({ from: old.id, to: fresh.id, kind: "superseded_by", broken: false });
  });

  test("that are not valid are refused at their field, and no path leads elsewhere", async () => {
    const bad: [object, number][] = [
      [{ title: "", content: "x" }, 422],
      [{ title: "x", content: " " }, 422],
      [{ title: "x", content: "y", type: "rumour" }, 422],
      [{ title: "x", content: "y", supersedes: "note/none" }, 422],
    ];
    for (const [body, status] of bad)
      expect([body, (await by(admin, "POST", "/memory/vaults/lead/entries", body)).status]).toEqual([body, status]);
    // Unknown fields of a body are ignored.
    expect((await write(a, { title: "x", content: "y", owner_id: b.id, trusted: false })).body).toMatchObject({
      owner_id: a.id,
      trusted: true,
    });
    for (const id of ["../../keys/x", ".hidden", "a/../../b", "note/\u0001"])
      expect([id, (await by(admin, "GET", entryPath(id))).status]).toEqual([id, 404]);
    expect((await by(admin, "GET", "/memory/vaults/nobody-here")).status).toBe(404);
  });
});

describe("search", () => {
  test("finds other forms of a word and the date, with the paragraph that fits; nothing in a query breaks it", async () => {
    const content = "Introduction.\n\nThe migration of databases was postponed.\n\nAn end.";
    const { body: entry } = await write(admin, { title: "Plan", content }, "scribe");
    const [hit] = await search(admin, "migrating database", "&agent_id=scribe");
    expect(hit).toMatchObject({ entry: entry.id, snippet: content });
    const month = new Date(entry.updated_at).toLocaleDateString("en-GB", { month: "long", timeZone: "UTC" });
    expect(await search(admin, month, "&agent_id=scribe")).toHaveLength(1);
    for (const query of ['"', "-", "*", "a AND", "NEAR(", "\u0000", "title:x", "x) OR (y", "🦊", "the of"]) {
      const answer = await by(admin, "GET", `/memory/search?query=${encodeURIComponent(query)}`);
      expect([query, answer.status]).toEqual([query, query === "\u0000" ? answer.status : 200]);
      expect(answer.status).toBeLessThan(500);
    }
  });

  test("puts what was rated useful before its equal, and what was not behind it", async () => {
    const one = (await write(admin, { title: "Ibex alpha", content: "The ibex climbs." }, "architect")).body;
    const two = (await write(admin, { title: "Ibex bravo", content: "The ibex climbs." }, "architect")).body;
    const order = async () => (await search(admin, "ibex", "&agent_id=architect")).map(({ entry }) => entry);
    expect(await order()).toEqual([one.id, two.id]);
    const rated = await by<MemoryScore>(admin, "PUT", `/memory-scores/architect/${encodeURIComponent(two.id)}`, {
      useful: true,
    });
    expect(rated.body).toMatchObject({ entry: two.id, useful: 1, not_useful: 0 });
    expect(await order()).toEqual([two.id, one.id]);
    await by(admin, "PUT", `/memory-scores/architect/${encodeURIComponent(two.id)}`, { score: 0.1 });
    expect(await order()).toEqual([one.id, two.id]);
  });
});

describe("scores", () => {
  test("have settings whose weights sum to 1, for an administrator to change and reset", async () => {
    const put = (body: object, who = admin, query = "") =>
      by<ScoreSettings>(who, "PUT", `/memory-scores/settings${query}`, body);
    expect((await put({ usefulness_weight: 0.9 })).status).toBe(422);
    expect((await put({ half_life_days: 7 }, a)).status).toBe(403);
    expect((await put({ half_life_days: 7 })).body.half_life_days).toBe(7);
    expect((await put({}, admin, "?reset=true")).body.half_life_days).toBe(30);
  });

  test("stay for undo, and are not those of a later entry of the same name", async () => {
    const fields = { title: "Rated once", content: "Useful." };
    const { body: entry } = await write(admin, fields);
    const path = `/memory-scores/lead/${encodeURIComponent(entry.id)}`;
    const rate = async () => (await by<MemoryScore>(admin, "PUT", path, { useful: true })).body.useful;
    expect(await rate()).toBe(1);
    await by(admin, "DELETE", entryPath(entry.id));
    await by(admin, "POST", `${entryPath(entry.id)}/undo`);
    expect(await rate()).toBe(2);
    await by(admin, "DELETE", entryPath(entry.id));
    expect((await write(admin, fields)).body.id).toBe(entry.id);
    expect(await rate()).toBe(1);
  });

  test("pin an entry in its file", async () => {
    const { body: entry } = await write(admin, { title: "Pinned", content: "Stay." });
    const path = `/memory-scores/lead/${encodeURIComponent(entry.id)}`;
    expect((await by<MemoryScore>(admin, "PUT", path, { pinned: true })).body.pinned).toBe(true);
    expect(readFileSync(join(server.data, `vaults/lead/${entry.id}.md`), "utf8")).toContain("pinned: true");
    expect((await by(admin, "PUT", path, {})).status).toBe(422);
  });
});
