/**
 * The networks of sandboxes. `bridge` executions of one instance share one network without traffic between containers.
 * A second one, internal and without an address on the host, takes all of 169.254.0.0/16 inside every container, so
 * that the cloud's metadata service (169.254.169.254) is unreachable: packets for it go to a bridge where nobody answers.
 * That needs no privilege on the host and changes no route of it. It is shared by all instances on a host, because
 * Docker gives an address range to one network only.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { isProblem, messageOf } from "../../../core/errors.ts";
import type { DockerClient, EngineInfo } from "../../docker.ts";
import { LABELS } from "./container-spec.ts";

export const GUARD_NETWORK = "skep-link-local-guard";
const GUARD_LABEL = "skep.guard";
/** The first API version of whose engines it is known that they can leave the bridge without an address. */
const GUARD_API_VERSION = 1.41;

export interface SandboxNetworks {
  /** Name of this instance's network, made when needed. */
  bridge(): Promise<string>;
  /** Connects a container that has not been started to the guard. False when this engine cannot have one. */
  guard(containerId: string): Promise<boolean>;
  /** The networks are looked for again when they are next needed. */
  forget(): void;
  /** Removes what no container uses. */
  close(): Promise<void>;
}

export interface NetworkDeps {
  docker: DockerClient;
  instanceId: string;
  engine(): Promise<EngineInfo>;
  /** Told once when the metadata address stays reachable, and why. */
  onNotice(message: string): void;
}

export function createSandboxNetworks({ docker, instanceId, engine, onNotice }: NetworkDeps): SandboxNetworks {
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
  const guardNetwork = once(() => makeGuard(docker, engine));
  let noticed = false;
  const connect = async (containerId: string) => {
    await guardNetwork();
    await docker.networks.connect(GUARD_NETWORK, containerId);
  };
  const forget = () => {
    bridge.forget();
    guardNetwork.forget();
  };
  return {
    bridge: async () => {
      await bridge();
      return name;
    },
    guard: async (containerId) => {
      try {
        // Another instance may have removed it in between.
        await connect(containerId).catch((error) => {
          if (!isProblem(error) || error.code !== "docker_not_found") throw error;
          guardNetwork.forget();
          return connect(containerId);
        });
        return true;
      } catch (error) {
        if (isProblem(error) && error.code === "docker_unavailable") throw error;
        if (!noticed) onNotice(`Sandboxes with a network can reach 169.254.169.254: ${messageOf(error)}`);
        noticed = true;
        return false;
      }
    },
    forget,
    close: async () => {
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

async function makeGuard(docker: DockerClient, engine: () => Promise<EngineInfo>): Promise<void> {
  const info = await engine();
  if (info.engine !== "docker" || Number(info.apiVersion) < GUARD_API_VERSION)
    throw new Error(`${info.engine} ${info.version} cannot make a network without an address on the host`);
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

interface Once {
  (): Promise<void>;
  /** The next call does it again. */
  forget(): void;
}

/** Does something once, for all callers at once; a failure is tried again by the next caller. */
function once(act: () => Promise<void>): Once {
  let running: Promise<void> | undefined;
  const call = () => {
    running ??= act().catch((error) => {
      running = undefined;
      throw error;
    });
    return running;
  };
  return Object.assign(call, {
    forget: () => {
      running = undefined;
    },
  });
}
