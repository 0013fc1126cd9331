/**
 * Which files' edges an edit can change. Those of the edited files; and, when what others see of a file under some names
 * has changed, those of every file that mentions one of these names. What such a file shows under its own names may
 * change in turn, and so on until nothing more does. When more than names has changed, it is all of them.
 */
import type { Engine } from "./engine.ts";
import type { Mentions } from "./mentions.ts";
import { type Surface, Surfaces } from "./surface.ts";

interface Edit {
  /** The repository before and after, with the same files in the same rows. */
  before: Engine;
  after: Engine;
  /** Rows of the edited files. */
  changed: readonly number[];
  /** Of the files after the edit. */
  mentions: Mentions;
  /** Surfaces before the edit, by file, where they are known: those after it take their place. */
  surfaces?: Map<number, Surface>;
}

/** More names or a larger share of the files than this: resolving all of them costs little more than finding out. */
const MAX_NAMES = 64;
const MAX_SHARE = 0.25;

/** @returns rows of the files to resolve again; undefined for all of them. */
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
