/**
 * Runs a command in a sandbox's container, and makes up for two limits of the engine: it cannot kill what an exec
 * started, and it records exit code 0 for a command whose container ended.
 * So an `sh` wrapper prints the process id before the command's output and the exit code after it. The exit code also
 * tells the command's end when something it left in the background keeps the streams open.
 * To kill, another exec of `sh` ends the whole session and all processes that carry the call's mark in their
 * environment (daemons that left the session). It reports success once the dead processes have made room for others.
 * The image only needs `sh`. A kill can fail: a fork bomb leaves no room for a process, or nobody collects its dead.
 * The container is then killed and started again over the same workspace.
 */
import { randomBytes } from "node:crypto";
import type { Clock } from "../../../core/clock.ts";
import { badRequest, isProblem, messageOf, type Problem, unavailable } from "../../../core/errors.ts";
import type { Pipe, PipeEvents } from "../../../core/pipe.ts";
import type { ExecOptions, ExecResult, Program } from "../../../engine/sandbox.ts";
import type { ExecRequest, RunningExec } from "../../docker/exec.ts";
import type { DockerClient } from "../../docker.ts";
import { createOutputWindow } from "../output-window.ts";
import { MOUNT_POINT } from "../workspace-path.ts";
import { createExecFrame, type ExecFrame } from "./exec-frame.ts";

/** Name of the environment variable that marks the processes of one call. */
const MARK = "SKEP_EXEC";

/**
 * $1 is the folder, the rest is the command. Both outputs share one pipe, because their order would be lost otherwise.
 */
const WRAPPER = `exec 2>&1; echo $$; if cd -- "$1"; then shift; "$@"; else (exit 126); fi; echo "${MARK}:$${MARK}:$?"`;

/**
 * Number of processes that the sandbox must have room for after a kill. Dead processes take room until their parent has
 * collected them.
 */
const ROOM = 32;
const KILLED = "killed";

/**
 * $1 is the session, $2 the mark. Everything except the test for room uses shell built-ins, because there may be no
 * room for a process.
 * It ends after two rounds that find nothing: a process that forked during one round is found in the next.
 * The session's leader is killed first, or it would report the end of the others. `${KILLED}` is only printed when
 * everything succeeded.
 */
const KILLER = `
marked() {
  while read -r text || [ -n "$text" ]; do
    case "$text" in *"$mark"*) return 0 ;; esac
  done < $1/environ
  return 1
}
room() { [ $1 -eq 0 ] || { (room $(($1-1)) && :) && :; }; }
session=$1 mark=${MARK}=$2 quiet=0 rounds=0
while [ $quiet -lt 2 ]; do
  [ $rounds -lt 50 ] || exit 1
  found=
  for folder in /proc/$session /proc/[0-9]*; do
    pid=\${folder#/proc/}
    [ "$pid" = $$ ] && continue
    read -r line < $folder/stat || continue
    set -- \${line##*) }
    [ "$1" = Z ] && continue
    if [ "$4" != "$session" ]; then marked $folder || continue; fi
    kill -KILL $pid && found=1
  done
  if [ -n "$found" ]; then quiet=0; else quiet=$((quiet+1)); fi
  rounds=$((rounds+1))
done
room ${ROOM} && echo ${KILLED}`;

/**
 * When a kill takes longer, the container itself is killed, ms. A kill normally takes a tenth of this; the rest is for
 * busy machines, where others' work must not be lost.
 */
const KILL_PATIENCE_MS = 5_000;
/** If a command still runs this long after it was killed, it is searched for again, ms. */
const KILL_AGAIN_MS = 50;
/** How long to wait for remaining output once the exit code is known, ms. */
const DRAIN_MS = 100;
/**
 * Number of times and pause (ms) for checking whether a container has ended. On a busy machine the engine records that
 * late.
 */
const STATE_ATTEMPTS = 20;
const STATE_WAIT_MS = 50;

/** The calls needed from what runs the container, an engine on this machine or a cluster. */
export type ExecContainers = Pick<DockerClient["containers"], "exec" | "openExec" | "state">;

interface DockerExecDeps {
  docker: { containers: ExecContainers };
  containerId: string;
  clock: Clock;
  /** The user that commands run as; the container's own user when absent. */
  user?: string | undefined;
  /** Time limit of a kill, ms; then `restart` ends what is left. */
  killMs?: number;
  /** Kills the container and starts it again. Calls that need this at the same time share one restart. */
  restart(): Promise<void>;
}

interface Call {
  mark: string;
  frame: ExecFrame;
  ended?: "timedOut" | "aborted";
  running?: RunningExec;
}

/** Runs one command. @throws Problem 503 `sandbox_lost` when the container is gone, 400 for an unusable argument. */
export async function execInContainer(
  deps: DockerExecDeps,
  argv: readonly string[],
  options: ExecOptions,
): Promise<ExecResult> {
  // Some programs take a name that begins with a dash for an option, even after "--".
  const words = [...argv, ...(options.files ?? []).map((file) => (file.startsWith("-") ? `./${file}` : file))];
  checkArguments(words, options);
  const started = deps.clock.monotonic();
  const window = createOutputWindow(options.maxOutputBytes);
  const mark = randomBytes(12).toString("hex");
  const frame = createExecFrame(`${MARK}:${mark}:`, (stream, chunk) => {
    const text = window.push(stream, chunk);
    if (text) options.onOutput?.(text);
  });
  const call: Call = { mark, frame };
  const exitCode = options.signal?.aborted ? abortedBefore(call) : await runToEnd(deps, words, options, call);
  frame.flush();
  return {
    ...window.end(),
    exitCode: call.ended ? null : exitCode,
    timedOut: call.ended === "timedOut",
    aborted: call.ended === "aborted",
    durationMs: deps.clock.monotonic() - started,
  };
}

/** Starts a program whose streams stay open while it runs. @throws Problem 503 `sandbox_lost`. */
export async function openInContainer(
  deps: Omit<DockerExecDeps, "clock">,
  { argv, env }: Program,
  events: PipeEvents,
  signal: AbortSignal,
): Promise<Pipe> {
  const { docker, containerId } = deps;
  const mark = randomBytes(12).toString("hex");
  try {
    signal.throwIfAborted();
    const { closed, exitCode, detach, write, pause, resume } = await docker.containers.openExec(containerId, {
      argv: ["sh", "-c", 'cd -- "$1" && shift && exec "$@"', "sh", MOUNT_POINT, ...argv],
      env: [...Object.entries(env).map(([name, value]) => `${name}=${value}`), `${MARK}=${mark}`],
      onOutput: (stream, chunk) => (stream === "stdout" ? events.onStdout(chunk) : events.onStderr(chunk)),
    });
    const ended = closed.then(exitCode).then(
      (code) => `it ended with exit code ${code ?? "unknown"}`,
      (error) => messageOf(error),
    );
    let killing: Promise<void> | undefined;
    const kill = () => {
      detach();
      killing ??= killMarked(deps, mark);
      return killing;
    };
    return { ended, write, pause, resume, kill };
  } catch (error) {
    throw await lossOf(deps, error);
  }
}

/** Kills all processes with the mark. If that does not succeed in time, the container is restarted. */
async function killMarked(
  { docker, containerId, restart, killMs = KILL_PATIENCE_MS }: Omit<DockerExecDeps, "clock">,
  mark: string,
): Promise<void> {
  const late = pause(killMs).then(() => false);
  try {
    if (!(await Promise.race([hasKilled(docker, containerId, "none", mark), late]))) await restart();
  } catch {
    // The container is gone, with everything in it.
  }
}

/** Runs a short command of Skep's own to its end. @returns both of its outputs as one text. */
export async function captureOutput(
  { containers }: { containers: Pick<ExecContainers, "exec"> },
  containerId: string,
  request: Omit<ExecRequest, "onOutput">,
): Promise<Pick<RunningExec, "exitCode"> & { said: string }> {
  const chunks: Uint8Array[] = [];
  const onOutput = (_stream: string, chunk: Uint8Array) => void chunks.push(Buffer.from(chunk));
  const { closed, exitCode } = await containers.exec(containerId, { ...request, onOutput });
  await closed;
  return { said: Buffer.concat(chunks).toString(), exitCode };
}

/**
 * Runs the killer for a session and a mark. @returns whether it succeeded. The session "none" kills by the mark alone.
 */
async function hasKilled(docker: DockerExecDeps["docker"], containerId: string, session: string, mark: string) {
  const argv = ["sh", "-c", `exec 2>/dev/null; ${KILLER}`, "sh", session, mark];
  return (await captureOutput(docker, containerId, { argv })).said.includes(KILLED);
}

function abortedBefore(call: Call): null {
  call.ended = "aborted";
  return null;
}

function checkArguments(argv: readonly string[], { cwd = "", env = {} }: ExecOptions): void {
  if (!argv[0] || argv[0].startsWith("-")) throw badRequest("There is no command to run.");
  if ([...argv, cwd, ...Object.keys(env), ...Object.values(env)].some((text) => text.includes("\0")))
    throw badRequest("A command's arguments cannot contain a NUL byte.");
}

async function runToEnd(
  deps: DockerExecDeps,
  argv: readonly string[],
  options: ExecOptions,
  call: Call,
): Promise<number | null> {
  const { docker, containerId } = deps;
  const stopped = Promise.withResolvers<null>();
  const kill = (running: RunningExec) =>
    killCall(deps, call, running).then(() => stopped.resolve(null), stopped.reject);
  const end = (how: "timedOut" | "aborted") => {
    if (call.ended) return;
    call.ended = how;
    if (call.running) kill(call.running);
  };
  const abort = () => end("aborted");
  const timer = setTimeout(() => end("timedOut"), options.timeoutMs);
  options.signal?.addEventListener("abort", abort, { once: true });
  try {
    call.running = await docker.containers.exec(containerId, {
      argv: ["sh", "-c", WRAPPER, "sh", folderOf(options.cwd), ...argv],
      env: [...Object.entries(options.env ?? {}).map(([name, value]) => `${name}=${value}`), `${MARK}=${call.mark}`],
      stdin: options.stdin,
      user: deps.user,
      onOutput: call.frame.push,
    });
    if (call.ended) kill(call.running);
    // The kill may restart the container; a failure of the command's end is then expected.
    const finished = commandEnd(deps, call, call.running).catch((error) => {
      if (call.ended) return stopped.promise;
      throw error;
    });
    const exitCode = await Promise.race([finished, stopped.promise]);
    return call.ended ? await stopped.promise : exitCode;
  } catch (error) {
    throw await lossOf(deps, error);
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener("abort", abort);
    call.running?.detach();
  }
}

function folderOf(cwd = "."): string {
  return cwd.startsWith("/") ? cwd : `${MOUNT_POINT}/${cwd}`;
}

/** Waits for the command's end. @returns its exit code. @throws `sandbox_lost` when its container has ended. */
async function commandEnd(deps: DockerExecDeps, call: Call, running: RunningExec): Promise<number> {
  await Promise.race([running.closed, call.frame.ended]);
  if (call.frame.exitCode !== undefined) await Promise.race([running.closed, pause(DRAIN_MS)]);
  return call.frame.exitCode ?? (await unframedEnd(deps, running));
}

const pause = (ms: number) => new Promise<void>((wake) => setTimeout(wake, ms));

/** The command ended without the wrapper's last line: the wrapper was killed, or the whole container. */
async function unframedEnd({ docker, containerId }: DockerExecDeps, running: RunningExec): Promise<number> {
  const exitCode = await running.exitCode();
  for (let attempt = 0; attempt < STATE_ATTEMPTS; attempt++) {
    const state = await docker.containers.state(containerId);
    if (!state.running)
      throw createLostProblem(state.oomKilled ? "it used more memory than it may" : "its container ended");
    await pause(STATE_WAIT_MS);
  }
  // The wrapper reports its own end. So a 0 here is what the engine records for a command that ended with its
  // container.
  if (exitCode === null || exitCode === 0) throw createLostProblem("the engine does not know how its command ended");
  return exitCode;
}

/** Kills what the call started, and resolves when nothing of it is left. */
async function killCall(deps: DockerExecDeps, call: Call, running: RunningExec): Promise<void> {
  const patience = AbortSignal.timeout(deps.killMs ?? KILL_PATIENCE_MS);
  const late = new Promise<false>((resolve) =>
    patience.addEventListener("abort", () => resolve(false), { once: true }),
  );
  const killed = await Promise.race([killByExec(deps, call, running, patience).catch(() => false), late]);
  if (!killed) await deps.restart();
}

/**
 * Kills repeatedly until the command has ended and its dead are collected, because a process that is just starting
 * cannot be found at first. It stops at the time limit: in a restarted container, the session's number may belong to
 * another command.
 */
async function killByExec(
  { docker, containerId }: DockerExecDeps,
  call: Call,
  running: RunningExec,
  patience: AbortSignal,
): Promise<boolean> {
  const gone = running.closed.then(() => true);
  while (!patience.aborted) {
    const killed = await hasKilled(docker, containerId, call.frame.pid ?? "none", call.mark);
    const again = pause(KILL_AGAIN_MS).then(() => false);
    if (killed ? await Promise.race([gone, again]) : await again) return true;
  }
  return false;
}

export const createLostProblem = (why: string): Problem => unavailable("sandbox_lost", `The sandbox is gone: ${why}.`);

/** Interprets the failure of a call: the container is gone, or the command could not be started. */
async function lossOf(
  { docker, containerId }: Pick<DockerExecDeps, "docker" | "containerId">,
  error: unknown,
): Promise<Problem | unknown> {
  if (!isProblem(error) || error.code === "sandbox_lost") return error;
  if (error.code === "docker_not_found" || error.code === "docker_conflict" || error.code === "sandbox_unavailable")
    return createLostProblem(messageOf(error));
  const state = await docker.containers.state(containerId).catch(() => undefined);
  return state?.running ? error : createLostProblem(messageOf(error));
}
