/**
 * Finds the files that mention a name. The texts of all files' facts are joined, so that one search covers them all,
 * however many files there are.
 */
import type { SourceFacts } from "../language/facts.ts";

/** If more files than this are edited, the texts are joined again. */
const MAX_EDITED = 100;

/** The joined texts of files, separated by NUL. Those of file n are at `start[n] … start[n + 1] - 1`. */
interface SideBySide {
  text: Buffer;
  start: Int32Array;
}

type FileTexts = Pick<SourceFacts, "texts">;

export interface Mentions {
  /** Must be called when the facts of a file have changed. */
  edit(file: number): void;
  /**
   * Files whose facts contain one of the names as a whole word.
   * @param anyCase whether the case of ASCII letters is ignored
   */
  filesWith(names: ReadonlySet<string>, anyCase: boolean): ReadonlySet<number>;
}

/** @param factsOf the current facts of a file */
export function createMentions(files: number, factsOf: (file: number) => FileTexts): Mentions {
  const known = new Map<boolean, SideBySide>();
  /** Files that were edited since the texts were joined. */
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
    // One more for the NUL after it.
    start[file + 1] = start[file]! + texts.length + 1;
    return texts;
  });
  const text = Buffer.alloc(start[files]!);
  for (const [file, texts] of parts.entries()) text.set(texts, start[file]);
  if (anyCase) putInLowerCase(text);
  return { text, start };
}

/** Lower-cases ASCII letters. Other bytes stay as they are. */
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

/** The offset of a whole word, searched from an offset on; -1 if there is none. */
function wordAt(text: Buffer, word: Buffer, from: number): number {
  let at = text.indexOf(word, from);
  while (at >= 0 && (isWordByte(text[at - 1]) || isWordByte(text[at + word.length]))) at = text.indexOf(word, at + 1);
  return at;
}

/** Whether a byte is an ASCII letter, a digit, `_`, or beyond ASCII. */
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
