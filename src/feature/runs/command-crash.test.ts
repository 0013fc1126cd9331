/** A server is killed in the middle of a command: the run ends as it would have, and no process is left over. */
import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { framesOf, framesUntil } from "../../testing/event-reader.ts";
import { isRunning } from "../../testing/process-state.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { Run, Step } from "./model.ts";

const data = mkdtempSync(join(tmpdir(), "skep-command-crash-"));
let server: TestServer;
afterAll(async () => {
  await server.stop();
  rmSync(data, { recursive: true, force: true });
});
const until = (run: string, kind: string, step?: string) =>
  framesUntil(
    framesOf<{ kind: string; step_id?: string }>(server, `/v1/events/stream?after=0&run_id=${run}`),
    ({ data: event }) => event.kind === kind && (step === undefined || event.step_id === step),
  );

test("kill -9 in the middle of a command: it is run again, what succeeded is not, and its process is gone", async () => {
  const env = { ALLOW_HOST_SHELL: "true" };
  server = await startServer({ data, env });
  const steps = [
    { id: "once", run: "echo x >> once" },
    { id: "long", run: "echo $$ >> pids; test $(wc -l < pids) -gt 1 || sleep 600; echo done" },
    { id: "last", run: "cat once pids | wc -l" },
  ];
  expect((await server.request("POST", "/v1/pipelines", { body: { id: "p", name: "P", steps } })).status).toBe(201);
  const body = { pipeline_id: "p", task_description: "x" };
  const { id } = (await server.request<Run>("POST", "/v1/runs", { body })).body;
  await until(id, "tool_call_start", "long");
  const pids = join(data, "workspaces", id, "pids");
  while (!existsSync(pids) || readFileSync(pids, "utf8") === "") await Bun.sleep(10);
  await server.stop("SIGKILL");
  server = await startServer({ data, env });
  await until(id, "run_complete");
  const run = (await server.request<Run>("GET", `/v1/runs/${id}`)).body;
  expect(run).toMatchObject({ status: "succeeded", outputs: { last: { output: "3", exit_code: 0 } } });
  const [first] = readFileSync(pids, "utf8").split("\n");
  expect(isRunning(Number(first))).toBe(false);
  const { items } = (await server.request<{ items: Step[] }>("GET", `/v1/steps/${id}`)).body;
  expect(items.map(({ step_id, attempt, status, kind }) => [step_id, attempt, status, kind])).toEqual([
    ["once", 1, "succeeded", "command"],
    ["long", 1, "succeeded", "command"],
    ["last", 1, "succeeded", "command"],
  ]);
}, 300_000);
