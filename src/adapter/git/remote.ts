/** Lets git reach one remote repository and no other: sets the transport, the checked address and a header. */
import { conflict, isProblem, Problem } from "../../core/errors.ts";
import { type GitCommand, withSettings } from "./command.ts";
import { assertBranch } from "./names.ts";

type Transport = "https" | "http" | "ssh" | "git" | "file";

export interface Remote {
  /** Address or absolute path, checked by the caller. */
  source: string;
  /** The one transport that git may use. */
  transport: Transport;
  /** Host, port and the address to connect to, checked by the caller; undefined for a path. */
  pin?: { host: string; port: number; address: string } | undefined;
  /** Value of an Authorization header. It reaches git through the environment and is never in a file. */
  authorization?: string | undefined;
}

interface RemoteWork extends Remote {
  repository: string;
  signal?: AbortSignal | undefined;
  timeoutMs: number;
  onProgress?: ((line: string) => void) | undefined;
}

/** Environment of a git command that talks to the remote. @throws Problem 422 for an address that git could misread. */
export function remoteEnvironment({ source, transport, pin, authorization }: Remote): Record<string, string> {
  if (source.startsWith("-") || /[\x00-\x1f\x7f]/.test(source))
    throw new Problem(422, "bad_git_name", "This is not a usable repository address.");
  const settings: [string, string][] = [];
  if (pin && (transport === "https" || transport === "http"))
    settings.push(["http.curloptResolve", `${pin.host}:${pin.port}:${bracket(pin.address)}`]);
  if (authorization !== undefined) settings.push(["http.extraHeader", `Authorization: ${authorization}`]);
  return {
    ...withSettings(settings),
    GIT_ALLOW_PROTOCOL: transport,
    GIT_PROTOCOL_FROM_USER: "0",
    ...(transport === "ssh" ? { GIT_SSH_COMMAND: sshCommand(pin), GIT_SSH_VARIANT: "ssh" } : {}),
  };
}

const bracket = (address: string): string => (address.includes(":") ? `[${address}]` : address);

/**
 * An ssh command that never prompts, connects to the checked address, and stores the host key under the host's name.
 */
function sshCommand(pin: Remote["pin"]): string {
  const words = ["ssh", "-o BatchMode=yes", "-o StrictHostKeyChecking=accept-new", "-o ClearAllForwardings=yes"];
  if (pin) {
    if (!/^[a-z0-9.:-]+$/i.test(pin.host + pin.address))
      throw new Problem(422, "bad_host", "This is not a usable host.");
    words.push(`-o HostName=${pin.address}`, `-o HostKeyAlias=${pin.host}`, "-o ProxyCommand=none");
  }
  return words.join(" ");
}

const commandOptions = ({ repository, signal, timeoutMs, onProgress: _, ...remote }: RemoteWork) => ({
  cwd: repository,
  gitDir: repository,
  signal,
  timeoutMs,
  env: remoteEnvironment(remote),
});

/**
 * Git's messages about missing objects. They are missing in a remote that was repacked or pushed to during the fetch,
 * or in the local repository.
 */
const OBJECTS_MISSING = /did not send all necessary objects|not our ref|remote: fatal: (bad object|missing|unable to)/;

/**
 * Fetches the remote's branches into `refs/remotes/origin/`; no local branch moves. If objects are missing because the
 * remote changed meanwhile, it fetches once more. @throws Problem 502, 504.
 */
export async function fetchBranches(git: GitCommand, work: RemoteWork): Promise<void> {
  const args = ["fetch", "--progress", "--prune", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance"];
  const attempt = async (): Promise<Problem | undefined> => {
    let missing = false;
    const onLine = (line: string) => {
      missing ||= OBJECTS_MISSING.test(line);
      work.onProgress?.(line);
    };
    try {
      await git([...args, "--", work.source, "+refs/heads/*:refs/remotes/origin/*"], {
        ...commandOptions(work),
        onLine,
      });
    } catch (error) {
      if (missing && isProblem(error) && error.code === "git_failed") return error;
      throw error;
    }
  };
  const failed = (await attempt()) && (await attempt());
  if (!failed) return;
  const remedy =
    "Objects are missing there, or in the clone: run `git fsck` in the repository, or create the project again.";
  throw new Problem(failed.status, failed.code, `${failed.detail.replace(/\.?$/, ".")} ${remedy}`);
}

/** Bounds of a push's output: lines that are kept, and characters of the host's own message in a refusal. */
const SAID_LINES = 200;
const WORDS_CHARACTERS = 1_000;

/**
 * The messages of the host's hooks or rules, each line once. The text comes from outside, so mask it before it is
 * shown.
 */
function wordsOf(said: readonly string[]): string {
  const remote = said.flatMap((line) => (line.startsWith("remote:") ? line.slice("remote:".length).trim() : []));
  // Example of such a line: `! [remote rejected] main -> main (protected branch hook declined)`
  const reasons = said.flatMap((line) =>
    line.startsWith("! [remote rejected]") && line.endsWith(")") ? line.slice(line.lastIndexOf("(") + 1, -1) : [],
  );
  return [...new Set([...reasons, ...remote])].filter(Boolean).join(" / ").slice(0, WORDS_CHARACTERS);
}

/** Pushes a branch. @throws Problem 409 `push_rejected`, `push_refused`, `target_checked_out`; 502, 504. */
export async function pushBranch(git: GitCommand, branch: string, work: RemoteWork): Promise<void> {
  assertBranch(branch);
  const refs = `refs/heads/${branch}:refs/heads/${branch}`;
  const said: string[] = [];
  const options = {
    ...commandOptions(work),
    // Only the last lines are kept, because the reason comes last.
    onLine: (line: string) => void (said.push(line.slice(0, WORDS_CHARACTERS)) > SAID_LINES && said.shift()),
  };
  try {
    await git(["push", "--no-verify", "--no-follow-tags", "--", work.source, refs], options);
  } catch (error) {
    const text = said.join("\n");
    if (!isProblem(error) || error.code !== "git_failed") throw error;
    if (/refusing to update checked out branch|branch is currently checked out/.test(text))
      throw conflict(
        `The branch ${branch} is checked out in the repository. Check out another branch there, or merge into another.`,
        "target_checked_out",
      );
    if (/\[remote rejected\]/.test(text))
      throw conflict(
        `The repository's host refuses the push to ${branch}: ${wordsOf(said)}. Its hooks or branch rules decide; push the run's own branch and open a pull request, or change the rule there.`,
        "push_refused",
      );
    if (/\[rejected\]/.test(text))
      throw conflict(
        `The remote refused the push: its ${branch} has commits that are not here. Fetch the project, then push again.`,
        "push_rejected",
      );
    throw error;
  }
}
