/** The event log as JSON, and a stream with a focus, on a running server. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type Account, makeUser, setupAdmin } from "../../testing/accounts.ts";
import { framesOf, framesUntil } from "../../testing/event-reader.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { LoggedEvent } from "./model.ts";

setDefaultTimeout(300_000);

let server: TestServer;
let admin: Account;
let user: Account;
const runs: string[] = [];
beforeAll(async () => {
  server = await startServer({ env: { AUTH_ENABLED: "true", ALLOW_HOST_SHELL: "true" } });
  admin = await setupAdmin(server);
  user = await makeUser(server, admin, "user@example.test");
  for (const task of ["Greet the Bees", 'Say "hello" to the drones']) {
    const body = { pipeline_id: "hello", task_description: task };
    const run = await server.request<{ id: string }>("POST", "/v1/runs", { token: user.token, body });
    runs.push(run.body.id);
    const stream = framesOf(server, `/v1/events/stream?run_id=${run.body.id}`, user.token);
    await framesUntil(stream, ({ event }) => event === "run_complete");
  }
});
afterAll(() => server.remove());

interface Page {
  items: LoggedEvent[];
  next_cursor: string | null;
}
const page = (query: string, { token }: Account = admin) =>
  server.request<Page>("GET", `/v1/events?${query}`, { token });

/** The items of all pages. */
async function all(query: string, who: Account = admin): Promise<LoggedEvent[]> {
  const items: LoggedEvent[] = [];
  for (let cursor = ""; ; ) {
    const { status, body } = await page(`${query}${cursor}`, who);
    expect(status).toBe(200);
    items.push(...body.items);
    if (body.next_cursor === null) return items;
    cursor = `&cursor=${body.next_cursor}`;
  }
}

test("the newest come first, page by page, none twice and none left out", async () => {
  const ids = (await all("limit=7")).map(({ id }) => id);
  expect(ids.length).toBeGreaterThan(20);
  expect(ids).toEqual(ids.toSorted((a, b) => b - a));
  expect(new Set(ids).size).toBe(ids.length);
  const tail = (await page(`limit=3&before=${ids[4]}`)).body.items.map(({ id }) => id);
  expect(tail).toEqual(ids.slice(5, 8));
});

test("words are searched in kind and data, ignoring case, including those that JSON escapes", async () => {
  const found = await all("q=run_created%20bees");
  expect(found.map(({ kind, run_id }) => [kind, run_id])).toEqual([["run_created", runs[0]!]]);
  const quoted = await all(`q=${encodeURIComponent('run_created "hello"')}`);
  expect(quoted.map(({ run_id }) => run_id)).toEqual([runs[1]!]);
  expect(await all("q=nothing-has-this-word")).toEqual([]);
});

test("filters hold: of one run, of some kinds", async () => {
  const own = await all(`run_id=${runs[0]}`);
  expect(own.length).toBeGreaterThan(3);
  expect(new Set(own.map(({ run_id }) => run_id))).toEqual(new Set([runs[0]]));
  expect(new Set((await all("kinds=run_created,run_complete")).map(({ kind }) => kind))).toEqual(
    new Set(["run_created", "run_complete"]),
  );
});

test("another user's events and the owners of events are not shown; unknown positions and kinds are refused", async () => {
  const stranger = await makeUser(server, admin, "stranger@example.test");
  expect((await all("", stranger)).filter(({ run_id }) => run_id !== undefined)).toEqual([]);
  expect((await page(`run_id=${runs[0]}`, stranger)).status).toBe(404);
  expect(JSON.stringify(await all("", user))).not.toContain("user_id");
  for (const query of ["before=0", "before=x", "kinds=no_such_kind", "limit=0"])
    expect([query, (await page(query)).status]).toEqual([query, 422]);
  expect((await page("cursor=abc")).body).toMatchObject({ code: "bad_cursor" } as never);
});

test("a stream with a focus has that run in full, and of others no words and no tool calls", async () => {
  const [focus, other] = runs as [string, string];
  const kindsOf = async (query: string) => {
    const last = (await page(`run_id=${other}&limit=1`)).body.items[0]!.id;
    const stream = framesOf<LoggedEvent>(server, `/v1/events/stream?after=0${query}`, admin.token);
    const frames = await framesUntil<LoggedEvent>(stream, ({ data }) => data.id >= last);
    const of = (run: string) => new Set(frames.filter(({ data }) => data.run_id === run).map(({ event }) => event));
    return { focus: of(focus), other: of(other) };
  };
  const [full, focused] = [await kindsOf(""), await kindsOf(`&focus=${focus}`)];
  expect(full.other.has("llm_call")).toBe(true);
  expect(focused.focus).toEqual(full.focus);
  expect(["llm_call", "agent_output", "tool_call_start"].filter((kind) => focused.other.has(kind))).toEqual([]);
  expect(focused.other.has("run_complete")).toBe(true);
});
