/**
 * Full-text search over symbols, in memory: names and paths split into words (camelCase, snake_case), signatures, docs.
 * Scores are Okapi BM25 with a weight for each of these fields (Robertson and Zaragoza, 2009). Exact names and often
 * used symbols score higher.
 *
 * The index is built from the graph when that is opened. A word's nodes are stored together in typed arrays, so that a
 * word that a hundred thousand nodes share costs about a millisecond.
 */
import type { CodeGraph } from "../code-graph.ts";
import type { KeptNodes } from "../kept-nodes.ts";
import { NODE_LABELS, REFERENCE_LABELS } from "../model.ts";
import { isTestPath } from "../test-paths.ts";
import { askedWords, contentWords, isAsked } from "./stop-words.ts";
import { type Postings, patchPostings, postingsOf, wholeWords } from "./word-postings.ts";

interface SearchHit {
  node: number;
  /** Higher is better. */
  score: number;
}

export interface WordIndex {
  /**
   * Finds the nodes that match a query, best first. Without `labels`, all nodes are searched, and imports and
   * decorators come after all declarations. Never throws, whatever the query is.
   */
  find(query: string, limit: number, labels: readonly number[]): SearchHit[];
}

const K1 = 1.2;
const B = 0.75;
/**
 * Smallest weight (IDF) of a word. A word in more than half of all nodes says almost nothing, but must not count
 * negatively.
 */
const MIN_IDF = 1e-6;
const MAX_WORDS = 12;
/** At most this many words are taken for one prefix. */
const MAX_ENDINGS = 200;
/** At most this many symbols with exactly the searched name are always considered. */
const MAX_EXACT = 200;
const REFERENCES = new Set(NODE_LABELS.flatMap((label, row) => (REFERENCE_LABELS.has(label) ? [row] : [])));

/** Builds the index, a number of nodes at each step. */
export function* buildWordIndex(graph: CodeGraph): Generator<void, WordIndex> {
  const postings = yield* postingsOf(graph);
  const sorted = [...postings.words.keys()].sort();
  yield;
  return new MemoryIndex(graph, postings, sorted);
}

/** The words of an index without its graph, for building the next index. */
export interface KnownWords {
  postings: Postings;
  sorted: readonly string[];
}

export const wordsKnownTo = (index: WordIndex): KnownWords | undefined =>
  index instanceof MemoryIndex ? { postings: index.postings, sorted: index.sorted } : undefined;

/**
 * Builds the same index as `buildWordIndex`, from the words of an earlier graph's index.
 * @param kept what an edit left of the nodes; undefined if only clusters and flows changed
 */
export function* patchWordIndex(
  known: KnownWords,
  graph: CodeGraph,
  kept: KeptNodes | undefined,
): Generator<void, WordIndex> {
  const { sorted } = known;
  if (!kept) return new MemoryIndex(graph, known.postings, sorted);
  const postings = patchPostings(known.postings, graph, kept);
  yield;
  const more = [...postings.words.keys()].slice(sorted.length);
  return new MemoryIndex(graph, postings, more.length === 0 ? sorted : [...sorted, ...more].sort());
}

/** From this many words on, a query is taken for a question and not for a name. */
const QUESTION_WORDS = 5;

function queryWords(query: string): string[] {
  if (wholeWords(query).length >= QUESTION_WORDS) return contentWords(query);
  return [...askedWords(query), ...wholeWords(query).filter(isAsked)];
}

class MemoryIndex implements WordIndex {
  private readonly searched: number;
  /** The length normalization of BM25 for each node. */
  private readonly norm: Float32Array;
  /** Scores of the running query; all 0 between queries. */
  private readonly scores: Float64Array;

  constructor(
    private readonly graph: CodeGraph,
    readonly postings: Postings,
    readonly sorted: readonly string[],
  ) {
    const { length } = postings;
    let [sum, searched] = [0, 0];
    for (const words of length) {
      sum += words;
      if (words > 0) searched++;
    }
    this.searched = searched;
    this.norm = Float32Array.from(length, (words) => K1 * (1 - B + (B * words) / (sum / Math.max(1, searched))));
    this.scores = new Float64Array(length.length);
  }

  find(query: string, limit: number, labels: readonly number[]): SearchHit[] {
    const words = [...new Set(queryWords(query))].slice(0, MAX_WORDS);
    const { label } = this.graph.nodes;
    if (labels.length > 0) {
      const wanted = new Set(labels);
      return this.search(query, words, limit, (node) => wanted.has(label[node]!));
    }
    const found = this.search(query, words, limit, (node) => !REFERENCES.has(label[node]!));
    if (found.length >= limit) return found;
    // A name that is not declared here may still be imported: a library, or a decorator of a framework.
    return [...found, ...this.search(query, words, limit - found.length, (node) => REFERENCES.has(label[node]!))];
  }

  private search(query: string, words: readonly string[], limit: number, fits: (node: number) => boolean): SearchHit[] {
    const wide = Math.max(limit * 8, 100);
    // A later index shares the map of words, and may have added words that this index does not know.
    const isKnown = (number: number) => number < this.sorted.length;
    const numbers = words.flatMap((word) => this.postings.words.get(word) ?? []).filter(isKnown);
    let best = this.rank(
      numbers.map((word) => [word]),
      wide,
      query,
      fits,
    );
    if (best.length < limit)
      best = this.rank(
        words.map((word) => this.beginningWith(word)),
        wide,
        query,
        fits,
      );
    const hits = best.map(({ node, score }) => ({ node, score: score * weigh(this.graph, node, query) }));
    return hits.sort((a, b) => b.score - a.score || a.node - b.node).slice(0, limit);
  }

  /** The words that begin with a text. */
  private beginningWith(text: string): number[] {
    let [low, high] = [0, this.sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.sorted[middle]! < text) low = middle + 1;
      else high = middle;
    }
    const found: number[] = [];
    for (let at = low; at < this.sorted.length && found.length < MAX_ENDINGS; at++) {
      if (!this.sorted[at]!.startsWith(text)) break;
      const word = this.postings.words.get(this.sorted[at]!)!;
      // Skips words that no node has any more after an edit.
      if (this.postings.start[word] !== this.postings.start[word + 1]) found.push(word);
    }
    return found;
  }

  /** The best nodes by their words alone, plus those with exactly the searched name. They are not sorted. */
  private rank(
    terms: readonly (readonly number[])[],
    count: number,
    query: string,
    fits: (node: number) => boolean,
  ): SearchHit[] {
    const touched: number[] = [];
    for (const term of terms) this.add(term, touched);
    const best = new Best(count);
    for (const node of touched) if (fits(node)) best.offer(node, this.scores[node]!);
    const exact = this.graph.findByName(query.trim()).slice(0, MAX_EXACT);
    for (const node of exact) if (this.scores[node]! > 0 && fits(node)) best.keep(node, this.scores[node]!);
    for (const node of touched) this.scores[node] = 0;
    return best.hits();
  }

  /** Adds the score of a word. Several words, such as those with one prefix, count as one. */
  private add(words: readonly number[], touched: number[]): void {
    const { start, node, count } = this.postings;
    const holders = words.reduce((sum, word) => sum + start[word + 1]! - start[word]!, 0);
    const idf = Math.max(MIN_IDF, Math.log((this.searched - holders + 0.5) / (holders + 0.5)) || 0);
    for (const word of words) {
      for (let at = start[word]!; at < start[word + 1]!; at++) {
        const row = node[at]!;
        const frequency = count[at]! / 2;
        if (this.scores[row] === 0) touched.push(row);
        this.scores[row]! += (idf * frequency * (K1 + 1)) / (frequency + this.norm[row]!);
      }
    }
  }
}

/** Keeps the hits with the highest scores: a heap with the lowest of them on top. */
class Best {
  private readonly heap: SearchHit[] = [];
  private readonly kept = new Map<number, SearchHit>();

  constructor(private readonly count: number) {}

  offer(node: number, score: number): void {
    const { heap } = this;
    if (heap.length < this.count) {
      heap.push({ node, score });
      for (let at = heap.length - 1; at > 0; ) {
        const parent = (at - 1) >> 1;
        if (heap[parent]!.score <= heap[at]!.score) break;
        this.swap(at, parent);
        at = parent;
      }
    } else if (score > heap[0]!.score) {
      heap[0] = { node, score };
      this.sink();
    }
  }

  /** Keeps a hit whatever its score. */
  keep(node: number, score: number): void {
    this.kept.set(node, { node, score });
  }

  hits(): SearchHit[] {
    return [...this.heap.filter(({ node }) => !this.kept.has(node)), ...this.kept.values()];
  }

  private sink(): void {
    const { heap } = this;
    for (let at = 0; ; ) {
      const left = 2 * at + 1;
      const right = left + 1;
      let least = at;
      if (left < heap.length && heap[left]!.score < heap[least]!.score) least = left;
      if (right < heap.length && heap[right]!.score < heap[least]!.score) least = right;
      if (least === at) return;
      this.swap(at, least);
      at = least;
    }
  }

  private swap(a: number, b: number): void {
    [this.heap[a], this.heap[b]] = [this.heap[b]!, this.heap[a]!];
  }
}

/**
 * A factor for what counts beyond words: an exact name, the label, visibility, the path, and how often the symbol is
 * used.
 */
function weigh(graph: CodeGraph, node: number, query: string): number {
  const name = graph.nodes.name.get(node)!;
  const trimmed = query.trim();
  let factor = 1;
  if (name === trimmed || graph.nodes.qualified.get(node) === trimmed) factor *= 6;
  else if (name.toLowerCase() === trimmed.toLowerCase()) factor *= 4;
  const label = graph.label(node);
  if (label === "Function" || label === "Method" || label === "Class" || label === "Interface") factor *= 1.3;
  if (label === "File" || label === "Property" || label === "Variable") factor *= 0.7;
  if (graph.nodes.exported[node] === 1) factor *= 1.1;
  const path = label === "File" ? graph.nodes.qualified.get(node)! : graph.filePath(node);
  if (isTestPath(path) && !/test|spec/i.test(query)) factor *= 0.5;
  // Declaration files mostly describe the code of others, and some are generated.
  if (path.endsWith(".d.ts") && graph.implementation(node) === undefined) factor *= 0.5;
  return factor * (1 + Math.log1p(graph.incoming(node).length) / 12);
}
