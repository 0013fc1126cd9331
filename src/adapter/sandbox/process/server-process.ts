/** A tool server as a process of this host, in a group of its own. Only where the operator allows commands here. */
import { messageOf, unavailable } from "../../../core/errors.ts";
import type { Pipe, PipeEvents } from "../../mcp/pipe.ts";
import { killMarked } from "./marked-processes.ts";

export interface HostServer {
  server: string;
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  folder: string;
}

/** Variable that marks what belongs to a server: `<instance>/<server>`. */
const MARK = "SKEP_MCP_SERVER";
const HOST_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** @throws Problem when it cannot be started. */
export async function openServerProcess(
  instanceId: string,
  { server, command, args, env, folder }: HostServer,
  events: PipeEvents,
  signal: AbortSignal,
): Promise<Pipe> {
  const { spawn } = await import("node:child_process");
  signal.throwIfAborted();
  const own = { PATH: HOST_PATH, HOME: folder, LANG: "C.UTF-8", ...env, [MARK]: `${instanceId}/${server}` };
  const child = spawn(command, [...args], { cwd: folder, env: own, detached: true, stdio: "pipe" });
  // A server may end without reading its input.
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
        // The group is empty already.
      }
      await killMarked(instanceId, (id) => id !== server, MARK);
      await ended;
    },
  };
}

/** Ends processes of tool servers that another process of this instance left. */
export const sweepServerProcesses = (instanceId: string) => killMarked(instanceId, () => false, MARK);
