/** A second signal ends a process that is too busy to stop in order. */
import { expect, test } from "bun:test";
import { join } from "node:path";

test.each(["SIGTERM", "SIGINT"] as const)(
  "after the first signal, %s ends a process whose loop is stuck",
  async (second) => {
    const script = `
    import { untilStopped } from ${JSON.stringify(join(import.meta.dir, "until-stopped.ts"))};
    const stopped = untilStopped();
    setInterval(() => {}, 1_000);
    console.log("listening");
    await stopped;
    console.log("stopping");
    for (;;);`;
    const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "ignore" });
    const output = child.stdout.getReader();
    const said = async () => new TextDecoder().decode((await output.read()).value);
    expect(await said()).toContain("listening");
    child.kill("SIGTERM");
    expect(await said()).toContain("stopping");
    child.kill(second);
    await child.exited;
    expect(child.signalCode).toBe(second);
  },
);
