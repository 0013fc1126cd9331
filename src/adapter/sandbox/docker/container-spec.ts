/** The container an execution gets: everything that is locked down, in one place. */
import type Docker from "dockerode";
import type { SandboxSpec } from "../../../engine/sandbox.ts";
import type { EngineInfo } from "../../docker.ts";
import { MOUNT_POINT, type Owner } from "../workspace-path.ts";
import { cookieFolder } from "./cookie-file.ts";
import { CONTAINER_LIMITS, lockedDown } from "./lock-down.ts";

export const LABELS = {
  instance: "skep.instance",
  session: "skep.session",
  execution: "skep.execution",
  agent: "skep.agent",
  run: "skep.run",
} as const;

export const HOME = "/home/agent";
/** Where an external agent finds its folders. The port is the container's own, as its loopback interface is. */
export const HARNESS = { gateway: "/skep/gateway", state: "/skep/state", port: 7480 } as const;

/**
 * Waits forever without another program than `sh`: standard input stays open for the container's life. Signals that an
 * agent's `pkill` would send are not handled.
 */
const IDLE = 'trap "" HUP INT TERM; read -r _';

export interface ContainerPlan {
  spec: SandboxSpec;
  instanceId: string;
  imageId: string;
  /** Paths the image declares as volumes: laid over with memory, or they would be folders of the host. */
  imageVolumes: readonly string[];
  engine: EngineInfo["engine"];
  owner: Owner;
  /** Name of the network, `none` for none. */
  network: string;
  /** Podman without root: keeps the server's user inside. */
  usernsMode?: string | undefined;
}

export function containerRequest(plan: ContainerPlan): Docker.ContainerCreateOptions {
  const { spec, owner } = plan;
  return {
    Image: plan.imageId,
    Entrypoint: ["sh", "-c", IDLE],
    Cmd: [],
    User: `${owner.uid}:${owner.gid}`,
    WorkingDir: MOUNT_POINT,
    Hostname: "sandbox",
    Env: Object.entries({ HOME, USER: "agent", LOGNAME: "agent", LANG: "C.UTF-8", ...spec.env }).map(
      ([name, value]) => `${name}=${value}`,
    ),
    Labels: {
      [LABELS.instance]: plan.instanceId,
      [LABELS.session]: spec.sessionId,
      [LABELS.execution]: spec.executionId,
      [LABELS.agent]: spec.agentId,
      ...(spec.runId ? { [LABELS.run]: spec.runId } : {}),
    },
    OpenStdin: true,
    StdinOnce: false,
    Tty: false,
    Healthcheck: { Test: ["NONE"] },
    HostConfig: hostConfig(plan),
  };
}

function hostConfig({ spec, engine, owner, network, imageVolumes, usernsMode }: ContainerPlan): Docker.HostConfig {
  // Podman cannot give a folder in memory to a user; nobody else is in the container.
  const homeRights = engine === "podman" ? "mode=1777" : `mode=0700,uid=${owner.uid},gid=${owner.gid}`;
  const locked = lockedDown({
    ...{ memoryMb: spec.memoryMb, cpus: spec.cpus, network, usernsMode },
    folder: { source: spec.home, target: MOUNT_POINT },
    imageVolumes: imageVolumes.filter((path) => path !== HOME),
  });
  return {
    ...locked,
    Mounts: [...(locked.Mounts ?? []), ...harnessMounts(spec.harness)],
    Tmpfs: {
      ...locked.Tmpfs,
      [HOME]: `rw,nosuid,nodev,exec,size=${CONTAINER_LIMITS.homeBytes},${homeRights}`,
      ...cookieFolder(spec.cookies),
    },
    LogConfig: { Type: "json-file", Config: { "max-size": "1m", "max-file": "1" } },
  };
}

/** A socket can be connected to where its folder cannot be written. */
function harnessMounts(folders: SandboxSpec["harness"]): Docker.MountSettings[] {
  if (!folders) return [];
  const bind = (source: string, target: string, isReadOnly: boolean): Docker.MountSettings => ({
    ...{ Type: "bind", Source: source, Target: target, ReadOnly: isReadOnly },
    BindOptions: { Propagation: "rprivate" },
  });
  return [bind(folders.gateway, HARNESS.gateway, true), bind(folders.state, HARNESS.state, false)];
}
