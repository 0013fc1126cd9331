/** Models that are asked instead, when one has no quota left, does not answer or refuses. */
import { afterEach, expect, test } from "bun:test";
import { LOCAL_ADMIN } from "../http/caller.ts";
import { createRigs } from "../testing/engine-rig.ts";
import { createHandModel } from "../testing/hand-model.ts";
import type { ModelReply } from "./model.ts";

const rigs = createRigs();
afterEach(rigs.close);

const PIPELINE =
  "id: one\nname: One\nsteps:\n  - id: work\n    agent: worker\n    input: Work\n    model: custom-a/m\n";

async function open(fallback: string[]) {
  const model = createHandModel();
  const rig = await rigs.started({ pipelines: { one: PIPELINE }, models: model });
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
  first.reply(failing("provider_rate_limited", Date.now() + 3_600_000));
  const second = await model.next();
  expect(second.request.model).toBe("custom-b/m");
  expect(second.request.messages).toEqual(first.request.messages);
  second.reply(failing("provider_unreachable"));
  const third = await model.next();
  expect(third.request.model).toBe("ollama/small");
  third.reply(DONE);
  expect(await rig.ended(id)).toMatchObject({ status: "succeeded" });
  const { views } = rig.services.runs;
  expect(views.step(id, "work", undefined, { kind: "local", admin: true })).toMatchObject({ model: "ollama/small" });
  expect(rig.calls()).toBe(3);
});

test("a reply that a filter held back is asked of the next; a call that is wrong in itself is not", async () => {
  const { rig, model, id } = await open(FALLBACK);
  (await model.next()).reply({ finish: "content_filter" });
  const second = await model.next();
  expect(second.request.model).toBe("custom-b/m");
  second.reply(failing("context_truncated"));
  expect(await rig.ended(id)).toMatchObject({ error: { code: "context_truncated" } });
  expect(model.calls).toHaveLength(2);
});

test("where all have used up their quota, the work waits for the one that answers first", async () => {
  const { rig, model, id } = await open(["custom-b/m"]);
  const [late, soon] = [Date.now() + 7_200_000, Date.now() + 3_600_000];
  (await model.next()).reply(failing("provider_rate_limited", late));
  (await model.next()).reply(failing("provider_rate_limited", soon));
  const at = `${new Date(soon).toISOString().slice(0, 19)}Z`;
  while (!JSON.stringify(rig.events()).includes(at)) await Bun.sleep(20);
  rig.services.runs.tryNow(id, LOCAL_ADMIN);
  const again = await model.next();
  expect(again.request.model).toBe("custom-a/m");
  again.reply(DONE);
  expect(await rig.ended(id)).toMatchObject({ status: "succeeded" });
});
