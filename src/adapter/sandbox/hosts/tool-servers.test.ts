/** On which of several machines tool servers run. */
import { expect, test } from "bun:test";
import { unavailable } from "../../../core/errors.ts";
import type { Pipe } from "../../../core/pipe.ts";
import { createHostedToolServers } from "./tool-servers.ts";

const events = { onStdout() {}, onStderr() {} };
const { signal } = new AbortController();
const specOf = (server: string) => ({
  server,
  image: "x",
  args: [],
  env: {},
  network: "none" as const,
  memoryMb: 64,
  folder: "/nonexistent",
});

function machine(name: string) {
  const ends = new Map<string, (why: string) => void>();
  const state = {
    name,
    isThere: true,
    kept: new Set<string>(),
    opened: [] as string[],
    swept: 0,
    forgotten: [] as string[],
  };
  const answer = (): void => {
    if (!state.isThere) throw unavailable("sandbox_unavailable", "It does not answer.");
  };
  const host = {
    name,
    async hasVolumes(server: string) {
      answer();
      return state.kept.has(server);
    },
    servers: {
      async open({ server }: { server: string }): Promise<Pipe> {
        answer();
        state.opened.push(server);
        state.kept.add(server);
        const { promise, resolve } = Promise.withResolvers<string>();
        ends.set(server, resolve);
        return { ended: promise, write: async () => {}, pause() {}, resume() {}, kill: async () => resolve("killed") };
      },
      async sweep() {
        answer();
        state.swept += 1;
      },
      async forget(server: string) {
        answer();
        state.forgotten.push(server);
      },
      close: async () => {},
    },
  };
  return { host, state };
}

function process(machines: readonly ReturnType<typeof machine>[], known: Map<string, string>, drained: Set<string>) {
  return createHostedToolServers({
    hosts: machines.map(({ host }) => host),
    isDrained: (name) => drained.has(name),
    homes: {
      find: (server) => known.get(server),
      set: (server, host) => void known.set(server, host),
      forget: (server) => void known.delete(server),
    },
  });
}

test("tool servers spread over the hosts, and each begins again where it keeps its files, also in another process", async () => {
  const [one, two] = [machine("one"), machine("two")];
  const [homes, drained] = [new Map<string, string>(), new Set<string>()];
  const servers = process([one, two], homes, drained);
  await servers.sweep(() => true);
  const pipes = await Promise.all(["a", "b", "c"].map((server) => servers.open(specOf(server), events, signal)));
  expect([one.state.opened, two.state.opened]).toEqual([["a", "c"], ["b"]]);
  await pipes[1]!.kill();
  await pipes[1]!.ended;
  expect((await servers.open(specOf("d"), events, signal)) && two.state.opened).toEqual(["b", "d"]);

  const later = process([one, two], homes, drained);
  await later.open(specOf("b"), events, signal);
  expect(two.state.opened).toEqual(["b", "d", "b"]);
  // What the earlier process left on a host is removed once, before anything is started there.
  await later.open(specOf("d"), events, signal);
  expect([one.state.swept, two.state.swept]).toEqual([1, 2]);
});

test("it waits for the host that has its files, and says for which and why", async () => {
  const [one, two] = [machine("one"), machine("two")];
  const [homes, drained] = [new Map<string, string>(), new Set(["one"])];
  const servers = process([one, two], homes, drained);
  const open = (server: string) => servers.open(specOf(server), events, signal);
  await open("a");
  expect(two.state.opened).toEqual(["a"]);
  two.state.isThere = false;
  await expect(open("a")).rejects.toThrow("It does not answer.");
  await expect(open("new")).rejects.toThrow("No host can take it now: one is drained; two: It does not answer.");
  // The server has no data yet, so it may start anywhere later.
  expect([...homes]).toEqual([["a", "two"]]);
  two.state.isThere = true;
  drained.add("two");
  await expect(open("a")).rejects.toThrow("Use it again with: skep hosts enable two");
  drained.clear();
  await open("a");
  await expect(process([one], homes, drained).open(specOf("a"), events, signal)).rejects.toThrow(
    "What it keeps is on the host two, which DOCKER_HOSTS names no longer.",
  );
  // Data from a version that did not store which host has it.
  one.state.kept.add("old");
  drained.add("one");
  await expect(open("old")).rejects.toThrow("What it keeps is on the host one, which is drained.");
  drained.clear();
  await open("old");
  expect([one.state.opened, homes.get("old")]).toEqual([["old"], "one"]);
  two.state.isThere = false;
  await servers.forget("a");
  expect([one.state.forgotten, homes.has("a")]).toEqual([["a"], false]);
});
