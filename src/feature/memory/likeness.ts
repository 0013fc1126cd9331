/** Whether two entries say the same, or opposite things, by their words. Pure, and careful: unsure pairs are neither. */

/** What the comparison reads of an entry. */
interface Said {
  title: string;
  content: string;
}

const FILLING = new Set(
  `a an and are as at be been being by for from had has have he her his i in into is it its of on or our she so than that the
   their them then there these they this those to was we were which who will with you your`.split(/\s+/),
);
/** Words that negate a sentence, or make it true only sometimes. */
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
/** Words in which each of two entries about one thing may differ besides a number or a date. */
const SWAPPED = 2;
const DIFFERENCE = 8;

/** Strips an ending that does not change the word's meaning. */
const stem = (word: string): string => {
  if (word.length <= 4 || /\d/.test(word)) return word;
  return word.replace(/(?<=..)ies$/, "y").replace(/(?<=[^s])s$/, "");
};
/** Words in order, as they are compared. */
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

/** Of all words that are in either, the part that is in both. */
function likeness(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let common = 0;
  for (const word of a) if (b.has(word)) common++;
  return common / Math.max(1, a.size + b.size - common);
}

/** The words of `all` that are left when `part` is taken out in its order; undefined when it is not all in there. */
function leftOver(all: readonly string[], part: readonly string[]): string[] | undefined {
  const left: string[] = [];
  let at = 0;
  for (const word of all) {
    if (word === part[at]) at++;
    else left.push(word);
  }
  return at === part.length ? left : undefined;
}

/** The shorter text says nothing that the longer does not, in the same order, and the longer adds no number and no "unless". */
export function saysTheSame(a: Said, b: Said): boolean {
  const [x, y] = [stemsOf(a.content), stemsOf(b.content)];
  const [short, long] = x.length <= y.length ? [x, y] : [y, x];
  if (short.length === 0 || short.length < long.length * LEAST_SAME) return false;
  // A text such as "Yes." means something only with its title.
  if (likeness(stemSetOf({ ...a, content: "" }), stemSetOf({ ...b, content: "" })) < LEAST_NEAR && short.length < 4)
    return false;
  const more = leftOver(long, short);
  return more?.every((word) => !TURNS.has(word) && !isValue(word)) ?? false;
}

/** Words that only one of two entries about the same thing says, where both are unlikely to be true. */
export function contradiction(a: Said, b: Said): { a: string[]; b: string[] } | undefined {
  const [inA, inB] = [stemSetOf(a), stemSetOf(b)];
  if (likeness(inA, inB) < LEAST_NEAR) return undefined;
  const onlyA = [...inA].filter((word) => !inB.has(word));
  const onlyB = [...inB].filter((word) => !inA.has(word));
  if (onlyA.length > DIFFERENCE || onlyB.length > DIFFERENCE) return undefined;
  const negated = (words: readonly string[]) => words.some((word) => NEGATIONS.has(word));
  const opposite = onlyA.some((word) => onlyB.includes(OPPOSITES.get(word) ?? ""));
  const otherValue = onlyA.some(isValue) && onlyB.some(isValue);
  const swapped = [onlyA, onlyB].every(({ length }) => length > 0 && length <= SWAPPED);
  const clash = negated(onlyA) !== negated(onlyB) || opposite || otherValue || swapped;
  return clash ? { a: onlyA, b: onlyB } : undefined;
}

/** An entry among those that are compared. */
export interface Compared<Key> {
  key: Key;
  words: ReadonlySet<string>;
}

/** Entries with one rare word in common that are looked at for each; text of strangers may repeat one word forever. */
const MOST_SHARING = 400;

/**
 * Every pair that has half of its words in common. Two sets of that likeness share one of the rarest words of each, so
 * only those are looked up.
 * @yields now and then without a pair, so that the caller can give way.
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
      if (likeness(entries[other]!.words, words) >= LEAST_NEAR) yield [entries[other]!.key, key];
    for (const word of looked) {
      const known = holders.get(word);
      if (known) known.push(at);
      else holders.set(word, [at]);
    }
    if (at % 50 === 0) yield undefined;
  }
}
