/** What works on what strangers wrote ends with its server, also when it hears nothing. */
import { afterAll, afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../testing/command.ts";
import { lacks } from "../testing/parts.ts";
import { skepCommand } from "../testing/server.ts";

setDefaultTimeout(300_000);

const folder = temporaryFolder();
afterAll(folder.remove);
const DOCUMENT = join(folder.path, "long.txt");
// More than a pipe holds that nobody reads, so that the reading of it does not end by itself.
writeFileSync(DOCUMENT, "A line of a long text.\n".repeat(200_000));

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

/** Starts the worker as a server does, and says its process id once it works. */
const parentOf = (command: string[], begin: string): string => `
const said = () => console.log(child.pid);
const child = Bun.spawn(${JSON.stringify(command)}, {
  stdin: "ignore", stdout: "pipe", stderr: "ignore", env: {}, ipc: said,
});
${begin}
`;
/** No work that there is: the answer says so. */
const ASKS = "child.send({ id: 1 });";
const WORKERS: [name: string, args: string[], begin: string][] = [
  ["text-worker", [], ASKS],
  ["graph-worker", [], ASKS],
  ["extract", [DOCUMENT, "text/plain"], "await child.stdout.getReader().read(); said();"],
];

test.skipIf(lacks("Linux, which ends a process with its parent", process.platform === "linux")).each(WORKERS)(
  "skep %s ends when its server is killed, whatever it is doing",
  async (name, args, begin) => {
    const program = parentOf(skepCommand(name, ...args), begin);
    const parent = Bun.spawn([process.execPath, "-e", program], { stdout: "pipe", stderr: "inherit" });
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
  },
);
