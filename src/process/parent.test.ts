/** What works on what strangers wrote ends with its server, also when it hears nothing. */
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
      // It has ended.
    }
});

/** Whether a process is there; one that has ended and was not waited for is not. */
function isThere(pid: number): boolean {
  try {
    return !/\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

/** Starts the worker as a server does, and says its process id once it has answered. */
const parentOf = (command: string[], asked: object): string => `
const child = Bun.spawn(${JSON.stringify(command)}, {
  stdin: "ignore", stdout: "ignore", stderr: "ignore", env: {}, ipc: () => console.log(child.pid),
});
child.send(${JSON.stringify({ id: 1, ...asked })});
`;

// `skep extract` is not among them: the system bounds its processor time (text/extractor.ts).
/** What a parsing process writes to. */
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
  // As deaf as one that never comes to the end of its work: only the system can end it.
  process.kill(worker, "SIGSTOP");
  expect(isThere(worker)).toBe(true);
  parent.kill("SIGKILL");
  await parent.exited;
  for (let checks = 0; isThere(worker) && checks < 3_000; checks++) await Bun.sleep(20);
  expect(isThere(worker), "the worker is left without its server").toBe(false);
});
