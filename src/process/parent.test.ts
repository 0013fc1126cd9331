/** What works on what strangers wrote ends with its server, also when it hears nothing. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
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
test.skipIf(lacks("Linux, which ends a process with its parent", process.platform === "linux")).each([
  ["text-worker", {}],
  ["graph-worker", {}],
  ["parse-worker", { request: { root: "/", files: [] } }],
])("skep %s ends when its server is killed, whatever it is doing", async (name, asked) => {
  const parent = Bun.spawn([process.execPath, "-e", parentOf(skepCommand(name), asked)], {
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
