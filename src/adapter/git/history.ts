/** Taking work out of a repository for good: its references, then the objects that nothing refers to any more. */
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { GitCommand } from "./command.ts";
import { assertRef } from "./names.ts";

const TIMEOUT_MS = 60 * 60_000;

/** Deletes every reference at or below these: `refs/heads/run/ID`. One that is not there is none. */
export async function removeRefs(git: GitCommand, repository: string, prefixes: readonly string[]): Promise<void> {
  for (const prefix of prefixes) assertRef(prefix);
  const at = { cwd: repository, gitDir: repository };
  const listed = (await git(["for-each-ref", "--format=%(refname)", ...prefixes], at)).stdout.split("\n");
  const lines = listed.filter(Boolean).map((ref) => `delete ${ref}\n`);
  if (lines.length > 0) await git(["update-ref", "--no-deref", "--stdin"], { ...at, stdin: lines.join("") });
}

/**
 * Packs what is reachable from references and working copies, and removes all other objects, so only while nothing else
 * writes to the repository. Little memory and one thread: others work beside it.
 */
export async function packAndPrune(git: GitCommand, repository: string, signal?: AbortSignal): Promise<void> {
  if (!existsSync(repository)) return;
  const at = { cwd: repository, gitDir: repository, signal, timeoutMs: TIMEOUT_MS };
  await git(["reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all"], at);
  const light = ["-c", "pack.threads=1", "-c", "pack.windowMemory=64m", "-c", "gc.worktreePruneExpire=never"];
  await git([...light, "gc", "--quiet", "--prune=now"], at);
}

/** Objects that are files of their own; those of 1 of 256 folders are counted, as git does it. */
export async function looseObjects(repository: string): Promise<number> {
  const some = await readdir(join(repository, "objects", "17")).catch(() => []);
  return some.length * 256;
}
