import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newId } from "../../../core/ids.ts";
import { endedAtLimit } from "../../../testing/busy-machine.ts";
import { lacks } from "../../../testing/parts.ts";
import { isRunning } from "../../../testing/process-state.ts";
import { EXEC } from "../../../testing/sandbox-fixture.ts";
import { createProcessSandboxes } from "./driver.ts";

let workspace = "";
beforeAll(() => {
  workspace = mkdtempSync(join(tmpdir(), "skep-marked-"));
});
afterAll(() => rmSync(workspace, { recursive: true, force: true }));

const never = new AbortController().signal;
const spec = (executionId: string) => ({
  executionId,
  sessionId: "sess_test",
  agentId: "engineer",
  home: workspace,
  network: "none" as const,
  memoryMb: 128,
  cpus: 1,
  env: {},
});

test.skipIf(lacks("/proc", existsSync("/proc/self/environ")))(
  "a sweep ends what an execution left in a session of its own, and nothing of live executions or other instances",
  async () => {
    const instanceId = newId("instance");
    const [gone, live] = [newId("execution"), newId("execution")];
    const pids: number[] = [];
    const before = createProcessSandboxes({ allowHostShell: true, instanceId });
    for (const id of [gone, live]) {
      const sandbox = await before.start(spec(id), never);
      const left = await sandbox.exec(
        [
          "sh",
          "-c",
          "setsid sh -c 'echo $$ > pid; exec sleep 60' >/dev/null 2>&1 & while ! [ -s pid ]; do :; done; cat pid; rm pid",
        ],
        EXEC,
      );
      // The sandbox is not stopped, as if the server had died.
      pids.push(Number(left.output));
    }
    expect(pids.map(isRunning)).toEqual([true, true]);
    const stranger = createProcessSandboxes({ allowHostShell: true, instanceId: newId("instance") });
    expect((await stranger.sweep(() => false)).removed).toBe(0);
    const after = createProcessSandboxes({ allowHostShell: true, instanceId });
    expect((await after.sweep((id) => id === live)).removed).toBe(1);
    expect((await after.sweep((id) => id === live)).removed).toBe(0);
    expect((await after.sweep(() => false)).removed).toBe(1);
  },
);

test.skipIf(lacks("/proc", existsSync("/proc/self/environ")))(
  "what left its session ends with the execution, and with a call that is stopped or takes too long",
  async () => {
    const sandboxes = createProcessSandboxes({ allowHostShell: true });
    const LEAVE =
      "rm -f pids; for n in 1 2 3; do setsid sh -c 'setsid sleep 60 & echo $! >> pids; wait' >/dev/null 2>&1 & done; until [ \"$(wc -l < pids 2>/dev/null)\" = 3 ]; do :; done; cat pids";
    const sandbox = await sandboxes.start(spec(newId("execution")), never);
    const pidsOf = (output: string) => [...output.matchAll(/^\d+$/gm)].map(Number);
    const left = pidsOf((await sandbox.exec(["sh", "-c", LEAVE], EXEC)).output);
    expect(left.map(isRunning)).toEqual([true, true, true]);
    const late = await endedAtLimit(
      1_000,
      (timeoutMs) => sandbox.exec(["sh", "-c", `${LEAVE}; sleep 60`], { ...EXEC, timeoutMs }),
      ({ output }) => pidsOf(output).length === 3,
    );
    expect([late.timedOut, pidsOf(late.output).map(isRunning)]).toEqual([true, [false, false, false]]);
    const stop = new AbortController();
    const output = { text: "" };
    const cut = await sandbox.exec(["sh", "-c", `${LEAVE}; sleep 60`], {
      ...EXEC,
      signal: stop.signal,
      onOutput(text) {
        output.text += text;
        if (pidsOf(output.text).length === 3) stop.abort();
      },
    });
    expect([cut.aborted, pidsOf(cut.output).map(isRunning)]).toEqual([true, [false, false, false]]);
    const last = pidsOf((await sandbox.exec(["sh", "-c", LEAVE], EXEC)).output);
    await sandbox.stop();
    expect(last.map(isRunning)).toEqual([false, false, false]);
  },
);
