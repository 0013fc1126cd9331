import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newId } from "../../../core/ids.ts";
import { EXEC } from "../../../testing/sandbox-fixture.ts";
import { createProcessSandboxes } from "./driver.ts";

let workspace = "";
beforeAll(() => {
  workspace = mkdtempSync(join(tmpdir(), "skep-marked-"));
});
afterAll(() => rmSync(workspace, { recursive: true, force: true }));

const never = new AbortController().signal;
const spec = (executionId: string) => ({
  ...{ executionId, sessionId: "sess_test", agentId: "engineer", workspace, network: "none" as const },
  ...{ memoryMb: 128, cpus: 1, env: {} },
});

test.skipIf(!existsSync("/proc/self/environ"))(
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
      pids.push(Number(left.output));
      await sandbox.stop();
    }
    const runs = (pid: number) => existsSync(`/proc/${pid}/stat`);
    expect(pids.map(runs)).toEqual([true, true]);
    const stranger = createProcessSandboxes({ allowHostShell: true, instanceId: newId("instance") });
    expect(await stranger.sweep(() => false)).toBe(0);
    const after = createProcessSandboxes({ allowHostShell: true, instanceId });
    expect(await after.sweep((id) => id === live)).toBe(1);
    expect(await after.sweep((id) => id === live)).toBe(0);
    expect(await after.sweep(() => false)).toBe(1);
  },
);
