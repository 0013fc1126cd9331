/** A feature is one folder and one line: everything that it contributes takes effect, and no other code names it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { systemClock } from "../core/clock.ts";
import { retentionDuty } from "../feature/admin/retention.ts";
import { DEFAULT_SETTINGS } from "../feature/settings/model.ts";
import { openTestApp, type TestApp } from "../testing/app.ts";
import { openRig } from "../testing/engine-rig.ts";
import { framesOf, framesUntil } from "../testing/event-reader.ts";
import { type BellDiary, createBells } from "../testing/made-up/feature.ts";
import { FEATURES } from "./features.ts";

const diary: BellDiary = { calls: [], owners: [] };
const features = FEATURES.with(createBells(diary));

let app: TestApp;
beforeAll(async () => {
  app = await openTestApp({}, { features });
});
afterAll(() => app.remove());

// biome-ignore lint/suspicious/noExplicitAny: answers are compared, not used.
const call = async (method: string, path: string, body?: unknown): Promise<{ status: number; body: any }> => {
  const json = { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const answer = await fetch(new URL(path, app.url), { method, ...(body === undefined ? {} : json) });
  return { status: answer.status, body: answer.status === 204 ? {} : await answer.json() };
};
const countRings = async (): Promise<number> => (await call("GET", "/v1/status")).body.counts.bells_rung;

describe("a feature added with one line", () => {
  test("serves its route, which starts its job, which emits its event", async () => {
    const rung = await call("POST", "/v1/bells", { times: 3 });
    expect(rung).toMatchObject({ status: 202, body: { kind: "ring" } });
    const frames = framesOf(app, "/v1/events/stream?kinds=bell_rung&after=0");
    const read = await framesUntil(frames, ({ event }) => event === "bell_rung");
    expect(read.at(-1)?.data).toMatchObject({ kind: "bell_rung", data: { times: 3 } });
    expect(await countRings()).toBe(3);
    expect((await call("POST", "/v1/bells", { times: 0 })).status).toBe(422);
  });

  test("is in the API's description with its route and its event, and among the tools of agents", async () => {
    const { body: document } = await call("GET", "/openapi.json");
    expect(Object.keys(document.paths["/v1/bells"])).toEqual(["post"]);
    expect(JSON.stringify(document.components.schemas["Event"])).toContain("BellRung");
    expect((await call("GET", "/v1/agents/scribe")).status).toBe(200);
    expect((await call("PUT", "/v1/agent-tools/scribe/ring_bell", { enabled: true })).status).toBe(200);
  });

  test("is asked for findings, informed of deleted users, and its old rows are removed", async () => {
    expect(await app.contributions.checks()).toContainEqual({
      check: "bells",
      verdict: "ok",
      detail: "The bell hangs.",
    });
    const user = { email: "user@example.test", display_name: "U", password: "long-enough-password" };
    const { body: made } = await call("POST", "/v1/users", user);
    expect((await call("DELETE", `/v1/users/${made.id}`)).status).toBe(204);
    expect(diary.owners).toEqual([`${made.id} → null`]);
    const { prunes } = app.contributions;
    const keep = () => DEFAULT_SETTINGS.retention;
    await retentionDuty({ clock: systemClock, keep, prunes: () => prunes }).run(new AbortController().signal);
    expect(diary.calls).toContain("pruned");
  });

  test("that cannot start is off and says so, and everything else works", async () => {
    const broken = createBells({ calls: [], owners: [] });
    const create: typeof broken.create = async (deps) => ({
      ...(await broken.create(deps)),
      start() {
        throw new Error("no rope");
      },
    });
    const app = await openTestApp({}, { features: FEATURES.with({ ...broken, create }) });
    const ask = async (path: string, init: RequestInit = {}): Promise<Awaited<ReturnType<typeof call>>> => {
      const answer = await fetch(new URL(path, app.url), init);
      return { status: answer.status, body: await answer.json() };
    };
    try {
      expect((await ask("/healthz")).status).toBe(200);
      const headers = { "Content-Type": "application/json" };
      const rung = await ask("/v1/bells", { method: "POST", headers, body: JSON.stringify({ times: 1 }) });
      expect(rung).toMatchObject({ status: 503, body: { code: "feature_off" } });
      for (const said of ["bells", "skep doctor"]) expect(rung.body.detail).toContain(said);
      expect((await ask("/v1/status")).body).toMatchObject({
        status: "degraded",
        start_failures: [{ feature: "bells", when: "start" }],
      });
      expect((await ask("/v1/doctor")).body).toMatchObject({
        verdict: "fail",
        findings: expect.arrayContaining([
          expect.objectContaining({ check: "start", verdict: "fail", detail: "bells could not start: no rope" }),
        ]),
      });
      const greet = { pipeline_id: "hello", task_description: "Greet" };
      expect((await ask("/v1/runs", { method: "POST", headers, body: JSON.stringify(greet) })).status).toBe(201);
    } finally {
      await app.remove();
    }
  });

  test("gives its tool to agents at work", async () => {
    const pipeline = "id: p\nname: P\nsteps:\n  - { id: one, agent: worker, input: Ring }\n";
    const script = [
      "steps:",
      "  one:",
      "    - tool_calls: [{ tool: ring_bell, input: { times: 2 } }]",
      "    - tool_calls: [{ tool: complete, input: { summary: done } }]",
    ].join("\n");
    const diary: BellDiary = { calls: [], owners: [] };
    const rig = await openRig({ pipelines: { p: pipeline }, script, features: FEATURES.with(createBells(diary)) });
    await rig.start();
    expect(await rig.waitForEnd(rig.create("p").id)).toMatchObject({ status: "succeeded" });
    expect(rig.events().filter(({ kind }) => kind === "bell_rung")).toMatchObject([{ data: { times: 2 } }]);
    await rig.close();
    // A timer removes old rows, and may have run already.
    expect(diary.calls.filter((call) => call !== "pruned")).toEqual(["start", "stop", "close"]);
  });
});
