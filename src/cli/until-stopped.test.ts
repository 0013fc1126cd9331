/** A second signal ends a process that is too busy to shut down, or even to handle the first. */
import { expect, test } from "bun:test";
import { join } from "node:path";

const SIGNALS = ["SIGTERM", "SIGINT"] as const;

function start(afterListening: string) {
  const script = `
    import { untilStopped } from ${JSON.stringify(join(import.meta.dir, "until-stopped.ts"))};
    const stopped = untilStopped();
    setInterval(() => {}, 1_000);
    console.log("listening");
    ${afterListening}`;
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "ignore" });
  const output = child.stdout.getReader();
  return { child, readOutput: async () => new TextDecoder().decode((await output.read()).value) };
}

test.each(SIGNALS)("after the first signal, %s ends a process whose loop is stuck", async (second) => {
  const { child, readOutput } = start(`await stopped; console.log("stopping"); for (;;);`);
  expect(await readOutput()).toContain("listening");
  child.kill("SIGTERM");
  expect(await readOutput()).toContain("stopping");
  child.kill(second);
  await child.exited;
  expect(child.signalCode).toBe(second);
});

test.each(SIGNALS)("the second %s ends a process whose loop was stuck before the first", async (signal) => {
  const { child, readOutput } = start("for (;;);");
  expect(await readOutput()).toContain("listening");
  child.kill(signal);
  // The first signal has been delivered when it is no longer pending.
  const waiting = async () =>
    /^(?:ShdPnd|SigPnd):\s*0*[1-9a-f]/m.test(await Bun.file(`/proc/${child.pid}/status`).text());
  if (process.platform === "linux") while (await waiting()) await Bun.sleep(1);
  expect(child.exitCode).toBeNull();
  child.kill(signal);
  await child.exited;
  expect(child.signalCode).toBe(signal);
});

test("one signal reaches a process whose loop runs", async () => {
  const { child, readOutput } = start("console.log(await stopped); process.exit(0);");
  expect(await readOutput()).toContain("listening");
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
});
