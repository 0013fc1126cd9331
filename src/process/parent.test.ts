/** A process that works on untrusted input ends with its server, even when it reads no message. */
import { afterAll, afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lacks } from "../testing/parts.ts";
import { skepCommand } from "../testing/server.ts";

setDefaultTimeout(300_000);

const started: number[] = [];
afterEach(() => {
  for (const pid of started.splice(0))
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // The process has already ended.
    }
});

/** Whether a process runs; one that has ended but was not collected does not count. */
function isThere(pid: number): boolean {
  try {
    return !/\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

/** A script that starts a worker as a server does, and prints the worker's process id once it has answered. */
const parentOf = (command: string[], asked: object): string => `
const child = Bun.spawn(${JSON.stringify(command)}, {
  stdin: "ignore", stdout: "ignore", stderr: "ignore", env: {}, ipc: () => console.log(child.pid),
});
child.send(${JSON.stringify({ id: 1, ...asked })});
`;

// `skep extract` is not tested here, because the system bounds its processor time (text/extractor.ts).
/** The file that a parsing process writes to. */
const scratch = join(tmpdir(), `skep-parent-test-${process.pid}`);
afterAll(() => rmSync(scratch, { force: true }));

test.skipIf(lacks("Linux, which ends a process with its parent", process.platform === "linux")).each([
  [["text-worker"], {}],
  [["graph-worker"], {}],
  [["parse-worker", scratch], { request: { root: "/", files: [] } }],
])("skep %p ends when its server is killed, whatever it is doing", async (args, asked) => {
  const parent = Bun.spawn([process.execPath, "-e", parentOf(skepCommand(...args), asked)], {
    stdout: "pipe",
    stderr: "inherit",
  });
  started.push(parent.pid);
  const { value } = await parent.stdout.getReader().read();
  const worker = Number(Buffer.from(value!).toString());
  started.push(worker);
  // The stopped worker reacts to nothing, like one whose work never ends: only the system can end it.
  process.kill(worker, "SIGSTOP");
  expect(isThere(worker)).toBe(true);
  parent.kill("SIGKILL");
  await parent.exited;
  for (let checks = 0; isThere(worker) && checks < 3_000; checks++) await Bun.sleep(20);
  expect(isThere(worker), "the worker is left without its server").toBe(false);
});
