/**
 * Administrators decide which hosts get work. The decision survives restarts, is audited, and is shown to those who
 * look.
 */
import { afterAll, expect, test } from "bun:test";
import type { HostChange, HostState } from "../../adapter/sandbox/hosts/driver.ts";
import { type Clock, systemClock } from "../../core/clock.ts";
import { readDockerHosts } from "../../core/docker-options.ts";
import { LOCAL_ADMIN } from "../../http/caller.ts";
import { createAudit } from "../../store/audit.ts";
import { openStore } from "../../store/store.ts";
import { audit as auditTable } from "../../store/tables/foundation.ts";
import { createHosts } from "./service.ts";

const clock: Clock = { ...systemClock, now: () => 1_800_000_000_000 };
const store = openStore({ path: ":memory:", clock, checkEvents: true });
afterAll(() => store.close());
const changes: unknown[] = [];
store.onCommit((events) => {
  for (const { kind, data } of events) changes.push([kind, data["change"]]);
});
const configured = readDockerHosts(["big=ssh://me@big slots=4 labels=gpu,fast", "tcp://me:secret@small:2376"])!;

/** A process of the server, with simulated engines. */
function life() {
  const states: HostState[] = configured.map(({ name, slots }) => ({
    name,
    slots,
    used: 0,
    away: undefined,
    drained: false,
  }));
  const listeners: ((change: HostChange) => void)[] = [];
  const engines = {
    look: async () => states,
    setDrained(name: string, drained: boolean) {
      for (const state of states) if (state.name === name) state.drained = drained;
    },
    onChange: (listener: (change: HostChange) => void) => void listeners.push(listener),
  };
  const hosts = createHosts({ store, clock, audit: createAudit(store, clock), configured, engines });
  return { hosts, states, tell: (change: HostChange) => listeners.map((listener) => listener(change)) };
}

test("a host that is drained stays so over restarts until it is enabled, each change once in the audit log and the events", async () => {
  const { hosts, states, tell } = life();
  states[0]!.used = 2;
  const drained_at = new Date(clock.now()).toISOString();
  expect(await hosts.drain("big", LOCAL_ADMIN)).toEqual({
    name: "big",
    address: "ssh://me@big",
    state: "draining",
    labels: ["gpu", "fast"],
    slots: 4,
    used: 2,
    error: null,
    drained_at,
  });
  expect(states.map(({ drained }) => drained)).toEqual([true, false]);
  states[0]!.used = 0;
  // Draining a second time changes nothing.
  expect((await hosts.drain("big", LOCAL_ADMIN)).state).toBe("drained");

  const later = life();
  expect(later.states.map(({ drained }) => drained)).toEqual([true, false]);
  later.states[1]!.away = "It does not answer.";
  expect(await later.hosts.list()).toMatchObject([
    { name: "big", state: "drained", drained_at },
    { name: "small", address: "tcp://me@small:2376", state: "away", error: "It does not answer.", drained_at: null },
  ]);
  expect(await later.hosts.enable("big", LOCAL_ADMIN)).toMatchObject({ state: "ready", drained_at: null });
  await later.hosts.enable("big", LOCAL_ADMIN);
  expect(life().states.map(({ drained }) => drained)).toEqual([false, false]);

  const unknown = [
    () => hosts.get("far"),
    () => hosts.drain("far", LOCAL_ADMIN),
    () => hosts.enable("far", LOCAL_ADMIN),
  ];
  for (const act of unknown) await expect(act()).rejects.toMatchObject({ status: 404 });
  tell({ name: "small", change: "lost" });
  store.flush();
  const said = ["drained", "enabled", "lost"];
  expect(changes).toEqual(said.map((change) => ["hosts_changed", change]));
  const entries = store.rows(auditTable).list([], { order: "id" });
  expect(entries.map(({ action, subject }) => [action, subject])).toEqual([
    ["host.drained", "big"],
    ["host.enabled", "big"],
  ]);
});

test("a server with one container engine has no hosts", async () => {
  const hosts = createHosts({ store, clock, audit: () => {}, configured: [], engines: undefined });
  expect(await hosts.list()).toEqual([]);
  await expect(hosts.drain("local", LOCAL_ADMIN)).rejects.toMatchObject({ status: 404 });
});
