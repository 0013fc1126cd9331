/**
 * Where an agent's shell and files live. One sandbox an execution, gone with it. Two drivers: `docker` (a locked-down
 * container) and `process` (file tools held inside the workspace, no shell unless the operator allows it).
 */

export interface SandboxSpec {
  /** The execution it belongs to, and its session: labels on the container. */
  executionId: string;
  sessionId: string;
  agentId: string;
  runId?: string | undefined;
  /** Container image; the driver's default when absent. */
  image?: string | undefined;
  /** Absolute host path of the workspace; mounted read-write at /workspace. */
  workspace: string;
  network: "none" | "bridge";
  memoryMb: number;
  cpus: number;
  /** Granted secrets and the execution's own variables: present from spawn, never on the container's disk. */
  env: Readonly<Record<string, string>>;
}

export interface ExecOptions {
  /** Relative to the workspace, or absolute inside the sandbox. */
  cwd?: string;
  env?: Readonly<Record<string, string>>;
  stdin?: string | Uint8Array;
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

export interface Sandbox {
  readonly kind: "docker" | "process";
  readonly containerId?: string;
  /**
   * Runs an argument vector; its whole process group dies on time-out and abort. Never throws for a non-zero exit.
   * Throws Problem 503 `sandbox_lost` when the container is gone: the caller may start another over the same workspace.
   */
  exec(argv: readonly string[], options: ExecOptions): Promise<ExecResult>;
  /**
   * Whether `exec` runs whatever it is given. The process sandbox without ALLOW_HOST_SHELL does not: it runs `grep`
   * for the search tool and refuses the rest with 403 `shell_disabled`.
   */
  readonly hasShell: boolean;
  /** Paths are relative to the workspace (absolute only inside it; `/workspace/...` is understood). Symbolic links never lead out. */
  readFile(path: string): Promise<Uint8Array>;
  writeFile(path: string, data: Uint8Array): Promise<void>;
  /** Entries of a folder by name; a file is its own only entry. */
  list(path: string): Promise<FileEntry[]>;
  /** Everything below a folder, without what .gitignore files leave out. */
  walk(path: string, options: WalkOptions): Promise<WalkResult>;
  /** Kills everything inside and removes it. Idempotent. */
  stop(): Promise<void>;
}

export interface SandboxDriver {
  readonly kind: "docker" | "process";
  /** Throws Problem 503 (`docker_unavailable`, `image_missing`…) with the remedy in its detail. */
  start(spec: SandboxSpec, signal: AbortSignal): Promise<Sandbox>;
  /** Removes containers of this instance whose execution `isLive` denies. Returns how many. */
  sweep(isLive: (executionId: string) => boolean): Promise<number>;
}
