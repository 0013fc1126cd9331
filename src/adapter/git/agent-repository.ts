/**
 * The repository that an agent finds in its working copy: the history of its own branch down to some depth, and nothing
 * else of the project: no other branch, no remote, no hook. Once it is there it is the agent's, and hostile: git of
 * this side never runs in it and nothing is read from it. What the agent leaves in its files is what is committed.
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
  /** Commits of it that the agent can read; at least 1. */
  depth: number;
  /** Commit that gets the tag `base`, where it is within the depth. */
  base: string | null;
  signal?: AbortSignal | undefined;
}

/** Who commits where an agent does. */
const IDENTITY = "[user]\n\tname = Skep\n\temail = skep@localhost\n[commit]\n\tgpgSign = false\n";
/** As in the project's own repository: files are what they are, byte for byte. */
const ATTRIBUTES = "* -text -eol -filter -ident !working-tree-encoding\n";
const TIMEOUT_MS = 300_000;

/** Says for which commit and depth the last one was made; out of an agent's reach. */
const markOf = (place: WorktreePlace): string => join(adminFolder(place), "skep-agent-git");

/**
 * Puts a fresh one into the working copy, unless the one that was made last is of the same commit.
 * @returns whether it did. @throws Problem 502, 504.
 */
export async function giveRepository(git: GitCommand, request: AgentRepository): Promise<boolean> {
  const { repository, name, branch, depth, path } = request;
  assertName(name);
  assertRef(branch);
  const at = { cwd: repository, gitDir: repository, signal: request.signal };
  const head = (await git(["rev-parse", "--verify", `refs/heads/${branch}^{commit}`], at)).stdout.trim();
  const mark = `${head} ${depth}\n`;
  if (known(request) === mark) return false;
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

function known(place: WorktreePlace): string | undefined {
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
  // It may be deeper than what was taken.
  if (base !== null) await git(["update-ref", "refs/tags/base", base], { ...at, accept: [1, 128] });
}

/** Takes the place of whatever the agent made of `.git`: a link is removed, not followed. */
async function moveIn(made: string, path: string): Promise<void> {
  using top = openFolder(path, "latin1");
  await removeEntry(top, ".git");
  using parent = openFolder(dirname(path), "latin1");
  parent.rename(`${basename(made)}/.git`, `${basename(path)}/.git`);
}
