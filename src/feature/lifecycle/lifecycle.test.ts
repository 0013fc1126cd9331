import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { HOUR_MS } from "../../core/clock.ts";
import { type Account, makeUser, setupAdmin } from "../../testing/accounts.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { AgentDay, LiveSession, TimelineItem } from "./model.ts";

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

const itemsOf = async <T>(who: Account, path: string) =>
  (await server.request<{ items: T[] }>("GET", `/v1/lifecycle/${path}`, { token: who.token })).body.items;

describe("lifecycle", () => {
  test("the timeline shows what an agent did for its user, and shows others none of it", async () => {
    const body = { pipeline_id: "hello", task_description: "by a" };
    const run = await server.request<{ id: string }>("POST", "/v1/runs", { token: a.token, body });
    await server.request("GET", `/v1/events/stream?run_id=${run.body.id}`, { token: a.token });
    const mine = await itemsOf<TimelineItem>(a, "timeline");
    expect(mine.map(({ kind }) => kind)).toContain("step_complete");
    expect(mine.every(({ run_id, run_title }) => run_id === run.body.id && run_title === "by a")).toBe(true);
    const named = mine
      .filter(({ step_id }) => step_id !== undefined)
      .map(({ step_id, step_name }) => [step_id, step_name]);
    expect(named).toContainEqual(["greet", "Write the greeting"]);
    expect(mine.map(({ id }) => id)).toEqual(mine.map(({ id }) => id).sort((x, y) => y - x));
    expect(await itemsOf(b, "timeline")).toEqual([]);
    expect(await itemsOf(admin, "timeline")).toHaveLength(mine.length);
    const scribe = await itemsOf<TimelineItem>(a, "timeline?agent_id=scribe&kind=session_ended");
    expect(scribe).toMatchObject([{ agent_id: "scribe", title: "Ended: succeeded" }]);
    expect(await itemsOf(a, "timeline?since=2999-01-01T00:00:00.000Z")).toEqual([]);
    // This is the same instant in another time zone. Compared as text, it would sort behind every item.
    const started = Date.parse(mine.at(-1)!.at) - 1_000;
    const ahead = `${new Date(started + 14 * HOUR_MS).toISOString().slice(0, 19)}%2B14:00`;
    expect(await itemsOf(a, `timeline?since=${ahead}`)).toHaveLength(mine.length);
    const other = Buffer.from(JSON.stringify([1, "run_of_another_list"])).toString("base64url");
    const wrong = await server.request("GET", `/v1/lifecycle/timeline?cursor=${other}`, { token: a.token });
    expect(wrong.status).toBe(400);
    const page = await server.request<{ items: TimelineItem[]; next_cursor: string }>(
      "GET",
      "/v1/lifecycle/timeline?limit=2",
      { token: a.token },
    );
    const rest = await itemsOf<TimelineItem>(a, `timeline?cursor=${page.body.next_cursor}`);
    expect([...page.body.items, ...rest]).toEqual(mine);
    expect((await server.request("GET", "/v1/lifecycle/timeline?kind=nothing", { token: a.token })).status).toBe(422);
  });

  test("a day holds the spans in which agents were at work, for their user and administrators", async () => {
    const dayOf = (who: Account, query = "") =>
      server.request<AgentDay>("GET", `/v1/lifecycle/day${query}`, { token: who.token });
    const { items, cut } = (await dayOf(a)).body;
    expect(cut).toBe(false);
    const scribe = items.find(({ agent_id }) => agent_id === "scribe");
    expect(scribe).toMatchObject({ kind: "pipeline", title: "by a", status: "succeeded", run_id: expect.any(String) });
    expect(scribe).toMatchObject({ step_id: "greet", step_name: "Write the greeting" });
    expect(items.every(({ started_at, finished_at }) => finished_at !== null && started_at <= finished_at)).toBe(true);
    expect((await dayOf(b)).body.items).toEqual([]);
    expect((await dayOf(admin)).body.items).toHaveLength(items.length);
    expect((await dayOf(a, "?from=2020-01-01&to=2020-01-02")).body.items).toEqual([]);
    for (const wrong of ["?from=2020-01-02&to=2020-01-01", "?from=2020-01-01&to=2020-03-01", "?to=soon"])
      expect([wrong, (await dayOf(a, wrong)).status]).toEqual([wrong, 422]);
  });

  test("open chats are alive until they are ended, visible to their owner and administrators", async () => {
    const made = await server.request<{ id: string }>("POST", "/v1/chat/sessions", {
      token: a.token,
      body: { agent_id: "scribe", title: "Chat" },
    });
    const alive = async (who: Account) => (await itemsOf<LiveSession>(who, "sessions")).map(({ id }) => id);
    expect(await itemsOf<LiveSession>(a, "sessions")).toMatchObject([
      { id: made.body.id, kind: "chat", agent_id: "scribe", title: "Chat", status: "open", container_id: null },
    ]);
    expect(await alive(admin)).toContain(made.body.id);
    expect(await alive(b)).toEqual([]);
    await server.request("DELETE", `/v1/chat/sessions/${made.body.id}`, { token: a.token });
    expect(await alive(a)).toEqual([]);
  });
});
