/** What git needs to reach one remote repository and no other: its transport, the checked address, a header. */
import { conflict, isProblem, Problem } from "../../core/errors.ts";
import { type GitCommand, withSettings } from "./command.ts";
import { assertBranch } from "./names.ts";

type Transport = "https" | "http" | "ssh" | "git" | "file";

export interface Remote {
  /** Address or absolute path; the caller has checked it. */
  source: string;
  /** The one transport that git may use. */
  transport: Transport;
  /** Host, port and the address to connect to, checked before; none for a path. */
  pin?: { host: string; port: number; address: string } | undefined;
  /** Value of an Authorization header; reaches git through its environment and no file. */
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
    settings.push(["http.curloptResolve", `${pin.host}:${pin.port}:${bracketed(pin.address)}`]);
  if (authorization !== undefined) settings.push(["http.extraHeader", `Authorization: ${authorization}`]);
  return {
    ...withSettings(settings),
    GIT_ALLOW_PROTOCOL: transport,
    GIT_PROTOCOL_FROM_USER: "0",
    ...(transport === "ssh" ? { GIT_SSH_COMMAND: sshCommand(pin), GIT_SSH_VARIANT: "ssh" } : {}),
  };
}

const bracketed = (address: string): string => (address.includes(":") ? `[${address}]` : address);

/** ssh without questions, to the checked address, with the host key remembered under the host's name. */
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

/** What git says when objects are missing: of a remote that was repacked or pushed to while it was read, or our own. */
const OBJECTS_MISSING = /did not send all necessary objects|not our ref|remote: fatal: (bad object|missing|unable to)/;

/**
 * Brings the remote's branches into `refs/remotes/origin/`; no branch of our own moves. A remote that changes while it
 * is read is read once more. @throws Problem 502, 504.
 */
export async function fetchBranches(git: GitCommand, work: RemoteWork): Promise<void> {
  const args = ["fetch", "--progress", "--prune", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance"];
  const once = async (): Promise<Problem | undefined> => {
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
  const failed = (await once()) && (await once());
  if (!failed) return;
  const remedy =
    "Objects are missing there, or in the clone: run `git fsck` in the repository, or create the project again.";
  throw new Problem(failed.status, failed.code, `${failed.detail.replace(/\.?$/, ".")} ${remedy}`);
}

/** Lines kept of what a push was answered, and characters of the host's own words in a refusal. */
const SAID_LINES = 200;
const WORDS_CHARACTERS = 1_000;

/** What the host's hooks or rules wrote, each line once. Text from outside: mask it before it is shown. */
function wordsOf(said: readonly string[]): string {
  const remote = said.flatMap((line) => (line.startsWith("remote:") ? line.slice("remote:".length).trim() : []));
  // `! [remote rejected] main -> main (protected branch hook declined)`
  const reasons = said.flatMap((line) =>
    line.startsWith("! [remote rejected]") && line.endsWith(")") ? line.slice(line.lastIndexOf("(") + 1, -1) : [],
  );
  return [...new Set([...reasons, ...remote])].filter(Boolean).join(" / ").slice(0, WORDS_CHARACTERS);
}

/** @throws Problem 409 `push_rejected`, `push_refused`, `target_checked_out`; 502, 504. */
export async function pushBranch(git: GitCommand, branch: string, work: RemoteWork): Promise<void> {
  assertBranch(branch);
  const refs = `refs/heads/${branch}:refs/heads/${branch}`;
  const said: string[] = [];
  const options = {
    ...commandOptions(work),
    // What it says last is why it refuses.
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
