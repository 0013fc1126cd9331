/** Where work is placed among several machines, and what happens when one of them is lost. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../../../core/config.ts";
import { readDockerHosts } from "../../../core/docker-options.ts";
import { unavailable } from "../../../core/errors.ts";
import { newId } from "../../../core/ids.ts";
import type { Sandbox, SandboxSpec } from "../../../engine/sandbox.ts";
import { createProcessSandboxes } from "../process/driver.ts";
import { createHostedSandboxes, type Host } from "./driver.ts";

const root = mkdtempSync(join(tmpdir(), "skep-hosts-"));
afterAll(() => rmSync(root, { recursive: true }));
const never = new AbortController().signal;
const createProblem = () => unavailable("sandbox_unavailable", "It does not answer.");

/** A machine that can be lost. Its sandboxes are processes on this one. */
function machine(name: string, slots: number, labels: string[] = []) {
  const driver = createProcessSandboxes({ allowHostShell: true, instanceId: newId("instance") });
  const state = { isThere: true, started: [] as string[], live: (_: string): boolean => false };
  const there = async <T>(act: () => Promise<T>): Promise<T> => {
    if (!state.isThere) throw createProblem();
    return await act();
  };
  const host: Host = {
    name,
    slots,
    labels,
    ping: () => there(async () => {}),
    driver: {
      ...driver,
      close: async () => {},
      start: (spec, signal) =>
        there(async () => {
          state.started.push(spec.executionId);
          const sandbox = await driver.start(spec, signal);
          const stop = () => there(() => sandbox.stop());
          return { ...sandbox, exec: (...how) => there(() => sandbox.exec(...how)), stop, freeze: stop };
        }),
      sweep: (isLive) =>
        there(async () => {
          state.live = isLive;
          return { removed: 0, left: [] };
        }),
    },
  };
  return { host, state };
}
const specOf = (home = mkdtempSync(join(root, "home-")), executionId = newId("execution")): SandboxSpec => ({
  executionId,
  sessionId: newId("session"),
  agentId: "engineer",
  network: "none" as const,
  memoryMb: 64,
  cpus: 1,
  env: {},
  home,
});
const readOutput = async (sandbox: Sandbox) =>
  (await sandbox.exec(["echo", "on"], { timeoutMs: 240_000, maxOutputBytes: 100 })).output;

test("work goes where most is free, and to the machine that has its files; when all are full it says so", async () => {
  const [small, big] = [machine("small", 1), machine("big", 3)];
  const driver = createHostedSandboxes([small.host, big.host]);
  const specs = [specOf(), specOf(), specOf(), specOf()];
  const open = [];
  for (const spec of specs) open.push(await driver.start(spec, never));
  expect([small.state.started.length, big.state.started.length]).toEqual([1, 3]);
  await expect(driver.start(specOf(), never)).rejects.toMatchObject({
    code: "sandbox_unavailable",
    detail: "No host can take the work now: small has 1 of 1 sandboxes; big has 3 of 3 sandboxes. It waits.",
  });
  // Another agent on the same files joins the machine that uses them.
  const joined = await driver.start(specOf(specs[0]!.home), never);
  expect(small.state.started).toHaveLength(2);
  for (const one of [...open, joined]) await Promise.all([one.stop(), one.stop()]);
  expect((await driver.look()).map(({ used }) => used)).toEqual([0, 0]);
  const again = specOf(specs[0]!.home);
  await (await driver.start(again, never)).stop();
  expect(small.state.started.at(-1)).toBe(again.executionId);
});

test("work of a machine that is gone goes on on another, never on both, and what it left is swept when it is back", async () => {
  const [one, two] = [machine("one", 4), machine("two", 4)];
  const driver = createHostedSandboxes([one.host, two.host]);
  const spec = specOf();
  const first = await driver.start(spec, never);
  const beside = await driver.start(specOf(spec.home), never);
  expect(one.state.started).toHaveLength(2);
  one.state.isThere = false;
  await expect(readOutput(first)).rejects.toMatchObject({ code: "sandbox_unavailable" });
  // A sandbox that cannot be stopped on the lost machine blocks nothing here.
  await first.freeze();
  await first.stop();
  await expect(first.workspace.read("x")).rejects.toMatchObject({ code: "sandbox_lost" });
  const second = await driver.start(spec, never);
  expect([await readOutput(second), two.state.started]).toEqual(["on\n", [spec.executionId]]);
  one.state.isThere = true;
  await expect(readOutput(beside)).rejects.toMatchObject({ code: "sandbox_lost" });
  await driver.sweep(() => true);
  expect([one.state.live(spec.executionId), two.state.live(spec.executionId)]).toEqual([false, true]);
  await second.stop();
  // The execution was on `one` before, where its files are outdated by now.
  two.state.isThere = false;
  await expect(driver.start(spec, never)).rejects.toThrow("No host can take the work now: two: It does not answer.");
  await expect(driver.sweep(() => true)).resolves.toEqual({ removed: 0, left: [] });
  one.state.isThere = false;
  await expect(driver.sweep(() => true)).rejects.toMatchObject({ code: "sandbox_unavailable" });
  await beside.stop();
});

test("a drained host gets no new work, what works there ends there, and its waiting chats begin their next turn elsewhere", async () => {
  const [one, two] = [machine("one", 4), machine("two", 1)];
  const driver = createHostedSandboxes([one.host, two.host]);
  const changes: string[] = [];
  driver.onChange(({ name, change }) => changes.push(`${name} ${change}`));
  const first = await driver.start(specOf(), never);
  const spec = specOf();
  const working = await driver.start(spec, never);
  // Each sandbox goes to the machine with the larger share of free slots.
  expect([one.state.started.length, two.state.started.length]).toEqual([1, 1]);
  driver.setDrained("two", true);
  expect([await working.isAlive(), await first.isAlive(), await readOutput(working)]).toEqual([false, true, "on\n"]);
  // Work on the same files joins the machine even though it is drained, because files can only be used on one machine.
  const joined = await driver.start(specOf(spec.home), never);
  expect(two.state.started).toHaveLength(2);
  await Promise.all([joined.stop(), working.stop()]);
  const next = await driver.start(specOf(spec.home), never);
  expect(one.state.started).toHaveLength(2);
  driver.setDrained("one", true);
  await expect(driver.start(specOf(), never)).rejects.toMatchObject({
    code: "sandbox_unavailable",
    detail: "No host can take the work now: one is drained; two is drained. It waits.",
  });
  expect((await driver.look()).map(({ used, drained }) => [used, drained])).toEqual([
    [2, true],
    [0, true],
  ]);
  driver.setDrained("two", false);
  const enabled = await driver.start(specOf(), never);
  expect(two.state.started).toHaveLength(3);
  two.state.isThere = false;
  await driver.look();
  await driver.look();
  two.state.isThere = true;
  await driver.look();
  expect(changes).toEqual(["two lost", "two back"]);
  for (const sandbox of [first, next, enabled]) await sandbox.stop();
});

test("work that wants labels goes to a host that has all of them and nowhere else, or waits and says why", async () => {
  const [small, big] = [machine("small", 4), machine("big", 2, ["gpu", "fast"])];
  const driver = createHostedSandboxes([small.host, big.host]);
  const wanting = (hostLabels: string[], home?: string): SandboxSpec => ({ ...specOf(home), hostLabels });
  const expectRefusal = async (spec: SandboxSpec, detail: string) =>
    expect(driver.start(spec, never)).rejects.toMatchObject({ code: "sandbox_unavailable", detail });
  const open = [await driver.start(wanting(["gpu"]), never), await driver.start(wanting(["big", "fast"]), never)];
  expect([small.state.started.length, big.state.started.length]).toEqual([0, 2]);
  await expectRefusal(wanting(["gpu"]), "No host can take the work now: big has 2 of 2 sandboxes. It waits.");
  await expectRefusal(
    wanting(["gpu", "huge"]),
    "No host has the labels gpu, huge. There are: small; big (gpu, fast). The work waits.",
  );
  const spec = wanting(["small"]);
  open.push(await driver.start(spec, never));
  expect(small.state.started).toHaveLength(1);
  await open[0]!.stop();
  await expectRefusal(
    wanting(["gpu"], spec.home),
    "No host can take the work now: its files are worked on at small, which has not all of its labels. It waits.",
  );
  await open[2]!.stop();
  // Files that nobody uses go to the machine that the work needs.
  open.push(await driver.start(wanting(["gpu"], spec.home), never));
  expect(big.state.started).toHaveLength(3);
  big.state.isThere = false;
  await expectRefusal(wanting(["fast"]), "No host can take the work now: big has 2 of 2 sandboxes. It waits.");
  big.state.isThere = true;
  await Promise.all(open.map((sandbox) => sandbox.stop()));
  big.state.isThere = false;
  await expectRefusal(wanting(["fast"]), "No host can take the work now: big: It does not answer. It waits.");
});

test("the list of hosts is taken in one form, each name once", () => {
  expect(readDockerHosts(["big=ssh://me@far slots=4", "tcp://near:2376 tls=/etc/skep/near"])).toEqual([
    { name: "big", address: "ssh://me@far", slots: 4, labels: [], tls: undefined },
    { name: "near", address: "tcp://near:2376", slots: 8, labels: [], tls: "/etc/skep/near" },
  ]);
  const labeled = "a=ssh://a labels=gpu,big slots=2, ssh://b labels=x";
  expect(readConfig({ DOCKER_HOSTS: labeled }).dockerHosts).toEqual([
    "a=ssh://a labels=gpu,big slots=2",
    "ssh://b labels=x",
  ]);
  expect(readDockerHosts(["a=ssh://a labels=gpu,big slots=2"])).toMatchObject([{ slots: 2, labels: ["gpu", "big"] }]);
  for (const wrong of [
    "ssh://a slots=2, gpu",
    "ssh://a labels=gpu,,x y=1",
    "ssh://a labels=-x",
    "ssh://a labels=gpu,fast/er",
  ])
    expect(() => readConfig({ DOCKER_HOSTS: wrong })).toThrow("DOCKER_HOSTS accepts");
  for (const wrong of ["far", "ssh://far slots=0", "ssh://far slots=x", "ssh://far what=1", "A=ssh://far"])
    expect([wrong, readDockerHosts([wrong])]).toEqual([wrong, undefined]);
  expect(readDockerHosts(["ssh://far", "tcp://far"])).toBeUndefined();
});
