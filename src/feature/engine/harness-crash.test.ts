/** A server that is killed while an external agent works: nothing that was done is lost, and none of it is done twice. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { membersOf } from "../../core/is-object.ts";
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

/** What calls wrote that have ended well, as the events tell. */
function endedWords(frames: readonly ReadFrame[]): string[] {
  const all = frames.map(({ event, data }) => ({ event, text: JSON.stringify(data), data: membersOf(data["data"]) }));
  const ended = new Set(
    all.flatMap(({ event, data }) => (event === "tool_call_end" && data["ok"] === true ? [data["call_id"]] : [])),
  );
  return all.flatMap(({ event, text, data }) => {
    const word =
      event === "tool_call_start" && ended.has(data["call_id"]) ? /echo (\w+) >>/.exec(text)?.[1] : undefined;
    return word === undefined ? [] : [word];
  });
}

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
      const frames = await framesUntil(framesOf(server, path), ({ event }) => /^run_(complete|failed)$/.test(event));
      const run = await server.request<{ status: string; error: unknown }>("GET", `/v1/runs/${made.body.id}`);
      expect(run.body).toMatchObject({ status: "succeeded" });
      const done = await Bun.file(join(server.data, "workspaces", made.body.id, "done.txt")).text();
      const lines = done.trim().split("\n");
      // A call that was under way may have happened; what had ended has, and nothing has twice.
      expect(new Set(lines).size).toBe(lines.length);
      const ended = endedWords(frames);
      expect(ended).toContain("one");
      expect(lines).toEqual(expect.arrayContaining(ended));
    } finally {
      await server.remove();
    }
  },
);
