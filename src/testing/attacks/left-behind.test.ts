/** Commands of a host shell that leave their session end when the run is cancelled, and when the server stops. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lacks } from "../parts.ts";
import { isRunning } from "../process-state.ts";
import { startServer } from "../server.ts";
import { waitForRunEnd } from "./held-run.ts";
import { waitFor } from "./waiting.ts";

// A generous limit for busy machines: these tests wait for events, not for fixed times.
setDefaultTimeout(300_000);

const folder = mkdtempSync(join(tmpdir(), "skep-left-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const COMMAND =
  "setsid sh -c 'setsid sleep 300 & echo $! > pid; wait' >/dev/null 2>&1 & until [ -s pid ]; do sleep 0.05; done; touch ready; sleep 300";
const SOURCE =
  "id: leave\nname: Leave\ndefaults: { model: demo/scripted }\nsteps:\n  - id: leave\n    agent: leaver\n    input: go\n    outputs: [answer]\n";

test
  .skipIf(lacks("/proc", existsSync("/proc/self/environ")))
  .each(["a cancelled run", "a server that is asked to stop"])("%s leaves nothing running", async (how) => {
  const call = { tool: "bash", input: { command: COMMAND, timeout_seconds: 300 } };
  const script = { version: 1, steps: { leave: [{ tool_calls: [call] }] } };
  writeFileSync(join(folder, "script.json"), JSON.stringify(script));
  const env = { DEMO_SCRIPT: join(folder, "script.json"), ALLOW_HOST_SHELL: "true" };
  const server = await startServer({ env });
  try {
    await server.request("POST", "/v1/agents", { body: { id: "leaver", prompt: "You leave." } });
    await server.request("POST", "/v1/pipelines", { body: { source: SOURCE } });
    const body = { pipeline_id: "leave", task_description: "go" };
    const run = (await server.request("POST", "/v1/runs", { body })).body["id"] as string;
    const workspace = join(server.data, "workspaces", run);
    await waitFor(() => existsSync(join(workspace, "ready")), "the command at work");
    const pid = Number(readFileSync(join(workspace, "pid"), "utf8"));
    expect(isRunning(pid)).toBe(true);
    if (how === "a cancelled run") {
      await server.request("POST", `/v1/runs/${run}/cancel`);
      await waitForRunEnd(server, undefined, run);
      await waitFor(() => !isRunning(pid), "the end of what it left");
    } else {
      expect(await server.stop()).toBe(0);
      expect(isRunning(pid)).toBe(false);
    }
  } finally {
    await server.remove();
  }
});
