/**
 * A run whose agent stays at work until the test ends it, with the token of its sandbox. It shows what a manipulated
 * agent could send. The server needs DEMO_SCRIPT (with `HOLD_STEP` among its steps) and a shell.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestServer } from "../server.ts";
import { waitFor } from "./waiting.ts";

/** The turns of the step `hold`, for a transcript. */
export const HOLD_STEP = {
  hold: [
    {
      tool_calls: [
        {
          tool: "bash",
          input: {
            command:
              'printf %s "$ENGINE_INTERNAL_TOKEN" > token.part && mv token.part token; until [ -e go ]; do sleep 0.1; done',
            timeout_seconds: 300,
          },
        },
      ],
    },
    { tool_calls: [{ tool: "complete", input: { outputs: { answer: "done" }, summary: "held" } }] },
  ],
};

export interface HeldRun {
  id: string;
  agentId: string;
  /** Credential of the running execution. */
  token: string;
  sessionId: string;
  /** Lets the agent continue. Resolves when the run has ended. */
  release(): Promise<void>;
}

/** Creates an agent and a pipeline with that id and starts a run. @param as an administrator's token. */
export async function createHeldRun(server: TestServer, as: string, id = "holder"): Promise<HeldRun> {
  const send = async (method: string, path: string, body?: unknown) => {
    const answer = await server.request(method, path, { token: as, body });
    if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  await send("POST", "/v1/agents", { id, prompt: "You wait." });
  const source = `id: ${id}\nname: Hold\ndefaults: { model: demo/scripted }\nsteps:\n  - id: hold\n    agent: ${id}\n    input: wait\n    outputs: [answer]\n`;
  await send("POST", "/v1/pipelines", { source });
  const run = await send("POST", "/v1/runs", { pipeline_id: id, task_description: "wait" });
  const runId = run["id"] as string;
  const workspace = join(server.data, "workspaces", runId);
  await waitFor(() => existsSync(join(workspace, "token")), `the agent of ${runId} at work`);
  const steps = await send("GET", `/v1/steps/${runId}`);
  return {
    id: runId,
    agentId: id,
    token: readFileSync(join(workspace, "token"), "utf8"),
    sessionId: (steps["items"] as { session_id: string }[])[0]!.session_id,
    async release() {
      writeFileSync(join(workspace, "go"), "");
      await waitForRunEnd(server, as, runId);
    },
  };
}

/** Waits until a run has ended. @returns the run. */
export async function waitForRunEnd(server: TestServer, as: string | undefined, runId: string) {
  const token = as === undefined ? {} : { token: as };
  let run: Record<string, unknown> = {};
  await waitFor(async () => {
    run = (await server.request("GET", `/v1/runs/${runId}`, token)).body;
    return ["succeeded", "failed", "cancelled"].includes(run["status"] as string);
  }, `the end of ${runId}`);
  return run;
}
