/** The systemd unit of a server. `skep service install` writes it, and the Debian package contains it. */

interface UnitOptions {
  /** Absolute path of the executable. */
  executable: string;
  /** Absolute path of the data folder. */
  data: string;
  /** `system` runs as the user `skep`; `user` as the one who installs it. */
  scope: "system" | "user";
  /** Groups besides the user's own, e.g. `docker`. */
  groups?: readonly string[];
  /** File with settings as `NAME=value` lines; a missing file is no error. */
  environmentFile: string;
}

/** A folder that systemd itself creates and gives to the service's user. */
const STATE_FOLDER = "/var/lib/skep";

/**
 * Restrictions that a server can work with. `MemoryDenyWriteExecute` is missing because the runtime compiles code while
 * it runs, and `ProcSubset=pid` because `skep doctor` reads the machine's memory.
 */
const HARDENING = [
  "NoNewPrivileges=yes",
  "CapabilityBoundingSet=",
  "AmbientCapabilities=",
  "ProtectSystem=strict",
  "ProtectHome=yes",
  "PrivateTmp=yes",
  "PrivateDevices=yes",
  "DevicePolicy=closed",
  "ProtectClock=yes",
  "ProtectControlGroups=yes",
  "ProtectHostname=yes",
  "ProtectKernelLogs=yes",
  "ProtectKernelModules=yes",
  "ProtectKernelTunables=yes",
  "ProtectProc=invisible",
  "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK",
  "RestrictNamespaces=yes",
  "RestrictRealtime=yes",
  "RestrictSUIDSGID=yes",
  "LockPersonality=yes",
  "RemoveIPC=yes",
  "SystemCallArchitectures=native",
  "SystemCallFilter=@system-service",
  "SystemCallErrorNumber=EPERM",
  "UMask=0077",
];

/** Formats a value as one word of a unit file: quoted, with literal `%` and `$`. */
const quoteWord = (value: string): string =>
  `"${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%").replaceAll("$", "$$$$")}"`;

/** Formats a path for an assignment that takes no quotes. */
const escapePath = (value: string): string => value.replaceAll("%", "%%");

export function systemdUnit({ executable, data, scope, groups = [], environmentFile }: UnitOptions): string {
  const system = scope === "system";
  const folder =
    data === STATE_FOLDER ? ["StateDirectory=skep", "StateDirectoryMode=0700"] : [`ReadWritePaths=${escapePath(data)}`];
  const lines = [
    "[Unit]",
    "Description=Skep: a team of AI agents",
    "Documentation=man:skep(1)",
    ...(system ? ["Wants=network-online.target", "After=network-online.target docker.service podman.socket"] : []),
    "",
    "[Service]",
    ...(system ? ["User=skep", "Group=skep"] : []),
    ...(system && groups.length > 0 ? [`SupplementaryGroups=${groups.join(" ")}`] : []),
    `Environment=${quoteWord(`DATA=${data}`)}`,
    `EnvironmentFile=-${escapePath(environmentFile)}`,
    `ExecStart=${quoteWord(executable)} serve`,
    "Restart=on-failure",
    "RestartSec=2",
    // A stopping server finishes its requests and ends its child processes itself.
    "KillMode=mixed",
    "TimeoutStopSec=60",
    "LimitNOFILE=65536",
    ...(system ? [...folder, ...HARDENING] : ["NoNewPrivileges=yes", "UMask=0077"]),
    "",
    "[Install]",
    `WantedBy=${system ? "multi-user.target" : "default.target"}`,
  ];
  return `${lines.join("\n")}\n`;
}

/** The service's user, for systemd-sysusers. */
export const SYSUSERS = `u skep - "Skep" ${STATE_FOLDER}\n`;
