/**
 * The parts of a working copy that are not in the commits of its repository: its submodules, and its files in Git LFS.
 */
import type { Git, WorktreePlace } from "../../adapter/git.ts";
import type { Masking } from "../../core/masking.ts";
import type { FetchedLfs, Lfs } from "./lfs.ts";
import type { ProjectRow } from "./store.ts";
import type { MissingSubmodule, Submodules } from "./submodules.ts";
import type { Turns } from "./turns.ts";

export interface CopyPartsDeps extends Pick<Turns, "fetching"> {
  git: Git;
  submodules: Submodules;
  lfs: Lfs;
  masking: Pick<Masking, "json">;
}

interface CopyParts extends Disposable {
  /** Puts the parts into the working copy. */
  place(): Promise<void>;
  /**
   * One or two sentences about what the repository refers to and the working copy lacks; empty when nothing is missing.
   */
  missing(): string;
}

const NAMED_MODULES = 5;
const NO_PARTS: CopyParts = { place: async () => {}, missing: () => "", [Symbol.dispose]() {} };

/**
 * @returns a function that fetches the parts for a new working copy. It uses the commit where the work began, so that
 * it does not follow what an agent has written into `.gitmodules` since then.
 */
export function createCopyParts({ git, submodules, lfs, masking, fetching }: CopyPartsDeps) {
  return async (
    worktree: WorktreePlace,
    row: ProjectRow,
    base: string | null,
    signal: AbortSignal | undefined,
  ): Promise<CopyParts> => {
    if (base === null || git.hasWorktree(worktree)) return NO_PARTS;
    const modules = await fetching(row.id, () => submodules.fetch(row, base, signal));
    const files = await fetching(row.id, () => lfs.fetch(row, base, signal));
    const missing = [...modules.missing];
    return {
      async place() {
        missing.push(...(await submodules.place(worktree.path, modules, signal)));
        if (files.pointers.length > 0) await git.placeLfs(worktree, files.pointers, files.pathOf);
      },
      missing: () => missingOf(missing, files, masking),
      [Symbol.dispose]: () => files[Symbol.dispose](),
    };
  };
}

/** One or two sentences about what the repository refers to and the working copy lacks. */
const missingOf = (modules: readonly MissingSubmodule[], lfs: FetchedLfs, masking: Pick<Masking, "json">): string => {
  const formatMissing = (missing: readonly MissingSubmodule[]): string => {
    const shown = missing.slice(0, NAMED_MODULES).map(({ path, why }) => `${path.slice(0, 100)} (${why})`);
    const more = missing.length > NAMED_MODULES ? ` and ${missing.length - NAMED_MODULES} more` : "";
    return `${masking.json(shown).join(", ")}${more}.`;
  };
  return [
    ...(modules.length > 0
      ? [`Submodules that were not fetched, their folders are empty: ${formatMissing(modules)}`]
      : []),
    ...(lfs.missing.length > 0
      ? [`Files in Git LFS that were not fetched, the working copy holds their pointers: ${formatMissing(lfs.missing)}`]
      : []),
  ].join(" ");
};
