/** Starts a program of this host whose streams stay open while it runs, in a process group of its own. */
import { messageOf, unavailable } from "../../../core/errors.ts";
import type { Pipe, PipeEvents } from "../../../core/pipe.ts";

interface ProcessStart {
  argv: readonly string[];
  /** The program's whole environment. */
  env: Readonly<Record<string, string>>;
  folder: string;
}

/** @throws Problem 503 `server_not_started` when it cannot be started. */
export async function openProcess(
  { argv: [command = "", ...args], env, folder }: ProcessStart,
  events: PipeEvents,
  signal: AbortSignal,
): Promise<Pipe> {
  const { spawn } = await import("node:child_process");
  signal.throwIfAborted();
  const child = spawn(command, args, { cwd: folder, env, detached: true, stdio: "pipe" });
  // The program may end without reading its input, which is not an error.
  child.stdin.on("error", () => {});
  child.stdout.on("data", events.onStdout);
  child.stderr.on("data", events.onStderr);
  const ended = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(`it could not be started: ${messageOf(error)}`));
    child.once("exit", (code, how) => resolve(how ? `it was ended by ${how}` : `it ended with exit code ${code}`));
  });
  const started = await new Promise<Error | undefined>((resolve) => {
    child.once("spawn", () => resolve(undefined));
    child.once("error", resolve);
  });
  if (started) throw unavailable("server_not_started", `${command} could not be started: ${messageOf(started)}`);
  return {
    ended,
    write: (line) =>
      new Promise<void>((resolve) => {
        if (child.stdin.destroyed || child.stdin.write(line)) return resolve();
        child.stdin.once("drain", resolve);
        void ended.then(() => resolve());
      }),
    pause: () => void child.stdout.pause(),
    resume: () => void child.stdout.resume(),
    async kill() {
      try {
        process.kill(-(child.pid ?? 0), "SIGKILL");
      } catch {
        // The group is already empty.
      }
      await ended;
    },
  };
}
