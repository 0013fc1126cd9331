/** Runs a pipeline and measures how long each step took, for the benchmarks of sandboxes. */
import type { Run, Step } from "../src/feature/runs/model.ts";
import { readEvents } from "../src/testing/crash/event-reader.ts";
import type { TestServer } from "../src/testing/server.ts";

/** Time from when a step could begin until it ended, in ms. */
const tookMs = ({ queued_at, finished_at }: Step): number => Date.parse(finished_at ?? "") - Date.parse(queued_at);

/** @returns the time of each step in ms, in order. @throws Error if a step has failed. */
export async function timeSteps(server: TestServer, pipeline: string): Promise<{ first: number; later: number[] }> {
  const ended = Promise.withResolvers<void>();
  let id = "";
  const reader = readEvents(server.url, 0, ({ kind, run_id }) => {
    if (kind === "run_complete" && run_id === id) ended.resolve();
  });
  const asked = { pipeline_id: pipeline, task_description: "bench" };
  id = (await server.request<Run>("POST", "/v1/runs", { body: asked })).body.id;
  await ended.promise;
  reader.close();
  const { body } = await server.request<{ items: Step[] }>("GET", `/v1/steps/${id}`);
  const all = body.items.toSorted((one, other) => Date.parse(one.queued_at) - Date.parse(other.queued_at));
  if (all.some(({ status }) => status !== "succeeded")) throw new Error("a step has failed");
  const [first, ...later] = all.map(tookMs);
  return { first: first!, later };
}
