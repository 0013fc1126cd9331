/**
 * A run with one step of three calls, done by a published external agent. After its server was killed, what had ended
 * must exist once; what was under way may have happened.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DockerClient } from "../../adapter/docker.ts";
import { membersOf } from "../../core/is-object.ts";
import { temporaryFolder } from "../command.ts";
import { framesOf, framesUntil, type ReadFrame } from "../event-reader.ts";
import { harnessImage } from "../harness-image.ts";
import { startServer, type TestServer } from "../server.ts";

/** The tool call with which each program runs a command. */
const COMMANDS: Record<string, (line: string) => object> = {
  opencode: (line) => ({ tool: "bash", input: { command: line, description: "d" } }),
  codex: (line) => ({ tool: "exec_command", input: { cmd: line } }),
};
export const HARNESSES = Object.keys(COMMANDS);

/** Transcript of the scripted model: three lines, the third after a delay. */
function scriptOf(harness: string): object {
  const write = (word: string) => COMMANDS[harness]!(`echo ${word} >> done.txt`);
  const complete = { tool_calls: [{ tool: "complete", input: { outputs: { summary: "all" }, summary: "done" } }] };
  const work = [
    { text: "First.", tool_calls: [write("one")] },
    { text: "Second.", tool_calls: [write("two")] },
    { text: "Third, slowly.", delay_ms: 500, tool_calls: [write("three")] },
    complete,
    // If the server is killed after `complete` was sent but before it was processed, the model is asked again.
    complete,
    complete,
  ];
  return { version: 1, steps: { work } };
}

/** The words written by calls that have ended successfully, according to the events. */
export function endedWords(frames: readonly ReadFrame[]): string[] {
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

export const isEnd = ({ event }: ReadFrame): boolean => /^run_(complete|failed|cancelled)$/.test(event);

export interface HarnessRig {
  server: TestServer;
  /** Starts a run. @returns the run's id. */
  begin(): Promise<string>;
  /** The events of a run from the first to the first one that fits. */
  until(run: string, fits: (frame: ReadFrame) => boolean): Promise<ReadFrame[]>;
  /** Kills the server (kill -9) and starts another one on the same folder. */
  kill(): Promise<void>;
  /** The lines that the run's calls wrote. */
  lines(run: string): Promise<string[]>;
  remove(): Promise<void>;
}

/** Starts a server with an agent that this program drives. */
export async function startHarnessRig(docker: DockerClient, harness: string): Promise<HarnessRig> {
  const folder = temporaryFolder();
  const script = join(folder.path, "script.json");
  writeFileSync(script, JSON.stringify(scriptOf(harness)));
  const image = await harnessImage(docker);
  const env = { SANDBOX: "docker", DEMO_SCRIPT: script };
  const rig = {
    server: await startServer({ env }),
    async begin() {
      const body = { pipeline_id: "p", task_description: "it" };
      return (await rig.server.request<{ id: string }>("POST", "/v1/runs", { body })).body.id;
    },
    until: (run: string, fits: (frame: ReadFrame) => boolean) =>
      framesUntil(framesOf(rig.server, `/v1/events/stream?run_id=${run}&after=0`), fits),
    async kill() {
      await rig.server.stop("SIGKILL");
      rig.server = await startServer({ env, data: rig.server.data });
    },
    async lines(run: string) {
      const text = await Bun.file(join(rig.server.data, "workspaces", run, "done.txt")).text();
      return text.trim().split("\n");
    },
    async remove() {
      await rig.server.remove();
      folder.remove();
    },
  };
  const agent = { id: "maker", prompt: "You work.", model: "demo/scripted", harness, image };
  await rig.server.request("POST", "/v1/agents", { body: agent });
  const steps = [{ id: "work", agent: "maker", input: "Do it.", outputs: ["summary"] }];
  await rig.server.request("POST", "/v1/pipelines", { body: { id: "p", name: "P", steps } });
  return rig;
}
