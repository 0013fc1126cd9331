/** Consolidation over a running server: what is merged and put back, what is listed, and for which user. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { HOUR_MS } from "../../core/clock.ts";
import { LOCAL_ADMIN } from "../../http/caller.ts";
import { type Account, makeUser, setupAdmin } from "../../testing/accounts.ts";
import { createHandClock } from "../../testing/crash/lives.ts";
import { createRigs } from "../../testing/engine-rig.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { Job } from "../jobs/model.ts";
import type { Contradiction, MemoryEntry, TakenBack } from "./model.ts";

setDefaultTimeout(300_000);
let server: TestServer;
let admin: Account;
let a: Account;
let b: Account;
const rigs = createRigs();
beforeAll(async () => {
  server = await startServer({ env: { AUTH_ENABLED: "true" } });
  admin = await setupAdmin(server);
  a = await makeUser(server, admin, "a@example.test");
  b = await makeUser(server, admin, "b@example.test");
});
afterAll(async () => {
  await server.remove();
  await rigs.close();
});

const by = <T = MemoryEntry>(who: Account, method: string, path: string, body?: object) =>
  server.request<T>(method, `/v1/memory${path}`, { token: who.token, ...(body ? { body } : {}) });
const entryPath = (id: string, agent: string) => `/vaults/${agent}/entries/${encodeURIComponent(id)}`;
const write = async (who: Account, agent: string, title: string, content: string, more: object = {}) => {
  const made = await by(who, "POST", `/vaults/${agent}/entries`, { title, content, ...more });
  expect(made.status).toBe(201);
  return made.body.id;
};
async function consolidate(who: Account, agent: string): Promise<Job> {
  const asked = await by<Job>(who, "POST", `/vaults/${agent}/consolidate`);
  expect(asked.status).toBe(202);
  for (;;) {
    const { body } = await server.request<Job>("GET", `/v1/jobs/${asked.body.id}`, { token: who.token });
    if (body.finished_at !== null) return body;
    await Bun.sleep(20);
  }
}
const contradictions = async (who: Account, agent = "") =>
  (await by<{ items: Contradiction[] }>(who, "GET", `/contradictions${agent && `?agent_id=${agent}`}`)).body.items;

describe("what says the same", () => {
  test("becomes one entry with the tags of both; the other is superseded in its file, and all of it can be taken back", async () => {
    const long = await write(admin, "lead", "Deploy day", "The deploys of the shop happen on Tuesdays.", {
      tags: ["a"],
    });
    const short = await write(admin, "lead", "Deploys", "Deploys of the shop happen on Tuesday", { tags: ["b"] });
    const job = await consolidate(admin, "lead");
    expect(job).toMatchObject({ state: "succeeded", result: { entries: 2, merged: 1, contradictions: 0 } });
    expect((await by(admin, "GET", entryPath(long, "lead"))).body.tags).toEqual(["a", "b"]);
    expect((await by(admin, "GET", entryPath(short, "lead"))).body.superseded_by).toBe(long);
    expect(readFileSync(join(server.data, `vaults/lead/${short}.md`), "utf8")).toContain("happen on Tuesday");
    expect((await consolidate(admin, "lead")).result).toMatchObject({ entries: 1, merged: 0 });
    const undone = await by<TakenBack>(admin, "POST", `/executions/${job.id}/take-back`);
    expect(undone.body.taken_back.map(({ entry }) => entry).sort()).toEqual([long, short].sort());
    expect((await by(admin, "GET", entryPath(short, "lead"))).body.superseded_by).toBeNull();
    expect((await by(admin, "GET", entryPath(long, "lead"))).body.tags).toEqual(["a"]);
  });

  test("of two users stays two entries, and a user's consolidation changes nothing that is not theirs", async () => {
    const same = "The lemurs of the zoo sleep at noon.";
    const ofA = await write(a, "scribe", "Lemurs", same);
    await write(b, "scribe", "Lemurs", same);
    const all = await write(admin, "scribe", "Lemurs", same, { private: false });
    const second = await write(a, "scribe", "Lemurs again", `${same}!`);
    const job = await consolidate(a, "scribe");
    expect(job.result).toMatchObject({ merged: 1 });
    expect((await by(a, "GET", entryPath(ofA, "scribe"))).body.superseded_by).toBe(second);
    expect((await by(admin, "GET", entryPath(all, "scribe"))).body.superseded_by).toBeNull();
    expect((await consolidate(admin, "scribe")).result).toMatchObject({ merged: 0 });
    expect((await by(b, "POST", `/executions/${job.id}/take-back`)).status).toBe(404);
    expect((await by<TakenBack>(a, "POST", `/executions/${job.id}/take-back`)).body.taken_back).toHaveLength(1);
    expect((await by(a, "POST", "/vaults/nobody-here/consolidate")).status).toBe(404);
  });
});

describe("what contradicts", () => {
  test("is listed with the words that differ, never merged, and goes when somebody says which one holds", async () => {
    const old = await write(admin, "reviewer", "Gibbon port", "The gibbon service listens on 8123.");
    const fresh = await write(admin, "reviewer", "Gibbon port", "The gibbon service listens on 9000.");
    expect((await consolidate(admin, "reviewer")).result).toMatchObject({ merged: 0, contradictions: 1 });
    const [found] = await contradictions(admin, "reviewer");
    const byEntry = new Map([found!.a, found!.b].map((side) => [side.entry, side]));
    expect(byEntry.get(old)?.says).toEqual(["8123"]);
    expect(byEntry.get(fresh)).toMatchObject({ says: ["9000"], content: "The gibbon service listens on 9000." });
    const path = `/contradictions/${found!.id}`;
    expect((await by(admin, "PUT", path, { keep: "note/other" })).status).toBe(422);
    expect((await by(admin, "PUT", path, {})).status).toBe(422);
    expect((await by(a, "PUT", path, { keep: fresh })).status).toBe(403);
    expect((await by(admin, "PUT", path, { keep: fresh })).body).toEqual({ superseded: old } as never);
    expect((await by(admin, "GET", entryPath(old, "reviewer"))).body.superseded_by).toBe(fresh);
    expect(await contradictions(admin, "reviewer")).toEqual([]);
    expect((await by(admin, "PUT", path, { keep: fresh })).status).toBe(404);
  });

  test("both of which are true is not listed again, until one of the texts changes", async () => {
    const one = await write(admin, "architect", "Backups", "Backups of the shop are kept for 30 days.");
    await write(admin, "architect", "Backups", "Backups of the shop are kept for 90 days.");
    await consolidate(admin, "architect");
    const [found] = await contradictions(admin, "architect");
    expect((await by(admin, "PUT", `/contradictions/${found!.id}`, { keep: null })).status).toBe(200);
    expect((await consolidate(admin, "architect")).result).toMatchObject({ contradictions: 0 });
    await by(admin, "PUT", entryPath(one, "architect"), { content: "Backups of the shop are kept for 60 days." });
    expect((await consolidate(admin, "architect")).result).toMatchObject({ contradictions: 1 });
    expect(await contradictions(admin, "architect")).toHaveLength(1);
    await by(admin, "DELETE", entryPath(one, "architect"));
    expect(await contradictions(admin, "architect")).toEqual([]);
  });

  test("in one user's own entries is shown to that user and to administrators", async () => {
    await write(a, "engineer", "Salary", "The salary of Kim is 4000 a month.");
    await write(a, "engineer", "Salary", "The salary of Kim is 5000 a month.");
    await write(b, "engineer", "Salary", "The salary of Kim is 6000 a month.");
    expect((await consolidate(admin, "engineer")).result).toMatchObject({ contradictions: 1 });
    expect(await contradictions(a)).toHaveLength(1);
    expect(await contradictions(b)).toEqual([]);
    const [found] = await contradictions(admin, "engineer");
    expect((await by(b, "PUT", `/contradictions/${found!.id}`, { keep: null })).status).toBe(404);
  });
});

test("a vault that changed is consolidated once a day by itself, unless an administrator says otherwise", async () => {
  const clock = createHandClock();
  const rig = await rigs.startRig({ pipelines: {}, clock });
  const { memory, jobs } = rig.services;
  const add = (title: string) =>
    memory.add(
      "worker",
      { title, content: "It rains on Sundays in the park.", owner: null, trusted: true, origin: { by: "agent" } },
      {},
    );
  const ran = () =>
    jobs.list({ limit: 50, after: null }, LOCAL_ADMIN).items.filter((job) => job.kind === "consolidate_memory").length;
  add("Rain");
  memory.consolidateDue();
  add("Rain again");
  memory.consolidateDue();
  expect(ran()).toBe(0);
  clock.move(25 * HOUR_MS);
  memory.consolidateDue();
  expect(ran()).toBe(1);
  await rig.event(
    ({ kind, data }) =>
      kind === "job_progress" && data["kind"] === "consolidate_memory" && data["state"] === "succeeded",
  );
  clock.move(25 * HOUR_MS);
  memory.consolidateDue();
  expect(ran()).toBe(1);
  expect(
    memory.entries("worker", {}, { limit: 9, after: null }, LOCAL_ADMIN).items.filter((one) => one.superseded_by),
  ).toHaveLength(1);
  add("Rain again");
  rig.services.settings.put("memory_scores", { consolidate_daily: false }, LOCAL_ADMIN);
  clock.move(25 * HOUR_MS);
  memory.consolidateDue();
  expect(ran()).toBe(1);
});
