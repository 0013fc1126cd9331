/** What works on a stranger's text ends with the server, also when both hear nothing any more. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { skepCommand } from "../testing/server.ts";

setDefaultTimeout(300_000);

const started: { kill(signal: NodeJS.Signals): void }[] = [];
afterEach(() => {
  for (const one of started.splice(0))
    try {
      one.kill("SIGKILL");
    } catch {
      // It has ended.
    }
});

/** Clock ticks that a process has used; undefined once it has ended, waited for or not. */
function ticks(pid: number): number | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
    return fields[0] === "Z" || fields[0] === "X" ? undefined : Number(fields[11]) + Number(fields[12]);
  } catch {
    return undefined;
  }
}

/** Starts a text worker and gives it a comparison of all with all, which takes it hours. */
const PARENT = `
const child = Bun.spawn(${JSON.stringify(skepCommand("text-worker"))}, {
  stdin: "ignore", stdout: "ignore", stderr: "ignore", env: {}, ipc() {},
});
const many = Array.from({ length: 200_000 }, (_, i) => ({ a: { b: { c: i } } }));
child.send({ id: 1, operation: "schemaFaults", args: [{ uniqueItems: true }, JSON.stringify(many)] });
console.log(child.pid);
`;

test.skipIf(process.platform !== "linux")(
  "a worker that is busy with a stranger's text ends when its server is killed",
  async () => {
    const parent = Bun.spawn([process.execPath, "-e", PARENT], { stdout: "pipe", stderr: "inherit" });
    started.push(parent);
    const { value } = await parent.stdout.getReader().read();
    const worker = Number(Buffer.from(value!).toString());
    started.push({ kill: (signal) => process.kill(worker, signal) });
    // A start takes a third of that.
    while ((ticks(worker) ?? 0) < 150) await Bun.sleep(20);
    parent.kill("SIGKILL");
    await parent.exited;
    for (let checks = 0; ticks(worker) !== undefined && checks < 3_000; checks++) await Bun.sleep(20);
    expect(ticks(worker), "the worker goes on without its server").toBeUndefined();
  },
);
