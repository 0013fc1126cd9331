/**
 * Removes what a killed git leaves in a repository: locks, for which every later command would wait in vain, and
 * partial packs.
 */
import type { Dirent } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { codeOf } from "../../core/errors.ts";

/** The only locks that can be in a repository's folder and in the folders of its worktrees. */
const LOCKS = ["HEAD.lock", "index.lock", "packed-refs.lock", "packed-refs.new", "shallow.lock", "config.lock"];

/**
 * Removes the leftovers. Call it only while no git of this server writes to the repository. A git that a killed server
 * started may still run in its own process group; it is not looked for, and loses its files, too.
 * A missing repository is no error.
 */
export async function removeLeftovers(repository: string): Promise<void> {
  const copies = await entriesOf(join(repository, "worktrees"));
  for (const folder of [repository, ...copies.map(({ name }) => join(repository, "worktrees", name))])
    for (const name of LOCKS) await rm(join(folder, name), { force: true });
  await removeFiles(join(repository, "refs"), (name) => name.endsWith(".lock"));
  await removeFiles(join(repository, "objects/pack"), (name) => /^\.?tmp[-_]/.test(name));
}

async function removeFiles(folder: string, isLeft: (name: string) => boolean): Promise<void> {
  for (const entry of await entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await removeFiles(path, isLeft);
    else if (isLeft(entry.name)) await rm(path, { force: true });
  }
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
}
