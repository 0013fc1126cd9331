/**
 * The sandbox of machines without Docker: file tools on the host that cannot leave the workspace. Commands run only if
 * the operator allows them. They get none of the server's environment, and run in a process group that is killed when
 * the call ends. Processes that left the group are killed when the call is stopped, and with the execution.
 * This sandbox does not confine a hostile command: with a shell, an agent can do whatever the server's user can.
 */
import type { ChildProcess } from "node:child_process";
import { realpath } from "node:fs/promises";
import { constants } from "node:os";
import { join } from "node:path";
import { pid, platform } from "node:process";
import { type Clock, systemClock } from "../../../core/clock.ts";
import { badRequest, forbidden, messageOf, unavailable } from "../../../core/errors.ts";
import { newId } from "../../../core/ids.ts";
import type {
  Capabilities,
  ExecOptions,
  ExecResult,
  Route,
  Sandbox,
  SandboxAbout,
  SandboxDriver,
  SandboxSpec,
} from "../../../engine/sandbox.ts";
import { createOutputWindow } from "../output-window.ts";
import { createWorkspaceFiles } from "../workspace-files.ts";
import { asPathProblem, MOUNT_POINT, resolvePlace } from "../workspace-path.ts";
import { listenOnLoopback } from "./loopback-route.ts";
import { killMarked, PROCESS_MARK } from "./marked-processes.ts";
import { openFiles } from "./open-files.ts";
import { openProcess } from "./open-process.ts";

interface ProcessSandboxDeps {
  allowHostShell: boolean;
  /**
   * Id of the server instance that owns the processes, by which those of a dead server are found. A new id when absent.
   */
  instanceId?: string;
  clock?: Clock;
}

const HOST_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";
/**
 * How long to wait for output that is still in the pipe when the command has ended, ms. The wait has several rounds,
 * each of which reads what is there. A single wait could already be over when a busy machine runs this process again.
 */
const DRAIN_MS = 200;
const DRAIN_ROUNDS = 4;
/** The server keeps these files open while a command starts, and systems allow few descriptors. */
const FILES_AT_ONCE = 200;

export function createProcessSandboxes(deps: ProcessSandboxDeps): SandboxDriver {
  const { allowHostShell, instanceId = newId("instance"), clock = systemClock } = deps;
  const capabilities: Capabilities = {
    shell: allowHostShell,
    network: "host",
    isolation: "none",
    files: "shared",
    filesAtOnce: FILES_AT_ONCE,
    // A port of the loopback may belong to this server, or to any program of the machine.
    previews: "none",
  };
  return {
    name: "process",
    capabilities,
    noticeMs: 0,
    about: async (spec) => aboutOf(await rootOf(spec), allowHostShell),
    start: async (spec, signal) => {
      signal.throwIfAborted();
      const root = await rootOf(spec);
      const env = { ...spec.env, [PROCESS_MARK]: `${instanceId}/${spec.executionId}` };
      // Processes that left their group or session are found by their mark.
      const killLeft = () => killMarked(instanceId, (executionId) => executionId !== spec.executionId);
      return createSandbox({ ...spec, env }, root, { capabilities, clock, killLeft });
    },
    sweep: async (isLive) => ({ removed: allowHostShell ? await killMarked(instanceId, isLive) : 0, left: [] }),
  };
}

const rootOf = ({ home }: SandboxSpec): Promise<string> =>
  realpath(home).catch(() => {
    throw unavailable("workspace_missing", "The workspace's folder does not exist.");
  });

function aboutOf(root: string, shell: boolean): SandboxAbout {
  if (!shell)
    return { files: "Your files are those that the file tools show, and no others.", commands: "", network: "" };
  const uid = process.getuid?.();
  const who = uid === 0 ? "root" : uid === undefined ? "the server's user" : `the user with the number ${uid}`;
  return {
    files: `Your files are in ${root}, where commands start; the file tools also take ${MOUNT_POINT} for it.`,
    commands: `Commands run on the server's own machine as ${who}, and nothing holds them back: change nothing outside of your files. Your home folder is the same folder.`,
    network: "The network is the machine's.",
  };
}

interface SandboxParts {
  capabilities: Capabilities;
  clock: Clock;
  /** Kills what the execution's commands left behind. */
  killLeft(): Promise<unknown>;
}

function createSandbox(spec: SandboxSpec, root: string, { capabilities, clock, killLeft }: SandboxParts): Sandbox {
  const { shell: hasShell } = capabilities;
  const running = new Set<ChildProcess>();
  const routes = new Set<Route>();
  let used = false;
  const base = { PATH: HOST_PATH, HOME: root, LANG: "C.UTF-8", ...spec.env };
  let stopping: Promise<unknown> | undefined;
  const stop = async () => {
    for (const child of running) killGroup(child);
    for (const route of routes) route.close();
    stopping ??= used ? killLeft() : Promise.resolve();
    await stopping;
  };
  return {
    capabilities,
    workspace: createWorkspaceFiles(root),
    exec: async (argv, options) => {
      if (stopping) throw unavailable("sandbox_lost", "The sandbox has been stopped.");
      if (!hasShell && (argv[0] !== "grep" || argv.at(-1) !== "--"))
        throw forbidden("Commands are not allowed on this host (ALLOW_HOST_SHELL).", "shell_disabled");
      const { spawn } = await import("node:child_process");
      using start = openStart(root, options.cwd ?? ".");
      if (options.signal?.aborted) return notStarted();
      using files = openFiles(root, options.files ?? []);
      const whole = [...argv, ...files.arguments];
      const [command, ...rest] = whole;
      if (!command) throw badRequest("There is no command to run.");
      // Both outputs share one pipe, because their order would be lost otherwise.
      const [program, args] = hasShell ? ["sh", ["-c", 'exec "$@" 2>&1', "sh", ...whole]] : [command, rest];
      const child = spawn(program, args, {
        cwd: start.path,
        env: { ...base, ...options.env },
        detached: true,
        stdio: ["pipe", "pipe", "pipe", ...files.descriptors],
      });
      running.add(child);
      used ||= hasShell;
      try {
        const result = await follow(child, command, options, clock);
        if (hasShell && (result.timedOut || result.aborted) && running.size === 1) await killLeft();
        return { ...result, output: files.restoreNames(result.output) };
      } finally {
        killGroup(child);
        running.delete(child);
      }
    },
    async open(program, events, signal) {
      if (stopping) throw unavailable("sandbox_lost", "The sandbox has been stopped.");
      if (!hasShell || !spec.harness)
        throw forbidden(
          "An external agent is a program of its own, and programs are not allowed on this host (ALLOW_HOST_SHELL).",
          "shell_disabled",
        );
      const { argv, env } = program({ workspace: root, state: spec.harness.state });
      used = true;
      return openProcess({ argv, env: { ...base, ...env }, folder: root }, events, signal);
    },
    openRoute: async (onConnection, port) => {
      if (stopping) throw unavailable("sandbox_lost", "The sandbox has been stopped.");
      if (port !== undefined) return { host: "127.0.0.1", port, close() {} };
      const route = await listenOnLoopback(onConnection);
      routes.add(route);
      return route;
    },
    isAlive: async () => !stopping,
    connect: () => Promise.reject(withoutPreviews()),
    thaw: () => Promise.reject(withoutPreviews()),
    freeze: stop,
    stop,
  };
}

const withoutPreviews = () =>
  forbidden("Previews need containers: here an agent's ports are ports of this machine.", "previews_unavailable");

const notStarted = (): ExecResult => ({
  exitCode: null,
  output: "",
  omittedBytes: 0,
  timedOut: false,
  aborted: true,
  durationMs: 0,
});

/**
 * Opens the folder that a command starts in, so that it starts there even if the path is changed meanwhile. Outside
 * Linux, a descriptor cannot be a working directory, so the path is used.
 */
function openStart(root: string, cwd: string): Disposable & { path: string } {
  using place = resolvePlace(root, cwd);
  try {
    const folder = place.folder.folder(place.name);
    const path = platform === "linux" ? `/proc/${pid}/fd/${folder.descriptor}` : join(root, place.relative);
    return { path, [Symbol.dispose]: () => folder.close() };
  } catch (error) {
    throw asPathProblem(error, cwd);
  }
}

/**
 * Kills the process group that the child leads. Its number cannot belong to another group while a member of it lives.
 */
function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // The group is already empty.
  }
}

function follow(child: ChildProcess, command: string, options: ExecOptions, clock: Clock): Promise<ExecResult> {
  const started = clock.monotonic();
  const window = createOutputWindow(options.maxOutputBytes);
  let ended: "timedOut" | "aborted" | undefined;
  const end = (how: "timedOut" | "aborted") => {
    ended ??= how;
    killGroup(child);
  };
  const abort = () => end("aborted");
  const timer = setTimeout(() => end("timedOut"), options.timeoutMs);
  options.signal?.addEventListener("abort", abort, { once: true });
  for (const stream of ["stdout", "stderr"] as const)
    child[stream]?.on("data", (chunk: Uint8Array) => {
      const text = window.push(stream, chunk);
      if (text) options.onOutput?.(text);
    });
  // A command may end without reading its input, which is not an error.
  child.stdin?.on("error", () => {});
  child.stdin?.end(options.stdin);
  return new Promise<ExecResult>((resolve, reject) => {
    const settle = (code: number) =>
      resolve({
        ...window.end(),
        exitCode: ended ? null : code,
        timedOut: ended === "timedOut",
        aborted: ended === "aborted",
        durationMs: clock.monotonic() - started,
      });
    child.once("error", (error) => reject(badRequest(`${command} did not start: ${messageOf(error)}`, "exec_failed")));
    // Background processes may hold the pipes open, so their end is not awaited.
    child.once("exit", (exitCode, signal) => {
      const code = exitCode ?? 128 + (signal ? constants.signals[signal] : 0);
      let late: NodeJS.Timeout;
      const drain = (rounds: number) => {
        if (rounds === 0) return settle(code);
        late = setTimeout(drain, DRAIN_MS / DRAIN_ROUNDS, rounds - 1);
      };
      drain(DRAIN_ROUNDS);
      child.once("close", () => {
        clearTimeout(late);
        settle(code);
      });
    });
  }).finally(() => {
    clearTimeout(timer);
    options.signal?.removeEventListener("abort", abort);
  });
}
