/** The restrictions of every container that Skep starts, for agents' sandboxes and tool servers alike. */
import type Docker from "dockerode";

export const CONTAINER_LIMITS = {
  processes: 512,
  openFiles: 4_096,
  tmpBytes: 512 * 1024 * 1024,
  homeBytes: 256 * 1024 * 1024,
  sharedMemoryBytes: 64 * 1024 * 1024,
} as const;

/**
 * For a container on a network without a way out: the engine's resolver then forwards no name that it does not know.
 * Some versions would forward it in the host's name, and a name can carry data out. An unknown name fails after a
 * second.
 */
export const NO_NAMES_OUTSIDE = { Dns: ["127.0.0.1"], DnsOptions: ["timeout:1", "attempts:1"] };

export interface SharedFolder {
  source: string;
  target: string;
  /**
   * Whether the folder is in the engine's own data folder, where the engine mounts file systems for its containers.
   * Such a folder needs the mount propagation `rslave`.
   */
  isEngines?: boolean | undefined;
}

/** Mounts a folder of the engine's machine in a container. Mounts made inside the container never appear outside. */
export const toBindMount = ({ source, target, isEngines }: SharedFolder, isReadOnly = false): Docker.MountSettings => ({
  Type: "bind",
  Source: source,
  Target: target,
  ReadOnly: isReadOnly,
  BindOptions: { Propagation: isEngines ? "rslave" : "rprivate" },
});

export const WAITING_ARGUMENTS = ["-c", 'trap "" HUP INT TERM; read -r _'];
/**
 * The start settings of a container that only waits. It runs only `sh`, whose standard input stays open for the
 * container's life. The `sh` ignores the signals that an agent's `pkill` would send.
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
  /** The engine's default runtime when absent. */
  runtime?: string | undefined;
  usernsMode?: string | undefined;
  /** The only folder of the host that the container sees; none when absent. */
  folder?: SharedFolder | undefined;
  /**
   * Paths that the image declares as volumes: they become empty folders in memory, unless something else is mounted
   * there.
   */
  imageVolumes: readonly string[];
}

export function lockedDown({ folder, imageVolumes, ...plan }: LockDown): Docker.HostConfig {
  const memoryBytes = plan.memoryMb * 1024 * 1024;
  return {
    Privileged: false,
    CapDrop: ["ALL"],
    // The engine's default seccomp and AppArmor profiles apply, since no others are named.
    SecurityOpt: ["no-new-privileges"],
    ReadonlyRootfs: true,
    Tmpfs: { "/tmp": `rw,nosuid,nodev,exec,size=${CONTAINER_LIMITS.tmpBytes},mode=1777` },
    Mounts: [
      ...(folder ? [toBindMount(folder)] : []),
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
    // The same value as `Memory` means no swap.
    MemorySwap: memoryBytes,
    NanoCpus: Math.round(plan.cpus * 1e9),
    PidsLimit: CONTAINER_LIMITS.processes,
    ShmSize: CONTAINER_LIMITS.sharedMemoryBytes,
    Ulimits: [
      { Name: "nofile", Soft: CONTAINER_LIMITS.openFiles, Hard: CONTAINER_LIMITS.openFiles },
      { Name: "core", Soft: 0, Hard: 0 },
    ],
    // If the host itself runs out of memory, containers are killed before the server.
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
