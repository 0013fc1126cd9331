/**
 * A run of one step that a published external agent works on, three calls long, and what is true of it after its server was
 * killed: what had ended is there once, and what was under way may have happened.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DockerClient } from "../../adapter/docker.ts";
import { membersOf } from "../../core/is-object.ts";
import { temporaryFolder } from "../command.ts";
import { framesOf, framesUntil, type ReadFrame } from "../event-reader.ts";
import { harnessImage } from "../harness-image.ts";
import { startServer, type TestServer } from "../server.ts";

/** What each program calls to run a command. */
const COMMANDS: Record<string, (line: string) => object> = {
  opencode: (line) => ({ tool: "bash", input: { command: line, description: "d" } }),
  codex: (line) => ({ tool: "exec_command", input: { cmd: line } }),
};
export const HARNESSES = Object.keys(COMMANDS);

/** Transcript of the scripted model: three lines, the third said slowly. */
function scriptOf(harness: string): object {
  const write = (word: string) => COMMANDS[harness]!(`echo ${word} >> done.txt`);
  const complete = { tool_calls: [{ tool: "complete", input: { outputs: { summary: "all" }, summary: "done" } }] };
  const work = [
    { text: "First.", tool_calls: [write("one")] },
    { text: "Second.", tool_calls: [write("two")] },
    { text: "Third, slowly.", delay_ms: 500, tool_calls: [write("three")] },
    complete,
    // A server that is killed when this was said and not yet done is told it again.
    complete,
    complete,
  ];
  return { version: 1, steps: { work } };
}

/** What calls wrote that have ended well, as the events tell. */
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
  /** Starts a run. @returns its id. */
  begin(): Promise<string>;
  /** Events of a run from its first on, until one fits. */
  until(run: string, fits: (frame: ReadFrame) => boolean): Promise<ReadFrame[]>;
  /** kill -9, and another server over the same folder. */
  kill(): Promise<void>;
  /** Lines that its calls wrote. */
  lines(run: string): Promise<string[]>;
  remove(): Promise<void>;
}

/** A server whose agent is driven by that program. */
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
