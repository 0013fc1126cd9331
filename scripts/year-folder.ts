/** A data folder with a year's runs, made of three real ones. */
import { join } from "node:path";
import { startServer } from "../src/testing/server.ts";
import { fillYear } from "../src/testing/year-data.ts";

/** @returns rows by table, and how long writing them took. */
export async function fillFolder(
  data: string,
  runs: number,
): Promise<{ rows: Record<string, number>; tookMs: number }> {
  const server = await startServer({ data, env: { RATE_LIMIT: "0" } });
  for (let n = 0; n < 3; n++) {
    const body = { pipeline_id: "hello", task_description: "Say what is here." };
    const { id } = (await server.request<{ id: string }>("POST", "/v1/runs", { body })).body;
    const events = await fetch(`${server.url}/v1/events/stream?run_id=${id}`);
    await events.text();
  }
  await server.stop();
  const agents = ["scribe", "lead", "architect", "engineer", "reviewer", "researcher"];
  const owners = [null, "usr_first", "usr_second"];
  const began = performance.now();
  const rows = fillYear(join(data, "skep.db"), { runs, events: 186_000, owners, agents, pipelines: ["hello"] });
  return { rows, tookMs: performance.now() - began };
}
