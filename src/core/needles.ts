/**
 * Multi-pattern search (rolling hash, as in Rabin–Karp): finds any of many short texts in a long one, in time that
 * depends only on the long text's length. At each position, a hash of six characters says whether a needle may begin
 * there. Needles with the same hash are sorted and found by binary search.
 */

/** Length of the hashed text, and of the shortest needle. */
export const MIN_NEEDLE = 6;
/** Length of the longest needle; it limits the comparison at one position. */
export const MAX_NEEDLE = 64;

/** `needle` is one form of the secret value with that name. */
export interface Needle {
  needle: string;
  name: string;
}

interface Bucket {
  needles: Needle[];
  isOrdered: boolean;
}

const BASE = 0x01000193;
/** BASE to the power of MIN_NEEDLE - 1. */
const LEADING = Array.from({ length: MIN_NEEDLE - 1 }).reduce<number>((power) => Math.imul(power, BASE), 1);
const BITS_PER_NEEDLE = 64;
const LEAST_BITS = 11;

export class Needles {
  size = 0;
  /** Needles by the hash of their first six characters. */
  private readonly buckets = new Map<number, Bucket>();
  /** The first one to five characters of every needle ever added, including removed ones. */
  private readonly beginnings = new Set<string>();
  /** One bit per hash: whether there may be a bucket. Bits of removed needles may still be set. */
  private filter = new Uint32Array(2 ** (LEAST_BITS - 5));
  private shift = 32 - LEAST_BITS;

  /** @throws RangeError for a text shorter than MIN_NEEDLE or longer than MAX_NEEDLE. */
  add(needles: Iterable<Needle>): void {
    for (const one of needles) {
      const { needle } = one;
      if (needle.length < MIN_NEEDLE || needle.length > MAX_NEEDLE)
        throw new RangeError(`a needle of ${needle.length} characters`);
      const hash = hashAt(needle, 0);
      const bucket = this.buckets.get(hash);
      if (bucket) {
        bucket.needles.push(one);
        bucket.isOrdered = false;
      } else this.buckets.set(hash, { needles: [one], isOrdered: true });
      for (let length = 1; length < MIN_NEEDLE; length++) this.beginnings.add(needle.slice(0, length));
      this.size++;
      this.mark(hash);
    }
    if (this.buckets.size * BITS_PER_NEEDLE > this.filter.length * 32) this.growFilter();
  }

  /** Removes exactly these objects. */
  remove(needles: ReadonlySet<Needle>): void {
    for (const one of needles) {
      const hash = hashAt(one.needle, 0);
      const bucket = this.buckets.get(hash);
      const at = bucket?.needles.indexOf(one) ?? -1;
      if (!bucket || at < 0) continue;
      bucket.needles.splice(at, 1);
      if (bucket.needles.length === 0) this.buckets.delete(hash);
      this.size--;
    }
  }

  private growFilter(): void {
    let bits = LEAST_BITS;
    while (2 ** bits < this.buckets.size * BITS_PER_NEEDLE * 2) bits++;
    this.filter = new Uint32Array(2 ** (bits - 5));
    this.shift = 32 - bits;
    for (const hash of this.buckets.keys()) this.mark(hash);
  }

  private mark(hash: number): void {
    const bit = Math.imul(hash, SPREAD) >>> this.shift;
    this.filter[bit >>> 5]! |= 1 << (bit & 31);
  }

  /**
   * Finds the first position from `from` on, before `stop`, where a needle begins, and the longest needle there.
   * @returns undefined when there is none.
   */
  find(text: string, from: number, stop: number): { at: number; found: Needle } | undefined {
    const end = Math.min(stop, text.length - MIN_NEEDLE + 1);
    if (from >= end) return undefined;
    const { filter, shift } = this;
    let hash = hashAt(text, from);
    for (let at = from; ; ) {
      const bit = Math.imul(hash, SPREAD) >>> shift;
      if ((filter[bit >>> 5]! >>> (bit & 31)) & 1) {
        const bucket = this.bucketOf(hash);
        const found = bucket && longestAt(bucket, text, at);
        if (found) return { at, found };
      }
      if (++at >= end) return undefined;
      const rest = hash - Math.imul(text.charCodeAt(at - 1), LEADING);
      hash = (Math.imul(rest, BASE) + text.charCodeAt(at + MIN_NEEDLE - 1)) | 0;
    }
  }

  /**
   * First position near the end of the text where a needle may have begun that continues after the text; the text's
   * length if none.
   */
  openFrom(text: string): number {
    for (let at = Math.max(0, text.length - MAX_NEEDLE + 1); at < text.length; at++)
      if (this.isOpen(text, at)) return at;
    return text.length;
  }

  private isOpen(text: string, at: number): boolean {
    const length = text.length - at;
    if (length < MIN_NEEDLE) return this.beginnings.has(text.slice(at));
    const bucket = this.bucketOf(hashAt(text, at));
    const next = bucket?.[countUpTo(bucket, text, at, length)];
    return next !== undefined && commonLength(next.needle, text, at) === length;
  }

  private bucketOf(hash: number): readonly Needle[] | undefined {
    const bucket = this.buckets.get(hash);
    if (bucket && !bucket.isOrdered) {
      bucket.needles.sort((a, b) => (a.needle < b.needle ? -1 : a.needle > b.needle ? 1 : 0));
      bucket.isOrdered = true;
    }
    return bucket?.needles;
  }
}

const SPREAD = 0x9e3779b1;

function longestAt(ordered: readonly Needle[], text: string, at: number): Needle | undefined {
  let length = Math.min(MAX_NEEDLE, text.length - at);
  while (length >= MIN_NEEDLE) {
    // Needles that the text begins with sort before it, and each of them is a prefix of the last of them.
    const before = ordered[countUpTo(ordered, text, at, length) - 1];
    if (!before) return undefined;
    const common = commonLength(before.needle, text, at);
    if (common === before.needle.length) return before;
    length = Math.min(length - 1, common);
  }
  return undefined;
}

/** How many needles sort at or before the `length` characters of the text at `at`. */
function countUpTo(ordered: readonly Needle[], text: string, at: number, length: number): number {
  let [low, high] = [0, ordered.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isGreater(ordered[middle]!.needle, text, at, length)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function hashAt(text: string, at: number): number {
  let hash = 0;
  for (let i = 0; i < MIN_NEEDLE; i++) hash = (Math.imul(hash, BASE) + text.charCodeAt(at + i)) | 0;
  return hash;
}

function isGreater(needle: string, text: string, at: number, length: number): boolean {
  const most = Math.min(needle.length, length);
  for (let i = 0; i < most; i++) {
    const difference = needle.charCodeAt(i) - text.charCodeAt(at + i);
    if (difference !== 0) return difference > 0;
  }
  return needle.length > length;
}

function commonLength(needle: string, text: string, at: number): number {
  const most = Math.min(needle.length, text.length - at);
  let length = 0;
  while (length < most && needle.charCodeAt(length) === text.charCodeAt(at + length)) length++;
  return length;
}
