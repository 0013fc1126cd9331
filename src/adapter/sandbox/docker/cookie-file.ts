/**
 * The cookie file of a sandbox. It is in memory, in a folder of the container's root user, so that the agent's user can
 * read but not change it. It is on no disk and in no description of the container, and disappears when the container
 * ends.
 */
import { unavailable } from "../../../core/errors.ts";
import type { DockerClient } from "../../docker.ts";
import { captureOutput } from "./exec.ts";

const FOLDER = "/run/skep";
export const COOKIE_FILE = `${FOLDER}/cookies.txt`;
/** Extra room in bytes besides the text, for the folder itself. */
const ROOM_BYTES = 64 * 1024;

/**
 * Copies its input line by line with shell built-ins, so the image only needs `sh`. $1 is the file, which is read-only
 * from its creation.
 */
const WRITER = 'umask 333; while IFS= read -r line; do printf "%s\\n" "$line" || exit 1; done > "$1"';

/** The entry for the engine's `Tmpfs`; empty without cookies. */
export const cookieFolder = (text: string | undefined): Record<string, string> =>
  text === undefined
    ? {}
    : { [FOLDER]: `rw,nosuid,nodev,noexec,size=${Buffer.byteLength(text) + ROOM_BYTES},mode=0755` };

/** Writes the cookies into a running container. Call it before any command of the agent starts. */
export async function writeCookies(docker: DockerClient, containerId: string, text: string | undefined): Promise<void> {
  if (text === undefined) return;
  const argv = ["sh", "-c", WRITER, "sh", COOKIE_FILE];
  const writer = await captureOutput(docker, containerId, { argv, user: "0:0", cwd: "/", stdin: text });
  const exitCode = await writer.exitCode();
  if (exitCode !== 0)
    throw unavailable(
      "cookies_not_given",
      `The cookie file could not be written into the container (exit code ${exitCode}: ${writer.said.trim().slice(0, 200)}). The agent's image needs a shell that can write to ${FOLDER}.`,
    );
}
