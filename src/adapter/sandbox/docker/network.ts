/**
 * The networks of sandboxes. `bridge` executions of one instance share one network without traffic between containers.
 * A second one, internal and without an address on the host, takes all of 169.254.0.0/16 inside every container, so
 * that the cloud's metadata service (169.254.169.254) is unreachable: packets for it go to a bridge where nobody answers.
 * That needs no privilege on the host and changes no route of it. It is shared by all instances on a host, because
 * Docker gives an address range to one network only.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { isProblem, messageOf, unavailable } from "../../../core/errors.ts";
import { once } from "../../../core/once.ts";
import type { DockerClient, EngineInfo } from "../../docker.ts";
import { LABELS } from "./container-spec.ts";

export const GUARD_NETWORK = "skep-link-local-guard";
const GUARD_LABEL = "skep.guard";
/** The first API version of whose engines it is known that they can leave the bridge without an address. */
const GUARD_API_VERSION = 1.41;

export type SandboxNetworks = ReturnType<typeof createSandboxNetworks>;

interface NetworkDeps {
  docker: DockerClient;
  instanceId: string;
  engine(): Promise<EngineInfo>;
}

export function createSandboxNetworks({ docker, instanceId, engine }: NetworkDeps) {
  const name = `skep-${instanceId}`;
  const bridge = once(() =>
    ensure(docker, {
      Name: name,
      Driver: "bridge",
      Labels: { [LABELS.instance]: instanceId },
      Options: {
        "com.docker.network.bridge.enable_icc": "false",
        "com.docker.network.bridge.name": interfaceName(instanceId),
      },
    }),
  );
  const guardNetwork = once(() => makeGuard(docker));
  const connect = async (containerId: string) => {
    await guardNetwork();
    await docker.networks.connect(GUARD_NETWORK, containerId);
  };
  /** The networks are looked for again when they are next needed. */
  const forget = () => {
    bridge.forget();
    guardNetwork.forget();
  };
  return {
    /** Name of this instance's network, made when needed. */
    bridge: async (): Promise<string> => {
      // Before anything is made: an engine that cannot keep containers apart gets no network of ours.
      assertGuardable(await engine());
      await bridge();
      return name;
    },
    /**
     * Connects a container that has not been started to the guard.
     * @throws Problem 503 `network_unguarded` when there is none: the container must not be started then.
     */
    guard: async (containerId: string): Promise<void> => {
      try {
        // Another instance may have removed it in between.
        await connect(containerId).catch((error) => {
          if (!isProblem(error) || error.code !== "docker_not_found") throw error;
          guardNetwork.forget();
          return connect(containerId);
        });
      } catch (error) {
        // The driver tries again after these.
        if (isProblem(error) && /^docker_(unavailable|not_found)$/.test(error.code)) throw error;
        throw unguarded(messageOf(error));
      }
    },
    forget,
    /** Removes what no container uses. */
    close: async (): Promise<void> => {
      forget();
      for (const network of [name, GUARD_NETWORK]) await docker.networks.remove(network).catch(() => {});
    },
  };
}

/**
 * The bridge's name on the host, at most 15 characters: a firewall's rule for `skep+` keeps containers from what
 * listens on the host and in its network, which is not ours to forbid.
 */
const interfaceName = (instanceId: string): string => `skep${instanceId.replace(/\W|_/g, "").slice(-11)}`;

const unguarded = (why: string) =>
  unavailable(
    "network_unguarded",
    `This sandbox gets no network, because the cloud's metadata address (169.254.169.254) cannot be shut off in it: ${why}. Set \`network: none\` for the agent, or use Docker 20.10 or newer.`,
  );

function assertGuardable({ engine, version, apiVersion }: EngineInfo): void {
  if (engine === "docker" && Number(apiVersion) >= GUARD_API_VERSION) return;
  throw unguarded(`${engine} ${version} cannot make a network without an address on the host`);
}

async function makeGuard(docker: DockerClient): Promise<void> {
  await ensure(docker, {
    Name: GUARD_NETWORK,
    Driver: "bridge",
    Internal: true,
    Labels: { [GUARD_LABEL]: "true" },
    IPAM: {
      Driver: "default",
      Config: [
        {
          Subnet: "169.254.0.0/16",
          IPRange: "169.254.64.0/18",
          AuxiliaryAddresses: { metadata: "169.254.169.254" },
        },
      ],
    },
    Options: {
      "com.docker.network.bridge.inhibit_ipv4": "true",
      "com.docker.network.bridge.enable_icc": "false",
    },
  });
}

/** How long, and how often, an address range is waited for that another instance is taking or giving back. */
const RANGE_MS = 100;
const RANGE_TRIES = 50;

async function ensure(docker: DockerClient, request: Parameters<DockerClient["networks"]["create"]>[0]): Promise<void> {
  for (let tries = 1; ; tries++) {
    const existing = await docker.networks.list([]);
    if (existing.some((network) => network.name === request.Name)) return;
    try {
      await docker.networks.create(request);
      return;
    } catch (error) {
      if (isProblem(error) && error.code === "docker_conflict") return;
      // The network of this range is just being made or removed: it is listed, or the range is free, in a moment.
      if (!/pool overlaps/i.test(messageOf(error)) || tries === RANGE_TRIES) throw error;
      await sleep(RANGE_MS);
    }
  }
}
