/** Steps that wait for a part of the machine: which time counts as theirs. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { createProcessSandboxes } from "../adapter/sandbox/process/driver.ts";
import { unavailable } from "../core/errors.ts";
import { createRigs } from "../testing/engine-rig.ts";
import { createHandModel } from "../testing/hand-model.ts";
import type { SandboxDriver } from "./sandbox.ts";

setDefaultTimeout(300_000);
const rigs = createRigs();
afterAll(() => rigs.close());

const near = createProcessSandboxes({ allowHostShell: false });
const down = unavailable("sandbox_unavailable", "Docker does not answer.");

/** A run whose only step needs its sandbox; the driver at first refuses it with `down`. */
async function stepThatWaits(sandboxes: SandboxDriver) {
  const model = createHandModel();
  const pipelines = { one: "id: one\nname: One\nsteps: [{ id: look, agent: worker, input: Look. }]" };
  const rig = await rigs.startRig({ pipelines, models: model, sandboxes });
  const { id } = rig.create("one");
  (await model.next()).reply([{ tool: "ls", input: { path: "." } }]);
  await rig.event(({ data }) => data["title"] === "Waits: Docker does not answer.");
  return { rig, model, id };
}

test("what a step waits for the machine is not of its time", async () => {
  let starts = 0;
  const sandboxes: SandboxDriver = {
    ...near,
    start: (spec, signal) => (starts++ === 0 ? Promise.reject(down) : near.start(spec, signal)),
  };
  const { rig, model, id } = await stepThatWaits(sandboxes);
  const { sqlite } = rig.store;
  const began = Date.parse("2020-01-01");
  sqlite
    .prepare("UPDATE executions SET not_before = 0, started_at = ?, waiting_since = ?")
    .run(new Date(began).toISOString(), began + 1_000);
  (await model.next()).reply([{ tool: "complete", input: { summary: "Seen." } }]);
  expect(await rig.waitForEnd(id)).toMatchObject({ status: "succeeded", error: null });
  const row = sqlite.prepare("SELECT waited_ms, waiting_since FROM executions").get() as Record<string, number | null>;
  expect(row["waiting_since"]).toBeNull();
  expect(row["waited_ms"]).toBeGreaterThan(Date.parse("2026-01-01") - began);
});

test("a step whose time passes while a part of the machine is missing says what it waited for", async () => {
  let starts = 0;
  const sandboxes: SandboxDriver = {
    ...near,
    start: (_, abort) =>
      starts++ === 0
        ? Promise.reject(down)
        : new Promise((_, reject) => abort.addEventListener("abort", () => reject(abort.reason))),
  };
  const { rig, id } = await stepThatWaits(sandboxes);
  const { sqlite } = rig.store;
  sqlite.exec("UPDATE executions SET not_before = 0, started_at = '2020-01-01T00:00:00.000Z'");
  const { status, error } = await rig.waitForEnd(id);
  expect(status).toBe("failed");
  expect(error).toMatchObject({
    code: "timeout",
    message: "It took longer than its 3600 s. It still waited: Docker does not answer.",
  });
});

test("a step with little time left waits as well while it is not yet known that the machine does not answer", async () => {
  const frozen = unavailable("sandbox_unavailable", "Docker is frozen.");
  let starts = 0;
  const sandboxes: SandboxDriver = {
    ...near,
    noticeMs: 60_000,
    // The second start takes longer than the remaining time, which is zero.
    start: (_, abort) =>
      starts++ === 0
        ? Promise.reject(down)
        : new Promise((_, reject) => {
            abort.addEventListener("abort", () => reject(abort.reason));
            setTimeout(() => reject(frozen), 50);
          }),
  };
  const { rig, id } = await stepThatWaits(sandboxes);
  const ended = rig.waitForEnd(id);
  rig.store.sqlite.exec("UPDATE executions SET not_before = 0, started_at = '2020-01-01T00:00:00.000Z'");
  const waits = rig.event(({ data }) => data["title"] === "Waits: Docker is frozen.");
  expect(await Promise.race([waits.then(() => "waits"), ended.then(({ error }) => error)])).toBe("waits");
});
