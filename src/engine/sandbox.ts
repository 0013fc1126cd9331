/**
 * Where an agent's shell and files live; `sandbox-pool.ts` says for how long. The engine knows a sandbox by what it
 * can do and by what it says of itself, never by its name; drivers are in `adapter/sandbox/`.
 */

import type { Duplex } from "node:stream";
import type { NetworkBounds } from "../core/network.ts";
import type { Pipe, PipeEvents } from "../core/pipe.ts";

export interface Capabilities {
  /**
   * Whether `exec` runs whatever it is given. Without a shell, it runs `grep … --` over `files` for the search tool and
   * refuses the rest with 403 `shell_disabled`.
   */
  shell: boolean;
  /**
   * `host`: commands have this machine's, loopback included. `own`: as the agent's settings say. `policy`: the same, but by
   * rules of the cluster: a sandbox without a network has an interface through which nothing passes.
   */
  network: "host" | "own" | "policy";
  /** `container`: commands see nothing of the machine but the workspace. `none`: what the server's user may do. */
  isolation: "container" | "none";
  /**
   * `shared`: commands work in the server's own folder. `carried`: what either side changes is taken to the other, so the
   * container engine may be on another machine.
   */
  files: "shared" | "carried";
  /** How many `files` one command can be given. */
  filesAtOnce: number;
  /**
   * Whether `connect` reaches its programs and nothing else: `thawed`: also those of one that was frozen, once it is thawed.
   * `running`: until it is frozen. `none`: its loopback is this machine's.
   */
  previews: "thawed" | "running" | "none";
}

/** What an agent reads about its sandbox, in whole sentences. The driver knows; it must be true. */
export interface SandboxAbout {
  /** Where its files are, and what of them lasts. */
  files: string;
  /** As whom commands run, and what they may do; for agents that have a shell. */
  commands: string;
  network: string;
  /** Absolute path of the cookie file that its commands can read; absent when it was given none. */
  cookies?: string | undefined;
}

/** What runs beside the sandboxes of a run or session, and is reached by name. */
export interface SandboxServices {
  /** The driver's own word for where they are. */
  network: string;
  names: readonly string[];
}

export interface SandboxSpec {
  /** The execution that started it, and its session: labels on the container. */
  executionId: string;
  sessionId: string;
  agentId: string;
  runId?: string | undefined;
  /** As in `ExecutionInfo`. */
  workId?: string | undefined;
  /** Container image; the driver's default when absent. */
  image?: string | undefined;
  /** Image that the set-up of its project's code left: instead of `image` where the driver has it. */
  layer?: string | undefined;
  /** Absolute path of the folder on this host where the server keeps the files between sandboxes. */
  home: string;
  /** An allow-list: a sandbox without a network, and a route to the server's proxy. */
  network: NetworkBounds;
  /** Beside whatever else the network opens. Where they were started, by whoever started them. */
  services?: SandboxServices | undefined;
  /** Container runtime, e.g. `runsc`; the engine's own when absent. Tried before it is used. */
  runtime?: string | undefined;
  /** Labels that its host has to have, where there are several. */
  hostLabels?: readonly string[] | undefined;
  /** `openRoute` will be asked for. An allow-list implies it. */
  routes?: boolean | undefined;
  memoryMb: number;
  cpus: number;
  /** Granted secrets and the session's own variables: present from spawn, never on the container's disk. */
  env: Readonly<Record<string, string>>;
  /**
   * Text of a cookie file. A driver with isolation holds it in memory where commands can read and not change it, as long
   * as the sandbox is there; others leave it out.
   */
  cookies?: string | undefined;
  /** Folders of the home that outlive it, where the driver can keep some; others leave them out. */
  caches?: CacheFolders | undefined;
  /** Folders of an external agent besides its files; see `engine/harness/`. */
  harness?: HarnessFolders | undefined;
}

/** What of a home is kept from one sandbox to the next. */
export interface CacheFolders {
  /** Nobody else's sandboxes see them. */
  owner: string;
  projectId: string;
  /** Below the home, of `core/caches.ts`. */
  paths: readonly string[];
}

/** Absolute paths on this host of what an external agent's sandbox is given besides the files. */
export interface HarnessFolders {
  /** What the agent's program keeps from one turn to the next. Nothing on this side reads it. */
  state: string;
}

/** Where an external agent finds things, inside its sandbox. */
export interface HarnessPlaces extends HarnessFolders {
  workspace: string;
}

export interface ExecOptions {
  /** Relative to the workspace, or absolute inside the sandbox. */
  cwd?: string;
  env?: Readonly<Record<string, string>>;
  stdin?: string | Uint8Array;
  /**
   * Files of the workspace, relative to it, as the last arguments. What runs on the server's machine reads exactly these,
   * whatever their names become meanwhile; lines of the output begin with these names.
   */
  files?: readonly string[];
  timeoutMs: number;
  /** Of stdout and stderr together, as they came; head and tail are kept. */
  maxOutputBytes: number;
  signal?: AbortSignal;
  /** Called with decoded text as it arrives. */
  onOutput?(text: string): void;
}

export interface ExecResult {
  /** Null when the process was killed (time-out or abort). */
  exitCode: number | null;
  /** stdout and stderr interleaved; when longer than the limit: head, a line that counts what is left out, tail. */
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
  /** Unix milliseconds. */
  modifiedAt: number;
}

export interface WalkOptions {
  maxEntries: number;
  /** Also what .gitignore files leave out. `.git` folders are never entered. */
  ignored?: boolean;
  signal?: AbortSignal;
}

export interface WalkEntry {
  /** Relative to the workspace. */
  path: string;
  kind: "file" | "folder" | "link";
}

export interface WalkResult {
  /** Folder by folder, each before those in it, names in order; links are named, never followed. */
  entries: WalkEntry[];
  /** There were more than `maxEntries`. */
  truncated: boolean;
}

/**
 * The files of an execution while it works. A driver on this host works in the server's own folder; one whose files are
 * elsewhere brings them in when it starts, and back when it is asked.
 * Paths are relative to the workspace (absolute only inside it; `/workspace/...` is understood). Links never lead out.
 */
export interface Workspace {
  /** The whole file. @throws Problem 404 `file_not_found`, 403 `outside_workspace`, 413 `file_too_large`, 400. */
  read(path: string): Promise<Uint8Array>;
  /** Replaces the file in one step, making folders on the way; keeps an existing file's mode. */
  write(path: string, data: Uint8Array): Promise<void>;
  /** Entries of one folder by name; a file is its own only entry. */
  list(path: string): Promise<FileEntry[]>;
  /** Everything below a folder, without what .gitignore files leave out. */
  walk(path: string, options: WalkOptions): Promise<WalkResult>;
  /** Makes the server's folder what the files are now. Called after each round of tool calls and before the end. */
  bringBack(): Promise<void>;
}

/** A way for programs inside to reach something that the server offers to this sandbox alone. */
export interface Route {
  /** Where programs inside find it; on their own loopback, so no other sandbox and no machine of the network does. */
  readonly host: "127.0.0.1";
  readonly port: number;
  /** Takes no further connections, and ends those that are open. */
  close(): void;
}

/** The controlled way out of a sandbox whose network is an allow-list. */
export interface WayOut {
  /** Variables that say to programs where it is. */
  env: Readonly<Record<string, string>>;
  /** What is reached from here on counts for this execution: a chat's sandbox outlives its turns. */
  serve(executionId: string): void;
  close(): void;
}

export interface Sandbox {
  readonly capabilities: Capabilities;
  readonly workspace: Workspace;
  /**
   * Runs an argument vector; its whole process group dies on time-out and abort. Never throws for a non-zero exit.
   * Throws Problem 503 `sandbox_lost` when the container is gone: the caller may start another over the same workspace.
   */
  exec(argv: readonly string[], options: ExecOptions): Promise<ExecResult>;
  /**
   * Starts an external agent's program in the workspace, to talk to it while it runs; it ends with the sandbox at the
   * latest. Needs `SandboxSpec.harness`. @throws Problem 503 `sandbox_lost`, 403 `shell_disabled`.
   */
  open(program: (places: HarnessPlaces) => Program, events: PipeEvents, signal: AbortSignal): Promise<Pipe>;
  /**
   * Opens a port on the loopback of the sandbox; each connection that a program inside makes to it is handed over as a
   * stream of both directions. It needs no network of the sandbox, and opens none. Closed with the sandbox.
   * Whoever takes a connection bounds it in bytes and time, and destroys it. At most 8 routes, and 64 connections at once.
   * Throws Problem 503 `sandbox_lost`, `network_unguarded` where the driver has no such way (`spec.routes` was not set).
   * @param port on this machine's loopback where the same is listened for. Where programs inside reach that by themselves, the
   *   route is this port, and no connection is handed over.
   */
  openRoute(onConnection: (connection: Duplex) => void, port?: number): Promise<Route>;
  /**
   * Connects to a port of the sandbox's own loopback. The caller bounds bytes and time, as for `openRoute`. Needs `spec.routes`.
   * @throws Problem 502 `nothing_listens`, 503 `sandbox_lost`, 403 `previews_unavailable` where `capabilities.previews` is none.
   */
  connect(port: number): Promise<Duplex>;
  /**
   * From here on nothing inside changes the files, and no command runs any more. Much quicker than `stop`, which is
   * still to follow. Idempotent.
   */
  freeze(): Promise<void>;
  /**
   * Lets the programs of a frozen one go on, so that `connect` reaches them. What they change is not brought back.
   * @throws Problem 503 `sandbox_lost`, 403 `previews_unavailable` where `capabilities.previews` is not `thawed`.
   */
  thaw(): Promise<void>;
  /** False when no further turn is to begin in it: its commands can no longer run, or its machine is being emptied. */
  isAlive(): Promise<boolean>;
  /** Kills everything inside and removes it. Idempotent. */
  stop(): Promise<void>;
}

export interface Program {
  argv: readonly string[];
  env: Readonly<Record<string, string>>;
}

/** Takes a command line as its argument: `["sh", "-c", SHELL, "sh", line]`. bash when the image has it, else sh. */
export const SHELL = 'if command -v bash >/dev/null 2>&1; then exec bash -c "$1"; else exec sh -c "$1"; fi';

interface Swept {
  /** How many. */
  removed: number;
  /** The places (`placeOf`) of those that still run and could not be removed in time: they may change its files. */
  left: string[];
}

/** Whose files a sandbox works on: those of a run or of another session, or those of its session alone. */
export const placeOf = ({ workId, sessionId }: Pick<SandboxSpec, "workId" | "sessionId">): string =>
  workId ?? sessionId;

/** A sandbox that is there, as administrators see it. */
export interface SandboxShown {
  id: string;
  name: string;
  image: string;
  /** One word of what runs it. */
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
  /** For people: in the status, in the log. */
  readonly name: string;
  readonly capabilities: Capabilities;
  /** How long `about` and `start` may take until they throw that the machine does not answer. */
  readonly noticeMs: number;
  /** What the agent reads about a sandbox like this, before it is started. */
  about(spec: SandboxSpec): Promise<SandboxAbout>;
  /** Brings the files in. Throws Problem 503 (`sandbox_unavailable`, `image_missing`…) with the remedy in its detail. */
  start(spec: SandboxSpec, signal: AbortSignal): Promise<Sandbox>;
  /**
   * Removes containers of this instance whose execution `isLive` denies, within a limited time. Throws when the engine
   * does not answer.
   */
  sweep(isLive: (executionId: string) => boolean): Promise<Swept>;
  /**
   * Those of this instance that are there now; only of drivers whose sandboxes are no containers of this server's engine.
   * @throws Problem when the machine does not answer.
   */
  show?(): Promise<SandboxShown[]>;
}
