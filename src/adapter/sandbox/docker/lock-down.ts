/** What every container that we start may and may not do: agents' sandboxes and tool servers alike. */
import type Docker from "dockerode";

export const CONTAINER_LIMITS = {
  processes: 512,
  openFiles: 4_096,
  tmpBytes: 512 * 1024 * 1024,
  homeBytes: 256 * 1024 * 1024,
  sharedMemoryBytes: 64 * 1024 * 1024,
} as const;

/**
 * Of a container on a network that leads nowhere: the engine's resolver asks nobody for names that it does not know itself. In
 * some versions it would ask in the host's name, and a name can carry data out. An unknown name fails after a second.
 */
export const NO_NAMES_OUTSIDE = { Dns: ["127.0.0.1"], DnsOptions: ["timeout:1", "attempts:1"] };

export interface SharedFolder {
  source: string;
  target: string;
  /** In the engine's own data folder, where it mounts for its containers: it asks for the way back to be open. */
  isEngines?: boolean | undefined;
}

/** A folder of the engine's machine in a container. What is mounted inside never shows outside. */
export const bound = ({ source, target, isEngines }: SharedFolder, isReadOnly = false): Docker.MountSettings => ({
  Type: "bind",
  Source: source,
  Target: target,
  ReadOnly: isReadOnly,
  BindOptions: { Propagation: isEngines ? "rslave" : "rprivate" },
});

export const WAITING_ARGUMENTS = ["-c", 'trap "" HUP INT TERM; read -r _'];
/**
 * What a container that only waits is started with: no other program than `sh`, whose standard input stays open for the
 * container's life. Signals that an agent's `pkill` would send are not handled.
 */
export const WAITING = {
  Entrypoint: ["sh", ...WAITING_ARGUMENTS],
  Cmd: [],
  OpenStdin: true,
  StdinOnce: false,
  Tty: false,
  Healthcheck: { Test: ["NONE"] },
} satisfies Docker.ContainerCreateOptions;

interface LockDown {
  memoryMb: number;
  cpus: number;
  /** Name of the engine's network, or "none". */
  network: string;
  /** The engine's own when absent. */
  runtime?: string | undefined;
  usernsMode?: string | undefined;
  /** The one folder of the host that it sees; none when absent. */
  folder?: SharedFolder | undefined;
  /** Volumes that its image declares: empty folders in memory. Those that have a mount of their own are left out. */
  imageVolumes: readonly string[];
}

export function lockedDown({ folder, imageVolumes, ...plan }: LockDown): Docker.HostConfig {
  const memoryBytes = plan.memoryMb * 1024 * 1024;
  return {
    Privileged: false,
    CapDrop: ["ALL"],
    // The engine's default seccomp and AppArmor profiles stay in force: they are left out only by naming others.
    SecurityOpt: ["no-new-privileges"],
    ReadonlyRootfs: true,
    Tmpfs: { "/tmp": `rw,nosuid,nodev,exec,size=${CONTAINER_LIMITS.tmpBytes},mode=1777` },
    Mounts: [
      ...(folder ? [bound(folder)] : []),
      ...imageVolumes
        .filter((path) => path !== folder?.target && path !== "/tmp")
        .map(
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
    NanoCpus: Math.round(plan.cpus * 1e9),
    PidsLimit: CONTAINER_LIMITS.processes,
    ShmSize: CONTAINER_LIMITS.sharedMemoryBytes,
    Ulimits: [
      { Name: "nofile", Soft: CONTAINER_LIMITS.openFiles, Hard: CONTAINER_LIMITS.openFiles },
      { Name: "core", Soft: 0, Hard: 0 },
    ],
    // When the host itself runs out of memory, these go before the server.
    OomScoreAdj: 500,
    Init: true,
    IpcMode: "private",
    NetworkMode: plan.network,
    RestartPolicy: { Name: "no" },
    AutoRemove: false,
    PublishAllPorts: false,
    LogConfig: { Type: "json-file", Config: { "max-size": "1m", "max-file": "1" } },
    ...(plan.runtime ? { Runtime: plan.runtime } : {}),
    ...(plan.usernsMode ? { UsernsMode: plan.usernsMode } : {}),
  };
}
