/**
 * Finds the files whose edges an edit can change. These are the edited files and, if what others see of a file under
 * some names has changed, all files that mention one of these names. What these files show under their own names may
 * change in turn, so the search repeats until nothing more changes. If more than names has changed, all files are
 * affected.
 */
import type { Engine } from "./engine.ts";
import type { Mentions } from "./mentions.ts";
import { type Surface, Surfaces } from "./surface.ts";

interface Edit {
  /** The repository before and after the edit, with the same files in the same rows. */
  before: Engine;
  after: Engine;
  /** Rows of the edited files. */
  changed: readonly number[];
  /** Mentions in the files after the edit. */
  mentions: Mentions;
  /** Known surfaces by file. Those from before the edit are replaced by those after it. */
  surfaces?: Map<number, Surface>;
}

/**
 * If an edit changes more names or affects a larger share of files, all files are resolved. That costs little more than
 * finding out which ones are affected.
 */
const MAX_NAMES = 64;
const MAX_SHARE = 0.25;

/** @returns rows of the files to resolve again; undefined for all files */
export function affectedFiles(edit: Edit): ReadonlySet<number> | undefined {
  const { before, after, changed, mentions, surfaces } = edit;
  const surfacesBefore = new Surfaces(before);
  const surfacesAfter = new Surfaces(after);
  const count = after.repo.files.length;
  const anyCase = changed.some((file) => after.repo.rules(file).ignoreCase);
  const affected = new Set(changed);
  const names = new Set<string>();
  let fresh = changed;
  while (fresh.length > 0) {
    const news = new Set<string>();
    for (const file of fresh) {
      const [old, now] = [surfaces?.get(file) ?? surfacesBefore.of(file), surfacesAfter.of(file)];
      surfaces?.set(file, now);
      if (old.whole !== now.whole) return undefined;
      for (const [name, text] of now.names) if (old.names.get(name) !== text && !names.has(name)) news.add(name);
      for (const name of old.names.keys()) if (!now.names.has(name) && !names.has(name)) news.add(name);
    }
    for (const name of news) names.add(name);
    if (names.size > MAX_NAMES) return undefined;
    fresh =
      news.size === 0 ? [] : [...mentions.filesWith(news, anyCase)].filter((file) => !affected.has(file)).sort(inOrder);
    for (const file of fresh) affected.add(file);
    if (affected.size > Math.max(8, count * MAX_SHARE)) return undefined;
  }
  return affected;
}

const inOrder = (a: number, b: number): number => a - b;
