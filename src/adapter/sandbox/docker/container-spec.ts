/** The container an execution gets: everything that is locked down, in one place. Compare engine design, "Sandboxes". */
import type Docker from "dockerode";
import type { SandboxSpec } from "../../../engine/sandbox.ts";
import type { EngineInfo } from "../../docker.ts";
import { MOUNT_POINT, type Owner } from "../workspace-path.ts";
import { cookieFolder } from "./cookie-file.ts";

export const LABELS = {
  instance: "skep.instance",
  session: "skep.session",
  execution: "skep.execution",
  agent: "skep.agent",
  run: "skep.run",
} as const;

export const HOME = "/home/agent";

export const CONTAINER_LIMITS = {
  processes: 512,
  openFiles: 4_096,
  tmpBytes: 512 * 1024 * 1024,
  homeBytes: 256 * 1024 * 1024,
  sharedMemoryBytes: 64 * 1024 * 1024,
} as const;

/**
 * Waits for ever without another program than `sh`: standard input stays open for the container's life. Signals that an
 * agent's `pkill` would send are not heard.
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
  const memoryBytes = spec.memoryMb * 1024 * 1024;
  // Podman cannot give a folder in memory to a user; nobody else is in the container.
  const homeRights = engine === "podman" ? "mode=1777" : `mode=0700,uid=${owner.uid},gid=${owner.gid}`;
  const volumes = imageVolumes.filter((path) => path !== MOUNT_POINT && path !== "/tmp" && path !== HOME);
  return {
    Privileged: false,
    CapDrop: ["ALL"],
    // The engine's default seccomp and AppArmor profiles stay in force: they are left out only by naming others.
    SecurityOpt: ["no-new-privileges"],
    ReadonlyRootfs: true,
    Tmpfs: {
      "/tmp": `rw,nosuid,nodev,exec,size=${CONTAINER_LIMITS.tmpBytes},mode=1777`,
      [HOME]: `rw,nosuid,nodev,exec,size=${CONTAINER_LIMITS.homeBytes},${homeRights}`,
      ...cookieFolder(spec.cookies),
    },
    Mounts: [
      {
        Type: "bind",
        Source: spec.home,
        Target: MOUNT_POINT,
        ReadOnly: false,
        BindOptions: { Propagation: "rprivate" },
      },
      ...volumes.map(
        (path): Docker.MountSettings => ({
          Type: "tmpfs",
          Source: "",
          Target: path,
          TmpfsOptions: { SizeBytes: CONTAINER_LIMITS.homeBytes, Mode: 0o1777 },
        }),
      ),
    ],
    Memory: memoryBytes,
    // The same value: no swap on top.
    MemorySwap: memoryBytes,
    NanoCpus: Math.round(spec.cpus * 1e9),
    PidsLimit: CONTAINER_LIMITS.processes,
    ShmSize: CONTAINER_LIMITS.sharedMemoryBytes,
    Ulimits: [
      { Name: "nofile", Soft: CONTAINER_LIMITS.openFiles, Hard: CONTAINER_LIMITS.openFiles },
      { Name: "core", Soft: 0, Hard: 0 },
    ],
    // When the host itself runs out of memory, sandboxes go before the server.
    OomScoreAdj: 500,
    Init: true,
    IpcMode: "private",
    NetworkMode: network,
    RestartPolicy: { Name: "no" },
    AutoRemove: false,
    PublishAllPorts: false,
    LogConfig: { Type: "json-file", Config: { "max-size": "1m", "max-file": "1" } },
    ...(usernsMode ? { UsernsMode: usernsMode } : {}),
  };
}
