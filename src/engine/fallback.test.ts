/** Fallback models, which are asked when a model has no quota left, does not answer or refuses. */
import { afterEach, expect, test } from "bun:test";
import { HOUR_MS } from "../core/clock.ts";
import { LOCAL_ADMIN } from "../http/caller.ts";
import { createRigs } from "../testing/engine-rig.ts";
import { createHandModel } from "../testing/hand-model.ts";
import { OPEN_PROJECTS } from "../testing/open-projects.ts";
import type { ModelReply } from "./model.ts";

const rigs = createRigs();
afterEach(rigs.close);

const PIPELINE =
  "id: one\nname: One\nsteps:\n  - id: work\n    agent: worker\n    input: Work\n    model: custom-a/m\n";

async function open(fallback: string[], agents: Record<string, string> = {}) {
  const model = createHandModel();
  const rig = await rigs.startRig({ pipelines: { one: PIPELINE }, agents, models: model });
  rig.services.settings.update({ models: { fallback } }, LOCAL_ADMIN);
  const { id } = rig.create("one");
  return { rig, model, id };
}
const failing = (code: string, retry_at?: number): Partial<ModelReply> => ({
  finish: "error",
  error: { code, message: "no", retryable: true, ...(retry_at === undefined ? {} : { retry_at }) },
});
const FALLBACK = ["custom-b/m", "ollama/small"];
const DONE = [{ tool: "complete", input: { summary: "done" } }];

test("the next model answers, and it is the one that the step names", async () => {
  const { rig, model, id } = await open(FALLBACK);
  const first = await model.next();
  expect(first.request.model).toBe("custom-a/m");
  first.reply(failing("provider_rate_limited", Date.now() + HOUR_MS));
  const second = await model.next();
  expect(second.request.model).toBe("custom-b/m");
  expect(second.request.messages).toEqual(first.request.messages);
  second.reply(failing("provider_unreachable"));
  const third = await model.next();
  expect(third.request.model).toBe("ollama/small");
  third.reply(DONE);
  expect(await rig.waitForEnd(id)).toMatchObject({ status: "succeeded" });
  const { views } = rig.services.runs;
  expect(views.step(id, "work", undefined, { kind: "local", admin: true, projects: OPEN_PROJECTS })).toMatchObject({
    model: "ollama/small",
  });
  expect(rig.calls()).toBe(3);
});

test("a reply that a filter held back is asked of the next; a call that is wrong in itself is not", async () => {
  const { rig, model, id } = await open(FALLBACK);
  (await model.next()).reply({ finish: "content_filter" });
  const second = await model.next();
  expect(second.request.model).toBe("custom-b/m");
  second.reply(failing("context_truncated"));
  expect(await rig.waitForEnd(id)).toMatchObject({ error: { code: "context_truncated" } });
  expect(model.calls).toHaveLength(2);
});

test("where all have used up their quota, the work waits for the one that answers first", async () => {
  const { rig, model, id } = await open(["custom-b/m"]);
  const [late, soon] = [Date.now() + 7_200_000, Date.now() + HOUR_MS];
  (await model.next()).reply(failing("provider_rate_limited", late));
  (await model.next()).reply(failing("provider_rate_limited", soon));
  const at = `${new Date(soon).toISOString().slice(0, 19)}Z`;
  while (!JSON.stringify(rig.events()).includes(at)) await Bun.sleep(20);
  rig.services.runs.tryNow(id, LOCAL_ADMIN);
  const again = await model.next();
  expect(again.request.model).toBe("custom-a/m");
  again.reply(DONE);
  expect(await rig.waitForEnd(id)).toMatchObject({ status: "succeeded" });
});

test("a model whose window is smaller than the prompt is passed by", async () => {
  const hand = createHandModel();
  const windowOf = async ({ model }: { model: string }) => (model === "custom-b/m" ? 50 : 200_000);
  const rig = await rigs.startRig({ pipelines: { one: PIPELINE }, models: { ...hand, windowOf } });
  rig.services.settings.update({ models: { fallback: FALLBACK } }, LOCAL_ADMIN);
  const { id } = rig.create("one");
  (await hand.next()).reply(failing("provider_error"));
  const second = await hand.next();
  expect(second.request.model).toBe("ollama/small");
  second.reply(DONE);
  expect(await rig.waitForEnd(id)).toMatchObject({ status: "succeeded" });
});

test("a model whose call the budget does not allow is passed by", async () => {
  const model = createHandModel();
  model.estimateUsd = (id) => (id === "custom-dear/m" ? 5 : 0.01);
  const rig = await rigs.startRig({ pipelines: { one: PIPELINE }, models: model });
  rig.services.settings.update({ models: { fallback: ["custom-dear/m", "custom-b/m"] } }, LOCAL_ADMIN);
  const { id } = rig.create("one", "Work", { budget_usd: 1 });
  (await model.next()).reply(failing("provider_unreachable"));
  const second = await model.next();
  expect(second.request.model).toBe("custom-b/m");
  second.reply(DONE);
  expect(await rig.waitForEnd(id)).toMatchObject({ status: "succeeded" });
  expect(model.calls).toHaveLength(2);
});

test("an agent's own fallbacks come before those of the settings, and an empty list means none", async () => {
  const own = await open(FALLBACK, { worker: "---\nname: Worker\nfallback: [custom-own/m]\n---\nYou work." });
  (await own.model.next()).reply(failing("provider_unreachable"));
  const second = await own.model.next();
  expect(second.request.model).toBe("custom-own/m");
  second.reply(DONE);
  expect(await own.rig.waitForEnd(own.id)).toMatchObject({ status: "succeeded" });
  const none = await open(FALLBACK, { worker: "---\nname: Worker\nfallback: []\n---\nYou work." });
  (await none.model.next()).reply(failing("provider_unreachable"));
  expect(await none.rig.waitForEnd(none.id)).toMatchObject({ error: { code: "provider_unreachable" } });
  expect(none.model.calls).toHaveLength(1);
});

test("a used-up quota without a time is asked again after a minute, then less and less often, at most for the set time", async () => {
  const { rig, model, id } = await open([]);
  const { sqlite } = rig.store;
  const until = () => sqlite.prepare("SELECT provider_until FROM executions").pluck().get() as number | null;
  /** Answers the next call with a used-up quota. @returns how long the execution then waits, in ms. */
  const refuse = async (waited: number): Promise<number> => {
    const call = await model.next();
    sqlite.prepare("UPDATE executions SET waited_ms = ?").run(waited);
    const before = Date.now();
    call.reply(failing("provider_rate_limited"));
    while (until() === null) await Bun.sleep(10);
    return until()! - before;
  };
  const near = (wait: number, wanted: number) => expect(Math.abs(wait - wanted)).toBeLessThan(wanted / 2);
  near(await refuse(0), 60_000);
  expect(JSON.stringify(rig.events())).toContain("does not say when it answers again");
  for (const [waited, wait] of [
    [240_000, 240_000],
    [10 * HOUR_MS, HOUR_MS],
  ] as const) {
    // Simulates that this time has passed: the execution is taken again with the time it has waited.
    sqlite.prepare("UPDATE executions SET waited_ms = ?, waiting_since = NULL").run(waited);
    rig.services.runs.tryNow(id, LOCAL_ADMIN);
    near(await refuse(waited), wait);
  }
  sqlite.prepare("UPDATE executions SET waited_ms = ?, waiting_since = NULL").run(24 * HOUR_MS);
  rig.services.runs.tryNow(id, LOCAL_ADMIN);
  (await model.next()).reply(failing("provider_rate_limited"));
  const { error } = await rig.waitForEnd(id);
  expect(error).toMatchObject({ code: "provider_rate_limited" });
  expect(error?.message).toContain("for 24 hours");
});
