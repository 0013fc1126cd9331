/**
 * The engine's promise, seen from outside: whenever the process is killed, a run ends as it would have without that.
 * The run is divided into equal stretches, and the process is killed at a random place in each. 30 such places leave
 * smaller gaps than 50 that are random in the whole run. A failure prints the seed; CRASH_SEED repeats it, CRASH_POINTS
 * sets the number of points.
 */
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Run } from "../../feature/runs/model.ts";
import { dockerForTests, testImage } from "../docker-image.ts";
import { startServer } from "../server.ts";
import { crashCampaign, type PointReport } from "./campaign.ts";
import { layOut, sixSteps, twoSteps } from "./crash-pipeline.ts";
import { readEvents } from "./event-reader.ts";
import { programsOf } from "./lane.ts";
import { seedFrom } from "./random.ts";

const seed = seedFrom(process.env["CRASH_SEED"]);
const points = Number(process.env["CRASH_POINTS"] ?? 30);
const docker = await dockerForTests(process.env);
const faulty = (reports: readonly PointReport[]) => reports.filter(({ faults }) => faults.length > 0);

describe(`kill -9 of the server (CRASH_SEED=${seed})`, () => {
  test("at any point of a run of six steps changes nothing of how it ends", async () => {
    const run = sixSteps({ commandMs: 15, replyMs: 15 });
    const { reports } = await crashCampaign({ run, points, lanes: 3, seed });
    expect(faulty(reports)).toEqual([]);
    expect(reports).toHaveLength(points);
    // A campaign that never hit a running command or an answered write would prove little.
    expect(reports.some(({ interrupted }) => interrupted > 0)).toBe(true);
    expect(reports.some(({ acknowledged }) => acknowledged > 0)).toBe(true);
  }, 600_000);

  test.skipIf(!docker)(
    "leaves no container of a run behind, and the run ends as it would have",
    async () => {
      const env = { SANDBOX: "docker", AGENT_IMAGE: await testImage(docker!), IMAGE_PULL: "false" };
      const run = twoSteps({ commandMs: 30, replyMs: 15 });
      const { reports, runIds } = await crashCampaign({ run, points: 6, lanes: 2, seed, env, laterMs: 400 });
      expect(faulty(reports)).toEqual([]);
      for (const id of runIds) expect(await docker!.containers.list([`skep.run=${id}`])).toEqual([]);
    },
    300_000,
  );
});

describe("a command that is under way when the server is killed", () => {
  const data = mkdtempSync(join(tmpdir(), "skep-crash-"));
  afterAll(() => rmSync(data, { recursive: true, force: true }));

  test("has ended when the next one continues the work; the model reads that it was interrupted", async () => {
    const script = layOut(data, {
      id: "long",
      steps: [{ id: "wait", agent: "noter", input: "Wait", outputs: ["said"] }],
      script: {
        version: 1,
        steps: {
          wait: [
            { tool_calls: [{ tool: "bash", input: { command: "echo $$ > pid; sleep 300; echo late > late" } }] },
            {
              tool_calls: [{ tool: "complete", input: { outputs: { said: "{{ last_tool_output }}" }, summary: "ok" } }],
            },
          ],
        },
      },
    });
    const env = { DEMO_SCRIPT: script, ALLOW_HOST_SHELL: "true" };
    const first = await startServer({ data, env });
    const started = Promise.withResolvers<void>();
    readEvents(first.url, 0, ({ kind }) => kind === "tool_call_start" && started.resolve());
    const body = { pipeline_id: "long", task_description: "wait" };
    const { body: run } = await first.request<Run>("POST", "/v1/runs", { body });
    await started.promise;
    const pidFile = join(data, "workspaces", run.id, "pid");
    while (!existsSync(pidFile) || readFileSync(pidFile, "utf8") === "") await Bun.sleep(5);
    await first.stop("SIGKILL");
    expect(programsOf(data).length).toBeGreaterThan(0);
    const second = await startServer({ data, env });
    try {
      const ended = Promise.withResolvers<void>();
      readEvents(second.url, 0, ({ kind }) => kind === "run_complete" && ended.resolve());
      await ended.promise;
      expect(programsOf(data)).toEqual([]);
      const { body: after } = await second.request<Run>("GET", `/v1/runs/${run.id}`);
      expect(after.status).toBe("succeeded");
      expect(JSON.stringify(after.outputs)).toContain(
        "Interrupted: the server or the container engine stopped while this ran.",
      );
      expect(existsSync(join(data, "workspaces", run.id, "late"))).toBe(false);
    } finally {
      await second.stop("SIGKILL");
    }
  });
});
