/** A server that is killed while an external agent works: nothing that was done is lost, and none of it is done twice. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../testing/command.ts";
import { dockerForTests } from "../../testing/docker-image.ts";
import { framesOf, framesUntil, type ReadFrame } from "../../testing/event-reader.ts";
import { harnessImage } from "../../testing/harness-image.ts";
import { startServer, type TestServer } from "../../testing/server.ts";

setDefaultTimeout(300_000);
const docker = await dockerForTests(process.env);
const folder = temporaryFolder();
afterAll(folder.remove);

const line = (text: string) => `{ tool: bash, input: { command: "echo ${text} >> done.txt", description: d } }`;
const SCRIPT = `version: 1
steps:
  work:
    - text: First.
      tool_calls: [${line("one")}]
    - text: Second.
      tool_calls: [${line("two")}]
    - text: Third, slowly.
      delay_ms: 500
      tool_calls: [${line("three")}]
    - tool_calls: [{ tool: complete, input: { outputs: { summary: all }, summary: done } }]
`;

/** The points at which the server is killed. */
const POINTS: Record<string, (frame: ReadFrame) => boolean> = {
  "its first call has ended": ({ event }) => event === "tool_call_end",
  "its second call begins": ({ event, data }) => event === "tool_call_start" && JSON.stringify(data).includes("two"),
  "it says the third thing": ({ event, data }) => event === "agent_output" && JSON.stringify(data).includes("Third"),
};

test.skipIf(!docker).each(Object.keys(POINTS))(
  "opencode goes on after the server was killed when %s",
  async (point) => {
    const script = join(folder.path, "script.yml");
    writeFileSync(script, SCRIPT);
    const image = await harnessImage(docker!);
    const env = { SANDBOX: "docker", DEMO_SCRIPT: script };
    let server: TestServer = await startServer({ env });
    try {
      const agent = { id: "maker", prompt: "You work.", model: "demo/scripted", harness: "opencode", image };
      await server.request("POST", "/v1/agents", { body: agent });
      const steps = [{ id: "work", agent: "maker", input: "Do it.", outputs: ["summary"] }];
      await server.request("POST", "/v1/pipelines", { body: { id: "p", name: "P", steps } });
      const made = await server.request<{ id: string }>("POST", "/v1/runs", {
        body: { pipeline_id: "p", task_description: "it" },
      });
      const path = `/v1/events/stream?run_id=${made.body.id}&after=0`;
      await framesUntil(framesOf(server, path), POINTS[point]!);
      await server.stop("SIGKILL");
      server = await startServer({ env, data: server.data });
      await framesUntil(framesOf(server, path), ({ event }) => /^run_(complete|failed)$/.test(event));
      const run = await server.request<{ status: string; error: unknown }>("GET", `/v1/runs/${made.body.id}`);
      expect(run.body).toMatchObject({ status: "succeeded" });
      const done = await Bun.file(join(server.data, "workspaces", made.body.id, "done.txt")).text();
      // A call that was under way may have happened; what had ended has, and once.
      expect(done).toMatch(point === "its second call begins" ? /^one\n(two\n)?three\n$/ : /^one\ntwo\nthree\n$/);
    } finally {
      await server.remove();
    }
  },
);
