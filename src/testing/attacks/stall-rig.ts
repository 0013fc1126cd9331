/**
 * A server whose event loop is watched while it works on input that is meant to be slow, in an agent's tools or in a
 * request. The server reports how long its main thread worked before it answered another request. Processor time is
 * measured, so that the result also holds on a busy machine.
 */
import { expect } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expectWork, isTooMuch } from "../busy-machine.ts";
import { watchLoop } from "../main-thread.ts";
import { createModelServer, reply } from "../model-server.ts";
import type { FakeToolCall } from "../model-wire.ts";
import { startServer } from "../server.ts";
import { waitFor } from "./waiting.ts";

/** How long a request may wait for other work at most, in ms, on the machine of docs/benchmarks.md. */
const STALL_MS = 50;
/**
 * How often a stall is measured again. A stall caused by input occurs every time; one caused by the garbage collector
 * or by other load does not.
 */
const TRIES = 5;
/** The resolution of processor times, in ms: one step of the system's clock. */
const STEP_MS = 10;
const BOUND_MS = STALL_MS + STEP_MS;

export interface Case {
  name: string;
  calls: FakeToolCall[];
  /** Files in the workspace before the calls. */
  files?: Record<string, string>;
  /** What the calls' results must contain. */
  says: RegExp;
  schema?: Record<string, unknown>;
}

export const MiB = 1024 ** 2;
export const lines = (count: number, line: string) => `${line}\n`.repeat(count);
export const one = (tool: string, input: FakeToolCall["input"]): FakeToolCall[] => [{ name: tool, input }];

export type StallRig = Awaited<ReturnType<typeof stallRig>>;

interface RigOptions {
  /** Whether the work belongs to a project, which the tools for its tasks need. */
  inProject?: boolean;
  /** Further environment variables of the server. */
  env?: Record<string, string>;
}

export async function stallRig({ inProject = false, env = {} }: RigOptions = {}) {
  const models = await createModelServer();
  const server = await startServer({
    env: { RATE_LIMIT: "0", FETCH_ALLOW: "127.0.0.1", NOTIFY_ALLOW: "127.0.0.1", ...env },
  });
  let made = 0;

  async function must(method: string, path: string, body?: unknown) {
    const answer = await server.request(method, path, { body });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  await must("PUT", "/v1/settings/providers/custom-lab", {
    base_url: `${models.origin}/v1`,
    models: [{ id: "m", input_usd_per_mtok: 0, output_usd_per_mtok: 0, context_window: 1_000_000 }],
  });
  await must("POST", "/v1/agents", { id: "stranger", prompt: "You work.", model: "custom-lab/m", max_turns: 3 });
  const project = inProject ? ((await must("POST", "/v1/projects", { name: "P" }))["id"] as string) : undefined;
  const watch = await watchLoop(server);

  /** @returns the results of the calls that the model received, and the longest stall meanwhile. */
  async function play({ calls, files = {}, schema }: Case): Promise<{ output: string; stallMs: number }> {
    const id = `stall-${++made}`;
    const steps = [{ id: "work", agent: "stranger", input: "Do it.", ...(schema ? { output_schema: schema } : {}) }];
    await must("POST", "/v1/pipelines", { id, name: id, steps });
    let run = "";
    const asked = models.requests.length;
    models.next(
      {
        kind: "reply",
        reply: { toolCalls: calls, pieceCharacters: 16_384 },
        async until() {
          await waitFor(() => run !== "", "the run's id");
          for (const [path, text] of Object.entries(files)) {
            const file = join(server.data, "workspaces", run, path);
            if (!existsSync(dirname(file))) mkdirSync(dirname(file), { recursive: true });
            writeFileSync(file, text);
          }
          watch.longestMs();
        },
      },
      reply({ toolCalls: [{ name: "fail", input: { reason: "enough" } }] }),
    );
    const body = { pipeline_id: id, task_description: "go", ...(project ? { project_name: "P" } : {}) };
    run = (await must("POST", "/v1/runs", body))["id"] as string;
    const stream = await fetch(`${server.url}/v1/events/stream?run_id=${run}&after=0`);
    const events = await stream.text();
    await watch.waitForAnswer();
    const stallMs = watch.longestMs();
    const [, second] = models.requests.slice(asked);
    const results = ((second?.body as { messages?: { role: string; content: unknown }[] })?.messages ?? []).filter(
      ({ role }) => role === "tool",
    );
    return { output: results.length > 0 ? JSON.stringify(results) : callsIn(events), stallMs };
  }

  return {
    server,
    watch,
    project,
    must,
    play,
    async expectNoStall(one: Case) {
      let { output, stallMs } = await play(one);
      for (let tries = 1; tries < TRIES && isLong(stallMs); tries++) ({ output, stallMs } = await play(one));
      expect([one.name, output.slice(0, 20_000)]).toEqual([one.name, expect.stringMatching(one.says)]);
      expectNoWait(one.name, stallMs);
    },
    /** Like `expectNoStall`, for a request, which is repeated. @returns the status of its last answer. */
    async requestWithoutStall(name: string, request: () => Promise<{ status: number }>): Promise<number> {
      let [stallMs, status, tries] = [0, 0, 0];
      do {
        watch.longestMs();
        ({ status } = await request());
        await watch.waitForAnswer();
        stallMs = watch.longestMs();
      } while (++tries < TRIES && isLong(stallMs));
      expect([name.slice(0, 200), status]).not.toContain(500);
      expectNoWait(name.slice(0, 200), stallMs);
      return status;
    },
    /** Names of all tools that the model was offered so far. */
    toolsOffered: () =>
      new Set(
        models.requests.flatMap(({ body }) =>
          ((body as { tools?: { function: { name: string } }[] }).tools ?? []).map((tool) => tool.function.name),
        ),
      ),
    async stop() {
      watch.stop();
      await server.remove();
      await models.stop();
    },
  };
}

const isLong = (stallMs: number): boolean => isTooMuch(stallMs, BOUND_MS);

function expectNoWait(name: string, stallMs: number): void {
  if (process.env["EXACT_BOUNDS"] === "true") console.log(`${stallMs.toFixed(1)} ms\t${name}`);
  expectWork(`${name}: what others wait for`, stallMs, BOUND_MS);
}

function callsIn(events: string): string {
  return events
    .split("\n")
    .filter((line) => line.includes('"kind":"tool_call_end"'))
    .join("\n");
}
