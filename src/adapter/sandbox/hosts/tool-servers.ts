/**
 * Tool servers on several engines. Each starts on the host with the fewest servers and stays there, because its data is
 * there. If that host is away, the server waits instead of starting elsewhere without its data.
 */
import { messageOf, unavailable } from "../../../core/errors.ts";
import type { ToolServers } from "../../../engine/tool-servers.ts";

export interface ToolServerHost {
  name: string;
  servers: ToolServers;
  /** Whether the host has data of that server. Rejects when the host does not answer. */
  hasVolumes(server: string): Promise<boolean>;
}

export interface HostedToolServersDeps {
  hosts: readonly ToolServerHost[];
  isDrained(host: string): boolean;
  /** The host that has each server's data; stored beyond this process. */
  homes: {
    find(server: string): string | undefined;
    set(server: string, host: string): void;
    forget(server: string): void;
  };
}

interface Asked {
  host: ToolServerHost;
  keeps: boolean;
  /** Why the host does not answer. */
  away?: string;
}

const createProblem = (why: string) => unavailable("sandbox_unavailable", why);

export function createHostedToolServers({ hosts, isDrained, homes }: HostedToolServersDeps): ToolServers {
  /** The running servers, by host. */
  const running = new Map(hosts.map(({ name }) => [name, new Set<object>()]));
  /** By host: the removal of what an earlier process left there. */
  const swept = new Map<string, Promise<void>>();
  let isThere: (server: string) => boolean = () => true;

  function sweepOnce({ name, servers }: ToolServerHost): Promise<void> {
    const known = swept.get(name);
    if (known) return known;
    const sweeping = servers.sweep((server) => isThere(server));
    swept.set(name, sweeping);
    sweeping.catch(() => swept.delete(name));
    return sweeping;
  }
  /**
   * Chooses a host and counts the server there at once, so that of two that start together, the second goes elsewhere.
   * @throws Problem 503 with what to do about it.
   */
  async function take(server: string, own: object): Promise<ToolServerHost> {
    const home = homeOf(server);
    const host = home ?? choose(await Promise.all(hosts.map((one) => ask(one, server))));
    running.get(host.name)?.add(own);
    return host;
  }
  /** The host that has the server's data; undefined when there is none. @throws Problem 503. */
  function homeOf(server: string): ToolServerHost | undefined {
    const home = homes.find(server);
    if (home === undefined) return undefined;
    const host = hosts.find(({ name }) => name === home);
    if (!host)
      throw createProblem(
        `What it keeps is on the host ${home}, which DOCKER_HOSTS names no longer. Name it again, or delete the tool server.`,
      );
    assertUsed(host);
    return host;
  }
  async function ask(host: ToolServerHost, server: string): Promise<Asked> {
    try {
      return { host, keeps: await host.hasVolumes(server) };
    } catch (error) {
      return { host, keeps: false, away: messageOf(error) };
    }
  }
  /** Chooses the host that has the server's data, or else the one with the fewest servers. @throws Problem 503. */
  function choose(asked: readonly Asked[]): ToolServerHost {
    const free = asked.filter(({ host, away }) => away === undefined && !isDrained(host.name));
    const [best] = free.toSorted((one, other) => countOf(one.host) - countOf(other.host));
    const keeper = asked.find(({ keeps }) => keeps)?.host;
    if (keeper) assertUsed(keeper);
    const chosen = keeper ?? best?.host;
    if (chosen) return chosen;
    const reasons = asked.map(({ host, away }) =>
      away === undefined ? `${host.name} is drained` : `${host.name}: ${away.replace(/\.$/, "")}`,
    );
    throw createProblem(`No host can take it now: ${reasons.join("; ")}.`);
  }
  /** Checks that the host is not drained. @throws Problem 503. */
  function assertUsed({ name }: ToolServerHost): void {
    if (!isDrained(name)) return;
    throw createProblem(
      `What it keeps is on the host ${name}, which is drained. Use it again with: skep hosts enable ${name}`,
    );
  }
  const countOf = ({ name }: ToolServerHost): number => running.get(name)?.size ?? 0;
  const actOnEach = async (act: (host: ToolServerHost) => Promise<void>): Promise<void> => {
    const all = await Promise.allSettled(hosts.map(act));
    // A host that does not answer does not stop the others.
    if (all.every(({ status }) => status === "rejected"))
      throw createProblem("None of the hosts of DOCKER_HOSTS answers.");
  };

  return {
    async open(spec, events, signal) {
      const isNew = homes.find(spec.server) === undefined;
      const own = {};
      const host = await take(spec.server, own);
      try {
        await sweepOnce(host);
        if (isNew) homes.set(spec.server, host.name);
        const pipe = await host.servers.open(spec, events, signal);
        const ended = pipe.ended.finally(() => running.get(host.name)?.delete(own));
        return { ...pipe, ended };
      } catch (error) {
        running.get(host.name)?.delete(own);
        // The server has no data there yet.
        if (isNew) homes.forget(spec.server);
        throw error;
      }
    },
    async sweep(lives) {
      isThere = lives;
      await actOnEach(sweepOnce);
    },
    async forget(server) {
      homes.forget(server);
      await actOnEach(({ servers }) => servers.forget(server));
    },
    close: async () => void (await Promise.allSettled(hosts.map(({ servers }) => servers.close()))),
  };
}
