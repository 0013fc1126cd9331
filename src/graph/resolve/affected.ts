/**
 * Which files' edges an edit can change. Those of the edited files; and, when what others see of a file under some names
 * has changed, those of every file that mentions one of these names. What such a file shows under its own names may
 * change in turn, and so on until nothing more does. When more than names has changed, it is all of them.
 */
import { textsOf } from "../language/facts.ts";
import type { Engine } from "./engine.ts";
import { Surfaces } from "./surface.ts";

interface Edit {
  /** The repository before and after, with the same files in the same rows. */
  before: Engine;
  after: Engine;
  /** Rows of the edited files. */
  changed: readonly number[];
  /** The packed facts of a file after the edit. */
  packedFacts(file: number): Uint8Array;
}

/** More names or a larger share of the files than this: resolving all of them costs little more than finding out. */
const MAX_NAMES = 64;
const MAX_SHARE = 0.25;

/** @returns rows of the files to resolve again; undefined for all of them. */
export function affectedFiles(edit: Edit): ReadonlySet<number> | undefined {
  const { before, after, changed } = edit;
  const surfacesBefore = new Surfaces(before);
  const surfacesAfter = new Surfaces(after);
  const count = after.repo.files.length;
  const affected = new Set(changed);
  const names = new Set<string>();
  let fresh = changed;
  while (fresh.length > 0) {
    const news = new Set<string>();
    for (const file of fresh) {
      const [old, now] = [surfacesBefore.of(file), surfacesAfter.of(file)];
      if (old.whole !== now.whole) return undefined;
      for (const [name, text] of now.names) if (old.names.get(name) !== text && !names.has(name)) news.add(name);
      for (const name of old.names.keys()) if (!now.names.has(name) && !names.has(name)) news.add(name);
    }
    for (const name of news) names.add(name);
    if (names.size > MAX_NAMES) return undefined;
    fresh = news.size === 0 ? [] : filesThatMention(edit, news, affected);
    for (const file of fresh) affected.add(file);
    if (affected.size > Math.max(8, count * MAX_SHARE)) return undefined;
  }
  return affected;
}

/** Other files whose facts contain one of the names as a word. */
function filesThatMention(edit: Edit, names: ReadonlySet<string>, known: ReadonlySet<number>): number[] {
  const { repo } = edit.after;
  const anyCase = edit.changed.some((file) => repo.rules(file).ignoreCase);
  const wanted = Array.from(names, (name) => Buffer.from(anyCase ? name.toLowerCase() : name));
  const found: number[] = [];
  for (let file = 0; file < repo.files.length; file++) {
    if (known.has(file)) continue;
    // Without the numbers before them: a byte of those beside the first name would count as a letter of it.
    const texts = textsOf(edit.packedFacts(file)).map((part) => {
      const bytes = Buffer.from(part.buffer, part.byteOffset, part.byteLength);
      return anyCase ? inLowerCase(bytes) : bytes;
    });
    if (texts.some((text) => wanted.some((name) => hasWord(text, name)))) found.push(file);
  }
  return found;
}

/** As Latin-1 each byte stays one character, and bytes beyond ASCII keep their values. */
function inLowerCase(bytes: Buffer): Buffer {
  const lower = bytes.toString("latin1").replace(/[A-Z]+/g, (upper) => upper.toLowerCase());
  return Buffer.from(lower, "latin1");
}

function hasWord(text: Buffer, word: Buffer): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1))
    if (!isWordByte(text[at - 1]) && !isWordByte(text[at + word.length])) return true;
  return false;
}

/** Letters, digits, `_` and all that is beyond ASCII. */
function isWordByte(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  return (
    (byte >= 48 && byte <= 57) ||
    (byte >= 65 && byte <= 90) ||
    byte === 95 ||
    (byte >= 97 && byte <= 122) ||
    byte >= 128
  );
}
