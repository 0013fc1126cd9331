/**
 * Where an agent's shell and files live; `sandbox-pool.ts` decides for how long. The engine knows a sandbox only by
 * what it can do and by how it describes itself, never by its name. Drivers are in `adapter/sandbox/`.
 */

import type { Duplex } from "node:stream";
import type { NetworkBounds } from "../core/network.ts";
import type { Pipe, PipeEvents } from "../core/pipe.ts";

export interface Capabilities {
  /**
   * Whether `exec` runs any command. Without a shell, it only runs `grep … --` over `files`, for the search tool, and
   * refuses the rest with 403 `shell_disabled`.
   */
  shell: boolean;
  /**
   * `host`: commands have this machine's network, including its loopback. `own`: the network that the agent's settings
   * allow. `policy`: the same, enforced by the cluster's rules: a sandbox without a network has an interface that
   * passes nothing.
   */
  network: "host" | "own" | "policy";
  /**
   * `container`: commands see only the workspace of this machine. `none`: commands can do whatever the server's user
   * can.
   */
  isolation: "container" | "none";
  /**
   * `shared`: commands work in the server's own folder. `carried`: changes are copied in both directions, so the
   * container engine may be on another machine.
   */
  files: "shared" | "carried";
  /** The most `files` that one command accepts. */
  filesAtOnce: number;
  /**
   * When `connect` reaches the sandbox's programs, and only those. `thawed`: while it runs, and when it is thawed after
   * a freeze. `running`: until it is frozen. `none`: never, because its loopback is this machine's.
   */
  previews: "thawed" | "running" | "none";
}

/** What an agent reads about its sandbox, in whole sentences. The driver writes it; it must be true. */
export interface SandboxAbout {
  /** Where the files are, and which of them last. */
  files: string;
  /** As which user commands run, and what they may do; for agents that have a shell. */
  commands: string;
  network: string;
  /** Absolute path of the cookie file that its commands can read; absent when the sandbox has none. */
  cookies?: string | undefined;
}

/** Services that run beside the sandboxes of a run or session, reached by name. */
export interface SandboxServices {
  /** The driver's own name for the network that the services are on. */
  network: string;
  names: readonly string[];
}

export interface SandboxSpec {
  /** The execution that started it, and its session. Both become labels on the container. */
  executionId: string;
  sessionId: string;
  agentId: string;
  runId?: string | undefined;
  /** As in `ExecutionInfo`. */
  workId?: string | undefined;
  /** Container image; the driver's default when absent. */
  image?: string | undefined;
  /** Image that the setup of its project's code produced; used instead of `image` if the driver has it. */
  layer?: string | undefined;
  /** Absolute path of the folder on this host where the server keeps the files between sandboxes. */
  home: string;
  /** For an allow-list, the sandbox has no network but a route to the server's proxy. */
  network: NetworkBounds;
  /** Services it can reach in addition to its network. Whoever passes them in has started them. */
  services?: SandboxServices | undefined;
  /** Container runtime, e.g. `runsc`; the engine's default when absent. It is tested before it is used. */
  runtime?: string | undefined;
  /** Labels that the sandbox's host must have, when there are several hosts. */
  hostLabels?: readonly string[] | undefined;
  /** Whether `openRoute` will be called. An allow-list implies it. */
  routes?: boolean | undefined;
  memoryMb: number;
  cpus: number;
  /** Granted secrets and the session's own variables: set from the start, never on the container's disk. */
  env: Readonly<Record<string, string>>;
  /**
   * Text of a cookie file. A driver with isolation keeps it in memory for the life of the sandbox, where commands can
   * read it but not change it. Other drivers ignore it.
   */
  cookies?: string | undefined;
  /** Folders of the home that outlive the sandbox. Drivers that cannot keep folders ignore them. */
  caches?: CacheFolders | undefined;
  /** Folders of an external agent besides its files; see `engine/harness/`. */
  harness?: HarnessFolders | undefined;
}

/** Folders of a home that are kept from one sandbox to the next. */
export interface CacheFolders {
  /** Only sandboxes of this owner see them. */
  owner: string;
  projectId: string;
  /** Paths below the home, from `core/caches.ts`. */
  paths: readonly string[];
}

/** Absolute paths on this host of the folders that an external agent's sandbox gets in addition to its files. */
export interface HarnessFolders {
  /** What the agent's program keeps from one turn to the next. The server never reads it. */
  state: string;
}

/** Paths that an external agent uses inside its sandbox. */
export interface HarnessPlaces extends HarnessFolders {
  workspace: string;
}

export interface ExecOptions {
  /** Relative to the workspace, or absolute inside the sandbox. */
  cwd?: string;
  env?: Readonly<Record<string, string>>;
  stdin?: string | Uint8Array;
  /**
   * Files of the workspace, relative to it, appended as the last arguments. Commands on the server's machine read
   * exactly these files, even when they are renamed meanwhile; lines of the output begin with these names.
   */
  files?: readonly string[];
  timeoutMs: number;
  /** Limit for stdout and stderr together, in their order of arrival; beginning and end are kept. */
  maxOutputBytes: number;
  signal?: AbortSignal;
  /** Called with decoded text as it arrives. */
  onOutput?(text: string): void;
}

export interface ExecResult {
  /** Null when the process was killed (time-out or abort). */
  exitCode: number | null;
  /**
   * stdout and stderr interleaved. When longer than the limit: its beginning, a line that counts what is left out, its
   * end.
   */
  output: string;
  omittedBytes: number;
  timedOut: boolean;
  aborted: boolean;
  durationMs: number;
}

export interface FileEntry {
  name: string;
  kind: "file" | "folder" | "link" | "other";
  sizeBytes: number;
  /** Milliseconds since the epoch. */
  modifiedAt: number;
}

export interface WalkOptions {
  maxEntries: number;
  /** Include what .gitignore files exclude. `.git` folders are never entered. */
  ignored?: boolean;
  signal?: AbortSignal;
}

export interface WalkEntry {
  /** Relative to the workspace. */
  path: string;
  kind: "file" | "folder" | "link";
}

export interface WalkResult {
  /** Sorted: each folder before what is in it, names in order. Links are listed, never followed. */
  entries: WalkEntry[];
  /** There were more than `maxEntries`. */
  truncated: boolean;
}

/**
 * The files of an execution while it works. A driver on this host works directly in the server's own folder. A driver
 * whose files are elsewhere copies them in at the start, and back when `bringBack` is called. Paths are relative to the
 * workspace (absolute only inside it; `/workspace/...` is understood). Links never lead out.
 */
export interface Workspace {
  /** The whole file. @throws Problem 404 `file_not_found`, 403 `outside_workspace`, 413 `file_too_large`, 400. */
  read(path: string): Promise<Uint8Array>;
  /** Replaces the file atomically. Creates missing folders and keeps an existing file's mode. */
  write(path: string, data: Uint8Array): Promise<void>;
  /** Entries of one folder by name; for a file, the file itself. */
  list(path: string): Promise<FileEntry[]>;
  /** Everything below a folder, except what .gitignore files exclude. */
  walk(path: string, options: WalkOptions): Promise<WalkResult>;
  /** Copies the current files to the server's folder. Called after each round of tool calls and before the end. */
  bringBack(): Promise<void>;
}

/** A route by which programs inside reach something that the server offers to this sandbox only. */
export interface Route {
  /**
   * Address for programs inside. It is on their own loopback, so no other sandbox and no other machine can reach it.
   */
  readonly host: "127.0.0.1";
  readonly port: number;
  /** Accepts no further connections and closes the open ones. */
  close(): void;
}

/** The controlled way out of a sandbox whose network is an allow-list. */
export interface WayOut {
  /** Environment variables that tell programs about the proxy. */
  env: Readonly<Record<string, string>>;
  /** Attributes all connections from now on to this execution, because a chat's sandbox outlives its turns. */
  serve(executionId: string): void;
  close(): void;
}

export interface Sandbox {
  readonly capabilities: Capabilities;
  readonly workspace: Workspace;
  /**
   * Runs an argument vector; a time-out or abort kills its whole process group. Never throws for a non-zero exit.
   * Throws Problem 503 `sandbox_lost` when the container is gone: the caller may start another over the same workspace.
   */
  exec(argv: readonly string[], options: ExecOptions): Promise<ExecResult>;
  /**
   * Starts an external agent's program in the workspace and connects to its streams. The program ends with the sandbox
   * at the latest. Needs `SandboxSpec.harness`. @throws Problem 503 `sandbox_lost`, 403 `shell_disabled`.
   */
  open(program: (places: HarnessPlaces) => Program, events: PipeEvents, signal: AbortSignal): Promise<Pipe>;
  /**
   * Opens a port on the sandbox's loopback. Each connection that a program inside makes to it is handed over as a
   * two-way stream. It neither needs nor opens a network of the sandbox. Closed with the sandbox. The receiver of a
   * connection limits its bytes and time, and destroys it. At most 8 routes, and 64 connections at once. Throws Problem
   * 503 `sandbox_lost`, or `network_unguarded` when the driver has no such route (`spec.routes` was not set).
   * @param port a port on this machine's loopback with the same service. If programs inside can reach it directly, the
   *   route is this port, and no connection is handed over.
   */
  openRoute(onConnection: (connection: Duplex) => void, port?: number): Promise<Route>;
  /**
   * Connects to a port of the sandbox's own loopback. The caller limits bytes and time, as for `openRoute`. Needs
   * `spec.routes`.
   * @throws Problem 502 `nothing_listens`, 503 `sandbox_lost`, 403 `previews_unavailable` when `capabilities.previews`
   *   is `none`.
   */
  connect(port: number): Promise<Duplex>;
  /**
   * Stops everything inside, so that no file changes and no command runs any more. Much faster than `stop`, which must
   * still follow. Idempotent.
   */
  freeze(): Promise<void>;
  /**
   * Lets the programs of a frozen sandbox continue, so that `connect` reaches them. What they change is not brought
   * back.
   * @throws Problem 503 `sandbox_lost`, 403 `previews_unavailable` when `capabilities.previews` is not `thawed`.
   */
  thaw(): Promise<void>;
  /** False when no further turn may begin in it: its commands can no longer run, or its host is being drained. */
  isAlive(): Promise<boolean>;
  /** Kills everything inside and removes it. Idempotent. */
  stop(): Promise<void>;
}

export interface Program {
  argv: readonly string[];
  env: Readonly<Record<string, string>>;
}

/** Script that runs a command line: `["sh", "-c", SHELL, "sh", line]`. Uses bash when the image has it, else sh. */
export const SHELL = 'if command -v bash >/dev/null 2>&1; then exec bash -c "$1"; else exec sh -c "$1"; fi';

interface Swept {
  /** How many sandboxes were removed. */
  removed: number;
  /**
   * Places (`placeOf`) of sandboxes that still run because they could not be removed in time: they may change the files
   * there.
   */
  left: string[];
}

/** Id of the work whose files a sandbox uses: a run or another session, or else its own session. */
export const placeOf = ({ workId, sessionId }: Pick<SandboxSpec, "workId" | "sessionId">): string =>
  workId ?? sessionId;

/** A running sandbox, as administrators see it. */
export interface SandboxShown {
  id: string;
  name: string;
  image: string;
  /** State in one word, as the container engine or cluster names it. */
  state: string;
  /** For people, in the driver's own words. */
  status: string;
  agentId: string | undefined;
  sessionId: string | undefined;
  runId: string | undefined;
  /** Unix milliseconds. */
  createdAt: number;
  memoryLimitBytes: number | undefined;
}

export interface SandboxDriver {
  /** Name for people: in the status and in the log. */
  readonly name: string;
  readonly capabilities: Capabilities;
  /** How many ms `about` and `start` may take before they throw because the machine does not answer. */
  readonly noticeMs: number;
  /** What the agent reads about such a sandbox, before it is started. */
  about(spec: SandboxSpec): Promise<SandboxAbout>;
  /**
   * Starts a sandbox and brings the files in. Throws Problem 503 (`sandbox_unavailable`, `image_missing`…) with the
   * remedy in its detail.
   */
  start(spec: SandboxSpec, signal: AbortSignal): Promise<Sandbox>;
  /**
   * Removes this instance's containers for which `isLive` returns false, within a limited time. Throws when the engine
   * does not answer.
   */
  sweep(isLive: (executionId: string) => boolean): Promise<Swept>;
  /**
   * Lists this instance's sandboxes. Only drivers whose sandboxes are not containers of this server's engine have it.
   * @throws Problem when the machine does not answer.
   */
  show?(): Promise<SandboxShown[]>;
}
