/**
 * Makes the repository that an agent finds in its working copy. It holds the history of the agent's own branch down to
 * some depth, and nothing else of the project: no other branch, no remote, no hook.
 * Once made, it belongs to the agent and is untrusted: the server never runs git in it and reads nothing from it.
 * Commits are made from the agent's files.
 */
import { readFileSync } from "node:fs";
import { appendFile, mkdir, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { openFolder, removeEntry, removeFolder } from "../../working-copy/folder.ts";
import type { GitCommand } from "./command.ts";
import { assertName, assertRef } from "./names.ts";
import { remoteEnvironment } from "./remote.ts";
import { adminFolder, besideOf, type WorktreePlace } from "./worktree.ts";

interface AgentRepository extends WorktreePlace {
  branch: string;
  /** Number of commits of the branch that the agent can read; at least 1. */
  depth: number;
  /** Commit that gets the tag `base`, if it is within the depth. */
  base: string | null;
  signal?: AbortSignal | undefined;
}

/** The identity of commits that the agent makes itself. */
const IDENTITY = "[user]\n\tname = Skep\n\temail = skep@localhost\n[commit]\n\tgpgSign = false\n";
/** As in the project's own repository: git converts no file contents. */
const ATTRIBUTES = "* -text -eol -filter -ident !working-tree-encoding\n";
const TIMEOUT_MS = 300_000;

/** Path of the file that says for which commit and depth the repository was last made. An agent cannot reach it. */
const markOf = (place: WorktreePlace): string => join(adminFolder(place), "skep-agent-git");

/**
 * Puts a new repository into the working copy, unless the last one was made for the same commit and depth.
 * @returns whether it did. @throws Problem 502, 504.
 */
export async function giveRepository(git: GitCommand, request: AgentRepository): Promise<boolean> {
  const { repository, name, branch, depth, path } = request;
  assertName(name);
  assertRef(branch);
  const at = { cwd: repository, gitDir: repository, signal: request.signal };
  const head = (await git(["rev-parse", "--verify", `refs/heads/${branch}^{commit}`], at)).stdout.trim();
  const mark = `${head} ${depth}\n`;
  if (readMark(request) === mark) return false;
  await rm(markOf(request), { force: true });
  const made = besideOf(request);
  await removeFolder(made);
  try {
    await make(git, request, made);
    await moveIn(made, path);
  } finally {
    await removeFolder(made);
  }
  await writeFile(markOf(request), mark);
  return true;
}

function readMark(place: WorktreePlace): string | undefined {
  try {
    return readFileSync(markOf(place), "utf8");
  } catch {
    return undefined;
  }
}

async function make(
  git: GitCommand,
  { repository, branch, depth, base, signal }: AgentRepository,
  made: string,
): Promise<void> {
  const gitDir = join(made, ".git");
  await git(["init", "--quiet", "--template=", `--initial-branch=${branch}`, "--", made], {
    cwd: dirname(made),
    signal,
  });
  const at = { cwd: made, gitDir, signal, timeoutMs: TIMEOUT_MS };
  const ref = `+refs/heads/${branch}:refs/heads/${branch}`;
  const how = ["--quiet", "--no-tags", "--no-write-fetch-head", "--update-head-ok", `--depth=${depth}`];
  const env = remoteEnvironment({ source: repository, transport: "file" });
  await git(["fetch", ...how, "--", repository, ref], { ...at, env });
  await mkdir(join(gitDir, "info"), { recursive: true });
  await writeFile(join(gitDir, "info/attributes"), ATTRIBUTES);
  await appendFile(join(gitDir, "config"), IDENTITY);
  await git(["read-tree", "HEAD"], at);
  // The commit may be older than the fetched history, so failure is accepted.
  if (base !== null) await git(["update-ref", "refs/tags/base", base], { ...at, accept: [1, 128] });
}

/** Replaces whatever the agent made of `.git`: a link is removed, not followed. */
async function moveIn(made: string, path: string): Promise<void> {
  using top = openFolder(path, "latin1");
  await removeEntry(top, ".git");
  using parent = openFolder(dirname(path), "latin1");
  parent.rename(`${basename(made)}/.git`, `${basename(path)}/.git`);
}
