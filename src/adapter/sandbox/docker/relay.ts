/**
 * Routes into a container: a program inside connects to a port of its own loopback, and the server gets the connection.
 *
 * This is the only way out of a container with `network: none`. Its network namespace has only a loopback interface, so
 * no packet can be addressed to the host, to another container or to the internet. That depends on no firewall rule;
 * there is no bridge with an address on which the host's other ports listen, no resolver and no IPv6.
 * The relay inside carries its connections through the standard input and output of one `exec`, which the server holds.
 * The server decides about each connection, and knows its container from the `exec`. An agent that kills or imitates
 * the relay can only send such connections, which it can make anyway.
 *
 * In the other direction, for previews, the server lets the relay connect to a port of that loopback, which reaches
 * only programs of this container.
 *
 * Alternatives: in a network made with `--internal`, before Docker 28's isolated gateways, the bridge has an address on
 * the host, through which services that listen on 0.0.0.0 are reachable. A Unix socket mounted into the container works
 * neither with gVisor and Kata nor with an engine on another machine; `exec` works with all of them.
 */
import type { Duplex } from "node:stream";
import { isProblem, messageOf, Problem, unavailable } from "../../../core/errors.ts";
import { memoizeAsync } from "../../../core/once.ts";
import type { Route, Sandbox } from "../../../engine/sandbox.ts";
import type { RunningExec } from "../../docker/exec.ts";
import type { DockerClient } from "../../docker.ts";
import { createRelayConnections, type RelayConnections } from "../relay/connections.ts";

/** Path in the container at which the relay's program is mounted, read-only. */
export const RELAY_PATH = "/run/skep-relay";
const MAX_ROUTES = 8;
/** Most restarts of a relay that ended while its container runs. */
const RESTARTS = 20;

interface RelayDeps {
  docker: { containers: Pick<DockerClient["containers"], "exec"> };
  containerId: string;
  /** `uid:gid` of the user that may run the program. */
  user: string;
  /** Path of the program in the container. */
  program: string;
}

export type ContainerRelay = ReturnType<typeof createContainerRelay>;

/**
 * The routes of a sandbox; opening one fails if the sandbox was started without a relay.
 * @param ready resolves when the relay can be used. @throws Problem as the relay's `openRoute` and `connect`.
 */
export function routesThrough(
  relay: ContainerRelay | undefined,
  ready: () => Promise<void> | undefined,
): Pick<Sandbox, "openRoute" | "connect"> {
  const requireRelay = async (): Promise<ContainerRelay> => {
    await ready();
    if (relay) return relay;
    throw unavailable("network_unguarded", "This sandbox was started without a way for routes.");
  };
  return {
    openRoute: async (onConnection) => await (await requireRelay()).openRoute(onConnection),
    connect: async (port) => await (await requireRelay()).connect(port),
  };
}

interface OpenRoute {
  port: number;
  onConnection(connection: Duplex): void;
}

/** Makes the relay of a container. It starts when the first route is opened, or the first connection is made. */
export function createContainerRelay({ docker, containerId, user, program }: RelayDeps) {
  const routes = new Set<OpenRoute>();
  let exec: RunningExec | undefined;
  let ended = false;
  /** Whether the container is being restarted, which ends everything in it. */
  let isDown = false;
  let restartsLeft = RESTARTS;

  async function start(): Promise<RelayConnections> {
    let started: RunningExec | undefined;
    const connections = createRelayConnections((bytes) => started?.write(bytes));
    started = await docker.containers.exec(containerId, {
      argv: [program],
      user,
      cwd: "/",
      keepsInput: true,
      onOutput: (stream, chunk) => {
        if (stream === "stdout") connections.feed(chunk);
      },
    });
    if (isDown) {
      started.closed.catch(() => {});
      started.detach();
      throw new Error("the container is being started again");
    }
    exec = started;
    const handleEnd = () => {
      connections.end();
      if (exec === started) begin.forget();
      // If an agent ends its relay, it is started again, a limited number of times. After a restart of the container,
      // an old relay must not take the ports of the new one.
      if (ended || isDown || exec !== started || routes.size === 0 || restartsLeft-- <= 0) return;
      void begin().catch(() => {});
    };
    started.closed.then(handleEnd, handleEnd);
    for (const route of routes) await connections.listen(route.port, route.onConnection);
    return connections;
  }
  const begin = memoizeAsync(start);
  return {
    async openRoute(onConnection: (connection: Duplex) => void): Promise<Route> {
      if (routes.size >= MAX_ROUTES) throw new Error(`A sandbox has at most ${MAX_ROUTES} routes.`);
      try {
        const open = new Set<Duplex>();
        const handleConnection = (connection: Duplex) => {
          if (!routes.has(route)) return void connection.destroy();
          open.add(connection);
          connection.once("close", () => open.delete(connection));
          onConnection(connection);
        };
        const port = await (await begin()).listen(0, handleConnection);
        const route: OpenRoute = { port, onConnection: handleConnection };
        routes.add(route);
        const close = () => {
          routes.delete(route);
          for (const connection of open) connection.destroy();
        };
        return { host: "127.0.0.1", port, close };
      } catch (error) {
        if (isProblem(error) && error.code !== "network_unguarded")
          throw unavailable("sandbox_lost", `The sandbox is gone: ${messageOf(error)}`);
        throw unavailable("network_unguarded", `The sandbox's way out could not be opened: ${messageOf(error)}.`);
      }
    },
    /**
     * Connects to a port in the container. @throws Problem 502 `nothing_listens`, 503 `sandbox_lost`,
     * `network_unguarded`.
     */
    async connect(port: number): Promise<Duplex> {
      let relay: RelayConnections;
      try {
        relay = await begin();
      } catch (error) {
        throw unavailable("sandbox_lost", `The sandbox cannot be reached: ${messageOf(error)}`);
      }
      try {
        return await relay.connect(port);
      } catch (error) {
        throw new Problem(502, "nothing_listens", `Port ${port} of the sandbox does not answer: ${messageOf(error)}.`);
      }
    },
    /** Restarts the relay with the same ports. @param restart restarts the container. */
    async restartWith(restart: () => Promise<void>): Promise<void> {
      isDown = true;
      try {
        await restart();
      } finally {
        isDown = false;
      }
      if (ended) return;
      exec?.detach();
      begin.forget();
      if (routes.size > 0) await begin();
    },
    end(): void {
      ended = true;
      exec?.detach();
    },
  };
}
