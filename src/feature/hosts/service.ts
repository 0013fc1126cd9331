/**
 * Decides which of several container engines get work. A host that an administrator drains stays drained after a
 * restart, until an administrator enables it.
 */
import { toTimestamp } from "../../core/clock.ts";
import type { DockerHost } from "../../core/docker-options.ts";
import { expectFound, notFound } from "../../core/errors.ts";
import { actedBy, type Caller } from "../../http/caller.ts";
import { drainedHosts } from "../../store/tables/hosts.ts";
import type { EngineService } from "../engine/feature.ts";
import type { Core } from "../feature.ts";
import { hostsChanged } from "./events.ts";
import type { Host } from "./model.ts";

interface HostsDeps extends Pick<Core, "store" | "clock" | "audit"> {
  configured: readonly DockerHost[];
  /** Undefined when agents do not work on several engines. */
  engines: EngineService["hosts"];
}

export type Hosts = ReturnType<typeof createHosts>;

export function createHosts({ store, clock, audit, configured, engines }: HostsDeps) {
  const rows = store.rows(drainedHosts);
  for (const { name } of rows.list([], { order: "name" })) engines?.setDrained(name, true);
  engines?.onChange(({ change }) => store.emitSoon(hostsChanged, { data: { change } }));

  /** The hosts in the order of the configuration. Asks each of them for its state. */
  async function list(): Promise<Host[]> {
    const [states, drained] = [await engines?.look(), rows.list([], { order: "name" })];
    return (states ?? []).map(({ name, slots, used, away }) => {
      const drained_at = drained.find((row) => row.name === name)?.drained_at ?? null;
      const state = drained_at === null ? (away === undefined ? "ready" : "away") : used > 0 ? "draining" : "drained";
      const entry = configured.find((host) => host.name === name);
      const address = withoutPassword(entry?.address ?? "");
      return { name, address, state, labels: entry?.labels ?? [], slots, used, error: away ?? null, drained_at };
    });
  }
  /** @throws Problem 404. */
  async function get(name: string): Promise<Host> {
    const host = (await list()).find((one) => one.name === name);
    return expectFound(host, "host");
  }
  /** Drains or enables a host; repeating a call changes nothing. @throws Problem 404. */
  async function set(name: string, drained: boolean, caller: Caller): Promise<Host> {
    if (!engines || !configured.some((host) => host.name === name)) throw notFound("host");
    store.write(({ emit, after }) => {
      const row = { name, drained_at: toTimestamp(clock.now()) };
      const isChange = drained ? rows.insertIfNew(row) : rows.remove({ name }) > 0;
      if (!isChange) return;
      const change = drained ? "drained" : "enabled";
      audit({ action: `host.${change}`, ...actedBy(caller), subject: name });
      emit(hostsChanged, { data: { change } });
      after(() => engines.setDrained(name, drained));
    });
    return await get(name);
  }
  return {
    list,
    get,
    drain: (name: string, caller: Caller) => set(name, true, caller),
    enable: (name: string, caller: Caller) => set(name, false, caller),
  };
}

function withoutPassword(address: string): string {
  const url = URL.parse(address);
  if (!url?.password) return address;
  url.password = "";
  return url.href;
}
