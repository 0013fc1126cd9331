/** A tool server as a process of this host, in a group of its own. Only where the operator allows commands here. */
import type { Pipe, PipeEvents } from "../../../core/pipe.ts";
import { killMarked } from "./marked-processes.ts";
import { openProcess } from "./open-process.ts";

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
  const own = { PATH: HOST_PATH, HOME: folder, LANG: "C.UTF-8", ...env, [MARK]: `${instanceId}/${server}` };
  const pipe = await openProcess({ argv: [command, ...args], env: own, folder }, events, signal);
  return {
    ...pipe,
    async kill() {
      await pipe.kill();
      await killMarked(instanceId, (id) => id !== server, MARK);
    },
  };
}

/** Ends processes of tool servers that another process of this instance left. */
export const sweepServerProcesses = (instanceId: string) => killMarked(instanceId, () => false, MARK);
