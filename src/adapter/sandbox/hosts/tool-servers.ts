/**
 * Tool servers on several engines: each begins where the fewest are, and stays there, since what it keeps is there. So it waits for
 * its host rather than begin elsewhere with nothing.
 */
import { messageOf, unavailable } from "../../../core/errors.ts";
import type { ToolServers } from "../../../engine/tool-servers.ts";

export interface ToolServerHost {
  name: string;
  servers: ToolServers;
  /** Whether it has what that server keeps. Rejects when it does not answer. */
  keeps(server: string): Promise<boolean>;
}

export interface HostedToolServersDeps {
  hosts: readonly ToolServerHost[];
  isDrained(host: string): boolean;
  /** Where each has its files; outlives this process. */
  homes: {
    find(server: string): string | undefined;
    set(server: string, host: string): void;
    forget(server: string): void;
  };
}

interface Asked {
  host: ToolServerHost;
  keeps: boolean;
  /** Why it does not answer. */
  away?: string;
}

const unusable = (why: string) => unavailable("sandbox_unavailable", why);

export function createHostedToolServers({ hosts, isDrained, homes }: HostedToolServersDeps): ToolServers {
  /** By host, the servers that run there. */
  const running = new Map(hosts.map(({ name }) => [name, new Set<object>()]));
  /** By host, whether what an earlier process left there is gone. */
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
  /** Counts it there at once: of two that begin together, the second goes elsewhere. @throws Problem 503 with what to do about it. */
  async function take(server: string, own: object): Promise<ToolServerHost> {
    const home = homeOf(server);
    const host = home ?? choose(await Promise.all(hosts.map((one) => ask(one, server))));
    running.get(host.name)?.add(own);
    return host;
  }
  /** @throws Problem 503. */
  function homeOf(server: string): ToolServerHost | undefined {
    const home = homes.find(server);
    if (home === undefined) return undefined;
    const host = hosts.find(({ name }) => name === home);
    if (!host)
      throw unusable(
        `What it keeps is on the host ${home}, which DOCKER_HOSTS names no longer. Name it again, or delete the tool server.`,
      );
    assertUsed(host);
    return host;
  }
  async function ask(host: ToolServerHost, server: string): Promise<Asked> {
    try {
      return { host, keeps: await host.keeps(server) };
    } catch (error) {
      return { host, keeps: false, away: messageOf(error) };
    }
  }
  /** @throws Problem 503. */
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
    throw unusable(`No host can take it now: ${reasons.join("; ")}.`);
  }
  /** @throws Problem 503. */
  function assertUsed({ name }: ToolServerHost): void {
    if (!isDrained(name)) return;
    throw unusable(
      `What it keeps is on the host ${name}, which is drained. Use it again with: skep hosts enable ${name}`,
    );
  }
  const countOf = ({ name }: ToolServerHost): number => running.get(name)?.size ?? 0;
  const each = async (act: (host: ToolServerHost) => Promise<void>): Promise<void> => {
    const all = await Promise.allSettled(hosts.map(act));
    // One that does not answer holds up none of the others.
    if (all.every(({ status }) => status === "rejected")) throw unusable("None of the hosts of DOCKER_HOSTS answers.");
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
        // It has kept nothing there yet.
        if (isNew) homes.forget(spec.server);
        throw error;
      }
    },
    async sweep(lives) {
      isThere = lives;
      await each(sweepOnce);
    },
    async forget(server) {
      homes.forget(server);
      await each(({ servers }) => servers.forget(server));
    },
    close: async () => void (await Promise.allSettled(hosts.map(({ servers }) => servers.close()))),
  };
}
