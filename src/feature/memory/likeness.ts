/**
 * Compares two entries by their words: do they say the same, or opposite things? Pure, and cautious: in doubt the
 * answer is neither.
 */

/** The parts of an entry that are compared. */
interface Said {
  title: string;
  content: string;
}

const FILLING = new Set(
  `a an and are as at be been being by for from had has have he her his i in into is it its of on or our she so than that the
   their them then there these they this those to was we were which who will with you your`.split(/\s+/),
);
/** Words that negate a sentence or add a condition to it. */
const TURNS = new Set(
  `not never no none neither cannot can't don't doesn't isn't won't without unless except instead only but if until before after
   off disabled forbidden false wrong longer`.split(/\s+/),
);
const NEGATIONS = new Set(`not never no none neither cannot can't don't doesn't isn't won't without`.split(/\s+/));
const OPPOSITES = new Map(
  "enabled disabled on off always never true false allowed forbidden public private before after required optional"
    .split(" ")
    .flatMap((word, at, all) => [[word, all[at % 2 ? at - 1 : at + 1]!] as const]),
);
const DAYS_AND_MONTHS =
  /^(mon|tues|wednes|thurs|fri|satur|sun)day|^(january|february|march|april|may|june|july|august|september|october|november|december)$/;
const isValue = (word: string): boolean => /\d/.test(word) || DAYS_AND_MONTHS.test(word);

const LEAST_SAME = 0.85;
const LEAST_NEAR = 0.5;
/**
 * Most words that each of two entries may have to itself to count as a contradiction when neither a negation, an
 * opposite nor another value tells them apart.
 */
const SWAPPED = 2;
const DIFFERENCE = 8;

/** Removes a plural ending, which does not change the meaning. */
const stem = (word: string): string => {
  if (word.length <= 4 || /\d/.test(word)) return word;
  return word.replace(/(?<=..)ies$/, "y").replace(/(?<=[^s])s$/, "");
};
/** The words of a text in order, in the form in which they are compared. */
const stemsOf = (text: string): string[] =>
  (
    text
      .normalize("NFC")
      .toLowerCase()
      .match(/[\p{L}\p{N}]+(?:['.:/-][\p{L}\p{N}]+)*/gu) ?? []
  )
    .filter((word) => !FILLING.has(word))
    .map((word) => (TURNS.has(word) ? word : stem(word)));
export const stemSetOf = ({ title, content }: Said): Set<string> => new Set(stemsOf(`${title}\n${content}`));

/** Jaccard index: the share of the words of either set that are in both. */
function measureLikeness(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let common = 0;
  for (const word of a) if (b.has(word)) common++;
  return common / Math.max(1, a.size + b.size - common);
}

/**
 * Takes the words of `part` out of `all` in order.
 * @returns the words that are left; undefined when `all` lacks one.
 */
function leftOver(all: readonly string[], part: readonly string[]): string[] | undefined {
  const left: string[] = [];
  let at = 0;
  for (const word of all) {
    if (word === part[at]) at++;
    else left.push(word);
  }
  return at === part.length ? left : undefined;
}

/**
 * Whether both say the same: the longer text has all words of the shorter one in the same order, and its extra words
 * are no values and no words such as "unless".
 */
export function saysTheSame(a: Said, b: Said): boolean {
  const [x, y] = [stemsOf(a.content), stemsOf(b.content)];
  const [short, long] = x.length <= y.length ? [x, y] : [y, x];
  if (short.length === 0 || short.length < long.length * LEAST_SAME) return false;
  // A text such as "Yes." has a meaning only together with its title.
  if (
    measureLikeness(stemSetOf({ ...a, content: "" }), stemSetOf({ ...b, content: "" })) < LEAST_NEAR &&
    short.length < 4
  )
    return false;
  const more = leftOver(long, short);
  return more?.every((word) => !TURNS.has(word) && !isValue(word)) ?? false;
}

/**
 * The words that only one of two entries has, if both are about the same thing and are unlikely to both be true;
 * otherwise undefined.
 */
export function findContradiction(a: Said, b: Said): { a: string[]; b: string[] } | undefined {
  const [inA, inB] = [stemSetOf(a), stemSetOf(b)];
  if (measureLikeness(inA, inB) < LEAST_NEAR) return undefined;
  const onlyA = [...inA].filter((word) => !inB.has(word));
  const onlyB = [...inB].filter((word) => !inA.has(word));
  if (onlyA.length > DIFFERENCE || onlyB.length > DIFFERENCE) return undefined;
  const hasNegation = (words: readonly string[]) => words.some((word) => NEGATIONS.has(word));
  const opposite = onlyA.some((word) => onlyB.includes(OPPOSITES.get(word) ?? ""));
  const otherValue = onlyA.some(isValue) && onlyB.some(isValue);
  const swapped = [onlyA, onlyB].every(({ length }) => length > 0 && length <= SWAPPED);
  const clash = hasNegation(onlyA) !== hasNegation(onlyB) || opposite || otherValue || swapped;
  return clash ? { a: onlyA, b: onlyB } : undefined;
}

/** An entry to compare. */
export interface Compared<Key> {
  key: Key;
  words: ReadonlySet<string>;
}

/**
 * Most entries with a given rare word that are compared with each entry: text from strangers may repeat one word
 * without end.
 */
const MOST_SHARING = 400;

/**
 * Yields every pair of entries with a Jaccard index of at least 0.5. Two such sets share one of the rarest words of
 * each (prefix filtering), so only entries with these words are compared.
 * @yields undefined now and then, so that the caller can let other work run.
 */
export function* nearPairs<Key>(entries: readonly Compared<Key>[]): Generator<[Key, Key] | undefined> {
  const seenIn = new Map<string, number>();
  for (const { words } of entries) for (const word of words) seenIn.set(word, (seenIn.get(word) ?? 0) + 1);
  const holders = new Map<string, number[]>();
  for (const [at, { key, words }] of entries.entries()) {
    const rarest = [...words].sort((x, y) => seenIn.get(x)! - seenIn.get(y)! || (x < y ? -1 : 1));
    const looked = rarest.slice(0, words.size - Math.ceil(words.size * LEAST_NEAR) + 1);
    const candidates = new Set(looked.flatMap((word) => holders.get(word)?.slice(-MOST_SHARING) ?? []));
    for (const other of candidates)
      if (measureLikeness(entries[other]!.words, words) >= LEAST_NEAR) yield [entries[other]!.key, key];
    for (const word of looked) {
      const known = holders.get(word);
      if (known) known.push(at);
      else holders.set(word, [at]);
    }
    if (at % 50 === 0) yield undefined;
  }
}
