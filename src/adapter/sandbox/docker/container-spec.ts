/** Describes the container of an execution. All of its restrictions are set here and in `lockedDown`. */
import type Docker from "dockerode";
import type { SandboxSpec } from "../../../engine/sandbox.ts";
import type { EngineInfo } from "../../docker.ts";
import { sandboxOwner } from "../workspace-owner.ts";
import { MOUNT_POINT, type Owner } from "../workspace-path.ts";
import { cookieFolder } from "./cookie-file.ts";
import { CONTAINER_LIMITS, lockedDown, NO_NAMES_OUTSIDE, toBindMount, WAITING } from "./lock-down.ts";

export const LABELS = {
  instance: "skep.instance",
  session: "skep.session",
  execution: "skep.execution",
  agent: "skep.agent",
  run: "skep.run",
  work: "skep.work",
} as const;

export const HOME = "/home/agent";
/** Folder in which an external agent's program keeps its data between turns. */
export const HARNESS_STATE = "/skep/state";

/**
 * The user that a container runs as. Engines without root map the server's user to 0 inside (Docker) or keep it
 * (Podman, `keep-id`); there, 0 has no more rights than that user.
 */
export function userOf({ rootless, engine }: EngineInfo, server: Owner): { owner: Owner; usernsMode?: string } {
  if (!rootless) return { owner: sandboxOwner(server) };
  return engine === "podman" ? { owner: server, usernsMode: "keep-id" } : { owner: { uid: 0, gid: 0 } };
}

interface ContainerPlan {
  spec: SandboxSpec;
  instanceId: string;
  imageId: string;
  /**
   * Paths that the image declares as volumes. They are covered with memory, because they would otherwise be folders of
   * the host.
   */
  imageVolumes: readonly string[];
  engine: EngineInfo["engine"];
  owner: Owner;
  /** Name of the network; `none` for no network. */
  network: string;
  /** For Podman without root: keeps the server's user inside the container. */
  usernsMode?: string | undefined;
  /** Mounts besides the workspace and an external agent's folder. */
  mounts: readonly Docker.MountSettings[];
  /** Whether the folders are in the engine's own data folder. */
  isEngines?: boolean | undefined;
  /** The main program of the container, instead of one that only waits. Its streams are only for the server. */
  program?: readonly string[] | undefined;
}

export function containerRequest(plan: ContainerPlan): Docker.ContainerCreateOptions {
  const { spec, owner } = plan;
  return {
    Image: plan.imageId,
    ...WAITING,
    ...(plan.program ? { Entrypoint: [...plan.program] } : {}),
    User: `${owner.uid}:${owner.gid}`,
    WorkingDir: MOUNT_POINT,
    Hostname: "sandbox",
    // The execution's own variables are not set here, because the engine writes these to its disk. Each command gets
    // them instead.
    Env: [`HOME=${HOME}`, "USER=agent", "LOGNAME=agent", "LANG=C.UTF-8"],
    Labels: {
      [LABELS.instance]: plan.instanceId,
      [LABELS.session]: spec.sessionId,
      [LABELS.execution]: spec.executionId,
      [LABELS.agent]: spec.agentId,
      ...(spec.runId ? { [LABELS.run]: spec.runId } : {}),
      ...(spec.workId ? { [LABELS.work]: spec.workId } : {}),
    },
    HostConfig: hostConfig(plan),
  };
}

function hostConfig({
  spec,
  engine,
  owner,
  network,
  imageVolumes,
  usernsMode,
  mounts,
  isEngines,
  program,
}: ContainerPlan): Docker.HostConfig {
  // Podman cannot give a folder in memory to a user. Opening it to all is safe, because the container has no other
  // users.
  const homeRights = engine === "podman" ? "mode=1777" : `mode=0700,uid=${owner.uid},gid=${owner.gid}`;
  const locked = lockedDown({
    memoryMb: spec.memoryMb,
    cpus: spec.cpus,
    runtime: spec.runtime,
    network,
    usernsMode,
    folder: { source: spec.home, target: MOUNT_POINT, isEngines },
    imageVolumes: imageVolumes.filter((path) => path !== HOME),
  });
  return {
    ...locked,
    ...(spec.services && spec.network !== "bridge" ? NO_NAMES_OUTSIDE : {}),
    Mounts: [
      ...(locked.Mounts ?? []),
      ...(spec.harness ? [toBindMount({ source: spec.harness.state, target: HARNESS_STATE, isEngines })] : []),
      ...mounts,
    ],
    Tmpfs: {
      ...locked.Tmpfs,
      [HOME]: `rw,nosuid,nodev,exec,size=${CONTAINER_LIMITS.homeBytes},${homeRights}`,
      ...cookieFolder(spec.cookies),
    },
    ...(program ? { LogConfig: { Type: "none", Config: {} } } : {}),
  };
}
