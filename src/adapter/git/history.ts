/** Deletes work from a repository for good: first its references, then the objects that have become unreachable. */
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { GitCommand } from "./command.ts";
import { assertRef } from "./names.ts";

const TIMEOUT_MS = 60 * 60_000;

/**
 * Deletes every reference that equals one of these or is below it, e.g. `refs/heads/run/ID`. A missing reference is no
 * error.
 */
export async function removeRefs(git: GitCommand, repository: string, prefixes: readonly string[]): Promise<void> {
  for (const prefix of prefixes) assertRef(prefix);
  const at = { cwd: repository, gitDir: repository };
  const listed = (await git(["for-each-ref", "--format=%(refname)", ...prefixes], at)).stdout.split("\n");
  const lines = listed.filter(Boolean).map((ref) => `delete ${ref}\n`);
  if (lines.length > 0) await git(["update-ref", "--no-deref", "--stdin"], { ...at, stdin: lines.join("") });
}

/**
 * Packs what references and working copies reach, and removes all other objects. Call it only while nothing else writes
 * to the repository. It uses little memory and one thread, because other work runs at the same time.
 */
export async function packAndPrune(git: GitCommand, repository: string, signal?: AbortSignal): Promise<void> {
  if (!existsSync(repository)) return;
  const at = { cwd: repository, gitDir: repository, signal, timeoutMs: TIMEOUT_MS };
  await git(["reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all"], at);
  const light = ["-c", "pack.threads=1", "-c", "pack.windowMemory=64m", "-c", "gc.worktreePruneExpire=never"];
  await git([...light, "gc", "--quiet", "--prune=now"], at);
}

/** Estimates the number of loose objects as git does: counts those in one of the 256 folders. */
export async function looseObjects(repository: string): Promise<number> {
  const some = await readdir(join(repository, "objects", "17")).catch(() => []);
  return some.length * 256;
}
