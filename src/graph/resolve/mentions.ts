/**
 * Which files mention a name. The texts of all files' facts stand side by side, so that one search goes through them,
 * however many files there are.
 */
import type { SourceFacts } from "../language/facts.ts";

/** With more edited files than this, the texts are put side by side again. */
const MAX_EDITED = 100;

/** Texts of files one after the other, divided by NUL: those of file n are before `start[n + 1]`. */
interface SideBySide {
  text: Buffer;
  start: Int32Array;
}

type FileTexts = Pick<SourceFacts, "texts">;

export interface Mentions {
  /** Takes the facts of a file after an edit. */
  edit(file: number): void;
  /**
   * Files whose facts contain one of the names as a word.
   * @param anyCase whether letters of ASCII count as the same in capitals
   */
  filesWith(names: ReadonlySet<string>, anyCase: boolean): ReadonlySet<number>;
}

/** @param factsOf a file, as they are now */
export function createMentions(files: number, factsOf: (file: number) => FileTexts): Mentions {
  const known = new Map<boolean, SideBySide>();
  /** Files that were edited since their texts were put beside the others. */
  const edited = new Set<number>();

  function sideBySide(anyCase: boolean): SideBySide {
    const before = known.get(anyCase);
    if (before) return before;
    const made = join(files, factsOf, anyCase);
    known.set(anyCase, made);
    return made;
  }

  return {
    edit(file) {
      if (known.size > 0) edited.add(file);
      if (edited.size <= MAX_EDITED) return;
      known.clear();
      edited.clear();
    },
    filesWith(names, anyCase) {
      const found = new Set<number>();
      const wanted = Array.from(names, (name) => Buffer.from(anyCase ? name.toLowerCase() : name));
      const all = sideBySide(anyCase);
      for (const word of wanted) addFilesWith(all, word, found);
      for (const file of edited) {
        found.delete(file);
        const own = join(1, () => factsOf(file), anyCase).text;
        if (wanted.some((word) => wordAt(own, word, 0) >= 0)) found.add(file);
      }
      return found;
    },
  };
}

function join(files: number, factsOf: (file: number) => FileTexts, anyCase: boolean): SideBySide {
  const start = new Int32Array(files + 1);
  const parts = Array.from({ length: files }, (_, file) => {
    const { texts } = factsOf(file);
    // A NUL is between them.
    start[file + 1] = start[file]! + texts.length + 1;
    return texts;
  });
  const text = Buffer.alloc(start[files]!);
  for (const [file, texts] of parts.entries()) text.set(texts, start[file]);
  if (anyCase) putInLowerCase(text);
  return { text, start };
}

/** Bytes beyond ASCII keep their values. */
function putInLowerCase(text: Buffer): void {
  for (let at = 0; at < text.length; at++) {
    const byte = text[at]!;
    if (byte >= 65 && byte <= 90) text[at] = byte + 32;
  }
}

function addFilesWith({ text, start }: SideBySide, word: Buffer, found: Set<number>): void {
  let file = 0;
  for (let at = wordAt(text, word, 0); at >= 0; at = wordAt(text, word, start[file + 1]!)) {
    while (start[file + 1]! <= at) file++;
    found.add(file);
  }
}

/** Where a word stands from a place on; -1 for nowhere. */
function wordAt(text: Buffer, word: Buffer, from: number): number {
  let at = text.indexOf(word, from);
  while (at >= 0 && (isWordByte(text[at - 1]) || isWordByte(text[at + word.length]))) at = text.indexOf(word, at + 1);
  return at;
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
