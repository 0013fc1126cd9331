/**
 * The networks of sandboxes. All `bridge` executions of one instance share a network without traffic between
 * containers.
 * A second network, the guard, keeps containers from the cloud's metadata service (169.254.169.254). It is internal,
 * has no address on the host, and takes all of 169.254.0.0/16 inside every container. So packets for that service go to
 * a bridge where nobody answers.
 * The guard needs no privilege on the host and changes no route there. All instances on a host share it, because Docker
 * gives an address range to only one network.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { isProblem, messageOf, unavailable } from "../../../core/errors.ts";
import { memoizeAsync } from "../../../core/once.ts";
import type { DockerClient, EngineInfo } from "../../docker.ts";
import { LABELS } from "./container-spec.ts";

export const GUARD_NETWORK = "skep-link-local-guard";
const GUARD_LABEL = "skep.guard";
/** The first API version whose engines are known to support a bridge without an address. */
const GUARD_API_VERSION = 1.41;

export type SandboxNetworks = ReturnType<typeof createSandboxNetworks>;

interface NetworkDeps {
  docker: DockerClient;
  instanceId: string;
  engine(): Promise<EngineInfo>;
}

export function createSandboxNetworks({ docker, instanceId, engine }: NetworkDeps) {
  const name = `skep-${instanceId}`;
  const bridge = memoizeAsync(() =>
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
  const guardNetwork = memoizeAsync(() => makeGuard(docker));
  const connect = async (containerId: string) => {
    await guardNetwork();
    await docker.networks.connect(GUARD_NETWORK, containerId);
  };
  /** Forgets the networks, so that they are looked up again when next needed. */
  const forget = () => {
    bridge.forget();
    guardNetwork.forget();
  };
  return {
    /** Name of this instance's network, which is created when needed. */
    bridge: async (): Promise<string> => {
      // Checked first, so that no network is created on an engine that cannot isolate containers.
      assertGuardable(await engine());
      await bridge();
      return name;
    },
    /**
     * Connects a container that has not started yet to the guard.
     * @throws Problem 503 `network_unguarded` when that fails; the container must not be started then.
     */
    guard: async (containerId: string): Promise<void> => {
      try {
        // Another instance may have removed the guard in between.
        await connect(containerId).catch((error) => {
          if (!isProblem(error) || error.code !== "docker_not_found") throw error;
          guardNetwork.forget();
          return connect(containerId);
        });
      } catch (error) {
        // The driver tries again after these, and work waits for an engine that does not answer.
        if (isProblem(error) && RETRIED.has(error.code)) throw error;
        throw createUnguardedProblem(messageOf(error));
      }
    },
    forget,
    /** Removes the networks if no container uses them. */
    close: async (): Promise<void> => {
      forget();
      for (const network of [name, GUARD_NETWORK]) await docker.networks.remove(network).catch(() => {});
    },
  };
}

/**
 * Name of the bridge on the host, at most 15 characters. It lets an operator's firewall rule for `skep+` keep
 * containers from services on the host and in its network, which Skep itself cannot forbid.
 */
const interfaceName = (instanceId: string): string => `skep${instanceId.replace(/\W|_/g, "").slice(-11)}`;

const createUnguardedProblem = (why: string) =>
  unavailable(
    "network_unguarded",
    `This sandbox gets no network, because the cloud's metadata address (169.254.169.254) cannot be shut off in it: ${why}. Set \`network: none\` for the agent, or use Docker 20.10 or newer.`,
  );

function assertGuardable({ engine, version, apiVersion }: EngineInfo): void {
  if (engine === "docker" && Number(apiVersion) >= GUARD_API_VERSION) return;
  throw createUnguardedProblem(`${engine} ${version} cannot make a network without an address on the host`);
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

const RETRIED = new Set(["sandbox_unavailable", "docker_not_found"]);

/** Pause (ms) and number of attempts while another instance takes or returns an address range. */
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
      // The network of this range is being created or removed: soon it is listed, or the range is free.
      if (!/pool overlaps/i.test(messageOf(error)) || tries === RANGE_TRIES) throw error;
      await sleep(RANGE_MS);
    }
  }
}
