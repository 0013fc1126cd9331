/**
 * Onboarding and kill -9: whenever the server is killed, the onboarding continues where it was, and creates one
 * project.
 */
import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DAY_MS } from "../../core/clock.ts";
import type { OnboardingDetail } from "../../feature/onboarding/model.ts";
import { startServer, type TestServer } from "../server.ts";
import { createRandom, seedFrom } from "./random.ts";

const seed = seedFrom(process.env["CRASH_SEED"]);
/** How often the server is killed before it is left alone. */
const KILLS = Number(process.env["CRASH_LIVES"] ?? 12);
const data = mkdtempSync(join(tmpdir(), "skep-onboarding-crash-"));
afterAll(() => rmSync(data, { recursive: true, force: true }));

const get = async (server: TestServer, id: string) =>
  (await server.request<OnboardingDetail>("GET", `/v1/onboarding/sessions/${id}?limit=200`)).body;

/** Waits until the onboarding has that many more events, or it is the person's turn. */
async function follow(server: TestServer, { session_id, reply }: OnboardingDetail, count: number): Promise<void> {
  const leave = new AbortController();
  const address = `${server.url}/v1/events/stream?session_id=${session_id}&after=${reply.last_event_id}`;
  const stream = await fetch(address, { signal: leave.signal });
  let text = "";
  for await (const chunk of stream.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const ended = /event: turn_ended|event: session_ended/.test(text);
    if (ended || text.split("event: ").length - 1 >= count) break;
  }
  leave.abort();
}

test(`an onboarding makes one project, with each phase once, however often the server is killed in it (CRASH_SEED=${seed})`, async () => {
  const random = createRandom(seed);
  let server = await startServer({ data });
  const made = await server.request<OnboardingDetail>("POST", "/v1/onboarding/sessions", { body: {} });
  const { id, session_id } = made.body;
  const sent: string[] = [];
  let kills = 0;
  for (let now = await get(server, id); now.status === "active"; now = await get(server, id)) {
    if (!now.busy) {
      const message = `Answer ${sent.length} to ${now.phase}`;
      const { status } = await server.request("POST", `/v1/onboarding/sessions/${id}/message`, { body: { message } });
      expect(status).toBe(202);
      sent.push(message);
      now = { ...now, busy: true };
    }
    await follow(server, now, kills < KILLS ? 1 + random.upTo(5) : Number.POSITIVE_INFINITY);
    if (kills >= KILLS) continue;
    kills++;
    await server.stop("SIGKILL");
    server = await startServer({ data });
  }
  const end = await get(server, id);
  await server.stop();
  // A campaign in which the onboarding ended before the first kills would prove little.
  expect(kills).toBeGreaterThan(4);
  expect(end).toMatchObject({ status: "completed", phase: "done" });
  const said = end.messages.filter(({ role }) => role === "user").map(({ content }) => content);
  expect(said).toEqual(sent);
  expect(end.messages.filter(({ role }) => role === "system").length).toBe(4);

  const db = new Database(join(data, "skep.db"), { readonly: true });
  const all = (sql: string) => db.query<Record<string, unknown>, [string]>(sql).all(session_id);
  const own = "FROM events WHERE session_id = ? AND kind = 'onboarding_changed'";
  const changes = all(
    `SELECT json_extract(data, '$.change') AS change, json_extract(data, '$.phase') AS phase ${own} ORDER BY id`,
  );
  expect(changes.filter(({ change }) => change === "phase").map(({ phase }) => phase)).toEqual([
    "strategy",
    "product",
    "architecture",
  ]);
  expect(changes.filter(({ change }) => change === "completed").length).toBe(1);
  expect(db.query("SELECT id FROM projects").values()).toEqual([[end.project_id!]]);
  expect(db.query("SELECT title FROM tasks ORDER BY id").values().flat()).toEqual([
    "Make the skeleton",
    "Build the first feature",
  ]);
  db.close();
}, 600_000);

test("an onboarding that nobody continues is given up after the days of the setting, and not before", async () => {
  const folder = mkdtempSync(join(tmpdir(), "skep-onboarding-left-"));
  try {
    let server = await startServer({ data: folder });
    const begin = async () => {
      const { id } = (await server.request<OnboardingDetail>("POST", "/v1/onboarding/sessions", { body: {} })).body;
      const now = await get(server, id);
      if (now.busy) await follow(server, now, Number.POSITIVE_INFINITY);
      return now;
    };
    const [left, fresh] = [await begin(), await begin()];
    await server.stop();
    const db = new Database(join(folder, "skep.db"));
    const old = new Date(Date.now() - 31 * DAY_MS).toISOString();
    db.query("UPDATE sessions SET last_activity_at = ? WHERE id = ?").run(old, left.session_id);
    db.close();
    server = await startServer({ data: folder });
    const stream = await fetch(`${server.url}/v1/events/stream?session_id=${left.session_id}&kinds=onboarding_changed`);
    let text = "";
    for await (const chunk of stream.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      if (text.includes('"abandoned"')) break;
    }
    expect((await get(server, left.id)).status).toBe("abandoned");
    expect((await get(server, fresh.id)).status).toBe("active");
    await server.stop();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 300_000);
