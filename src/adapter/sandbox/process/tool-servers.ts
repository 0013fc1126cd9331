/**
 * Tool servers as processes of this host, each in a process group of its own. Only available if the operator allows
 * commands here.
 */
import { conflict } from "../../../core/errors.ts";
import type { ToolServers } from "../../../engine/tool-servers.ts";
import { killMarked } from "./marked-processes.ts";
import { openProcess } from "./open-process.ts";

interface ProcessToolServersDeps {
  instanceId: string;
  allowHostShell: boolean;
}

/** Environment variable that marks the processes of a server: `<instance>/<server>`. */
const MARK = "SKEP_MCP_SERVER";
const HOST_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

export function createProcessToolServers({ instanceId, allowHostShell }: ProcessToolServersDeps): ToolServers {
  return {
    async open({ server, image, command, args, env, folder }, events, signal) {
      if (!allowHostShell || image !== undefined || command === undefined)
        throw conflict("It names no image, and ALLOW_HOST_SHELL does not let it run on this host.", "shell_disabled");
      const own = { PATH: HOST_PATH, HOME: folder, LANG: "C.UTF-8", ...env, [MARK]: `${instanceId}/${server}` };
      const pipe = await openProcess({ argv: [command, ...args], env: own, folder }, events, signal);
      return {
        ...pipe,
        async kill() {
          await pipe.kill();
          await killMarked(instanceId, (id) => id !== server, MARK);
        },
      };
    },
    sweep: async () => void (await killMarked(instanceId, () => false, MARK)),
    forget: async () => {},
    close: async () => {},
  };
}
