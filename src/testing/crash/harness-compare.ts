/**
 * Compares the built-in loop and external agents on one scripted task: how much each sends to the model for the same
 * work.
 */
import { join } from "node:path";
import type { DockerClient } from "../../adapter/docker.ts";
import { membersOf, textIn } from "../../core/is-object.ts";
import { recordsIn } from "../../engine/gateway/wire.ts";
import { harnessImage } from "../harness-image.ts";
import { startMeteredServer } from "../metered-server.ts";
import { reply } from "../model-server.ts";
import type { FakeToolCall } from "../model-wire.ts";

interface HarnessFigures {
  harness: string;
  calls: number;
  tools: number;
  /**
   * Estimated tokens of all requests, of the first request with tools, and of those tools. Four characters count as one
   * token.
   */
  sent: number;
  first: number;
  ofTools: number;
  seconds: number;
}

const FILES = ["a", "b", "c"];
interface Words {
  run(line: string): FakeToolCall;
  read(name: string): FakeToolCall;
  edit(name: string, from: string, to: string): FakeToolCall;
}
/** The names of each agent's tools. */
const TOOLS: Record<string, Words> = {
  builtin: {
    run: (command) => ({ name: "bash", input: { command } }),
    read: (name) => ({ name: "read", input: { path: `${name}.txt` } }),
    edit: (name, from, to) => ({
      name: "edit",
      input: { path: `${name}.txt`, edits: [{ old_text: from, new_text: to }] },
    }),
  },
  codex: {
    run: (cmd) => ({ name: "exec_command", input: { cmd } }),
    read: (name) => ({ name: "exec_command", input: { cmd: `cat ${name}.txt` } }),
    edit: (name, from, to) => ({ name: "exec_command", input: { cmd: `sed -i s/${from}/${to}/ ${name}.txt` } }),
  },
  opencode: {
    run: (command) => ({ name: "bash", input: { command, description: "d" } }),
    read: (name) => ({ name: "read", input: { filePath: `/workspace/${name}.txt` } }),
    edit: (name, from, to) => ({
      name: "edit",
      input: { filePath: `/workspace/${name}.txt`, oldString: from, newString: to },
    }),
  },
};

/** Writes files, reads three of them in one reply, changes one, checks it, and completes. */
function repliesBy({ run, read, edit }: Words): Step[] {
  const lines = Array.from({ length: 200 }, (_, n) => `line ${n} of a file that is read`).join("\\n");
  return [
    [run(`for f in ${FILES.join(" ")}; do printf 'wrong\\n${lines}\\n' > $f.txt; done`)],
    FILES.map(read),
    [edit("a", "wrong", "right")],
    [run("grep right a.txt")],
    [{ name: "complete", input: { outputs: { summary: "changed" }, summary: "done" } }],
  ];
}

type Step = FakeToolCall[];
const CHARACTERS_PER_TOKEN = 4;
const tokensOf = (value: unknown): number => Math.round(JSON.stringify(value).length / CHARACTERS_PER_TOKEN);

export async function compareHarnesses(docker: DockerClient): Promise<HarnessFigures[]> {
  const image = await harnessImage(docker);
  const metered = await startMeteredServer({ SANDBOX: "docker" });
  const all: HarnessFigures[] = [];
  try {
    for (const [harness, words] of Object.entries(TOOLS)) {
      const steps = repliesBy(words);
      let made = 0;
      metered.models.requests.length = 0;
      metered.models.answerBy(({ body }) => {
        const tools = toolNames(body);
        // opencode asks for a title in a request without tools.
        const step = tools.length === 0 ? undefined : steps[made++];
        const named = step?.map(({ name, input }, at) => ({
          id: `call_${made}_${at}`,
          name: tools.find((tool) => tool === name || tool.endsWith(`_${name}`)) ?? name,
          input,
        }));
        return reply({ text: "On it.", ...(named ? { toolCalls: named } : {}) });
      });
      const pipeline = await metered.pipeline(undefined, { harness, image, memory_mb: 1_024 });
      const began = performance.now();
      const run = await metered.run(pipeline);
      const seconds = (performance.now() - began) / 1_000;
      const right = await Bun.file(join(metered.server.data, "workspaces", run.id, "a.txt")).text();
      if (run.status !== "succeeded" || !right.startsWith("right\n"))
        throw new Error(`${harness} did not do the task: ${run.status} ${JSON.stringify(run.error)}`);
      const sent = metered.models.requests.map(({ body }) => tokensOf(body));
      const withTools = metered.models.requests.filter(({ body }) => toolNames(body).length > 0);
      all.push({
        harness,
        calls: sent.length,
        tools: run.events.filter(({ kind }) => kind === "tool_call_end").length,
        sent: sent.reduce((sum, tokens) => sum + tokens, 0),
        first: tokensOf(withTools[0]?.body),
        ofTools: tokensOf(membersOf(withTools[0]?.body)["tools"]),
        seconds,
      });
    }
  } finally {
    await metered.remove();
  }
  return all;
}

/** The names of the tools in a chat completions request. */
const toolNames = (body: unknown): string[] =>
  recordsIn(membersOf(body)["tools"]).flatMap((tool) => textIn(tool["function"], "name") ?? []);
