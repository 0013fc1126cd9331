/**
 * A command in a sandbox's container. Two things the engine does not give: it cannot kill what it started by exec, and
 * it records exit code 0 for a command whose container ended. So a line of `sh` around the command tells its process id
 * before and its exit code after it (which also tells its end when something it left in the background keeps the
 * streams open). Killing is another exec of `sh` that ends the whole session and everything that carries the call's
 * mark in its environment (daemons that left the session), and says so once the dead have made room for other
 * processes. Nothing but `sh` is asked of the image. When that cannot be done in time (a fork bomb leaves no room for a
 * process, or nobody collects its dead), the container is killed and started again over the same workspace.
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

/** Name of the variable that marks what belongs to one call. */
const MARK = "SKEP_EXEC";

/** $1 is the folder, the rest the command. One pipe for both outputs, or their order would be lost. */
const WRAPPER = `exec 2>&1; echo $$; if cd -- "$1"; then shift; "$@"; else (exit 126); fi; echo "${MARK}:$${MARK}:$?"`;

/** Processes that the sandbox must have room for after a kill. The dead count until their parent has collected them. */
const ROOM = 32;
const KILLED = "killed";

/**
 * $1 is the session, $2 the mark. Everything but the look for room is built into `sh`: there may be no room for a
 * process. Two rounds without a find end it: a process that forked while it was looked for is found in the next one.
 * The leader goes first, or it would report the others' end. It does not say `${KILLED}` when it did not get that far.
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

/** After this long the container itself is killed. A kill takes a tenth of it; a busy machine is no reason to lose others' work. */
const KILL_PATIENCE_MS = 5_000;
/** A command that still runs so long after it was killed is looked for again. */
const KILL_AGAIN_MS = 50;
/** Once the exit code is known, the rest of the output is waited for this long. */
const DRAIN_MS = 100;
/** A container that ended is not recorded as such at once, on a busy machine the less. */
const STATE_ATTEMPTS = 20;
const STATE_WAIT_MS = 50;

/** What is asked of whatever runs the container: an engine on this machine, or a cluster. */
export type ExecContainers = Pick<DockerClient["containers"], "exec" | "openExec" | "state">;

interface DockerExecDeps {
  docker: { containers: ExecContainers };
  containerId: string;
  clock: Clock;
  /** Whom commands run as; the container's own user when absent. */
  user?: string | undefined;
  /** After this long without success, `restart` ends what could not be killed, in ms. */
  killMs?: number;
  /** Kills the container and starts it again; shared by calls that need it at the same time. */
  restart(): Promise<void>;
}

interface Call {
  mark: string;
  frame: ExecFrame;
  ended?: "timedOut" | "aborted";
  running?: RunningExec;
}

/** Runs one command. Throws Problem 503 `sandbox_lost` when the container is gone, 400 for an unusable argument. */
export async function execInContainer(
  deps: DockerExecDeps,
  argv: readonly string[],
  options: ExecOptions,
): Promise<ExecResult> {
  // A name that begins with a dash would be taken for a flag by some, also after "--".
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

/** Starts a program that is talked to while it runs. @throws Problem 503 `sandbox_lost`. */
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

/** Ends what carries the mark; the whole container where that does not succeed in time. */
async function killMarked(
  { docker, containerId, restart, killMs = KILL_PATIENCE_MS }: Omit<DockerExecDeps, "clock">,
  mark: string,
): Promise<void> {
  const late = pause(killMs).then(() => false);
  try {
    if (!(await Promise.race([hasKilled(docker, containerId, "none", mark), late]))) await restart();
  } catch {
    // The container is gone, and everything in it.
  }
}

/** Runs a short command of ours to its end. @returns what it said, of both outputs. */
export async function hear(
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

/** Whether the killer found its end: of a session, or of a mark alone. */
async function hasKilled(docker: DockerExecDeps["docker"], containerId: string, session: string, mark: string) {
  const argv = ["sh", "-c", `exec 2>/dev/null; ${KILLER}`, "sh", session, mark];
  return (await hear(docker, containerId, { argv })).said.includes(KILLED);
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
    // Killing may take the whole container: then its loss is our own doing.
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

/** The exit code, when the command has ended. Throws `sandbox_lost` when its container has. */
async function commandEnd(deps: DockerExecDeps, call: Call, running: RunningExec): Promise<number> {
  await Promise.race([running.closed, call.frame.ended]);
  if (call.frame.exitCode !== undefined) await Promise.race([running.closed, pause(DRAIN_MS)]);
  return call.frame.exitCode ?? (await unframedEnd(deps, running));
}

const pause = (ms: number) => new Promise<void>((wake) => setTimeout(wake, ms));

/** The line of `sh` itself was killed, or the whole container. */
async function unframedEnd({ docker, containerId }: DockerExecDeps, running: RunningExec): Promise<number> {
  const exitCode = await running.exitCode();
  for (let attempt = 0; attempt < STATE_ATTEMPTS; attempt++) {
    const state = await docker.containers.state(containerId);
    if (!state.running) throw lost(state.oomKilled ? "it used more memory than it may" : "its container ended");
    await pause(STATE_WAIT_MS);
  }
  // The line of `sh` says so when it ends by itself: 0 is the engine's word for a command that its container took along.
  if (exitCode === null || exitCode === 0) throw lost("the engine does not know how its command ended");
  return exitCode;
}

/** Kills what the call started, and returns when nothing of it is left. */
async function killCall(deps: DockerExecDeps, call: Call, running: RunningExec): Promise<void> {
  const patience = AbortSignal.timeout(deps.killMs ?? KILL_PATIENCE_MS);
  const late = new Promise<false>((resolve) =>
    patience.addEventListener("abort", () => resolve(false), { once: true }),
  );
  const killed = await Promise.race([killByExec(deps, call, running, patience).catch(() => false), late]);
  if (!killed) await deps.restart();
}

/**
 * Again and again until the command is gone and its dead are: one that is only being started cannot be found at first.
 * Not after its time: in a container that was started again the session's number may be another command's.
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

export const lost = (why: string): Problem => unavailable("sandbox_lost", `The sandbox is gone: ${why}.`);

/** What a failure of a call means: the container is gone, or the command could not be started. */
async function lossOf(
  { docker, containerId }: Pick<DockerExecDeps, "docker" | "containerId">,
  error: unknown,
): Promise<Problem | unknown> {
  if (!isProblem(error) || error.code === "sandbox_lost") return error;
  if (error.code === "docker_not_found" || error.code === "docker_conflict" || error.code === "sandbox_unavailable")
    return lost(messageOf(error));
  const state = await docker.containers.state(containerId).catch(() => undefined);
  return state?.running ? error : lost(messageOf(error));
}
