/**
 * Full-text search over symbols, in memory: names and paths split into words (camelCase, snake_case), signatures, docs.
 * Okapi BM25 with a weight for each of them (Robertson and Zaragoza, 2009); on top comes what the graph knows: exact
 * names, and how much a symbol is used.
 *
 * Made from the graph itself when it is opened. A word's nodes stand together in typed arrays, so that a word that a
 * hundred thousand nodes share costs about a millisecond.
 */
import type { CodeGraph } from "../code-graph.ts";
import { GrowingInts } from "../growing-ints.ts";
import { NODE_LABELS, type NodeLabel, REFERENCE_LABELS, SYMBOL_LABELS } from "../model.ts";
import { isTestPath } from "../test-paths.ts";
import { wordsOf } from "../words.ts";
import { askedWords, contentWords, isAsked } from "./stop-words.ts";

interface SearchHit {
  node: number;
  /** Higher is better. */
  score: number;
}

export interface WordIndex {
  /**
   * Nodes for a query, best first. `labels` empty means all; imports and decorators then come after all declarations.
   * Never throws on odd queries.
   */
  find(query: string, limit: number, labels: readonly number[]): SearchHit[];
}

/** Weight of a word by the place it occurs in; in halves, as they are stored. */
const WEIGHT = { name: 20, words: 10, path: 3, text: 2 } as const;
const K1 = 1.2;
const B = 0.75;
/** A word that more than half of all nodes contain says almost nothing, but its weight must not be negative. */
const MIN_IDF = 1e-6;
const MAX_WORDS = 12;
/** Most words that one beginning stands for. */
const MAX_ENDINGS = 200;
/** Most symbols with exactly the name that is searched for. */
const MAX_EXACT = 200;
const NODES_A_STEP = 1_000;
const SEARCHED = new Set<NodeLabel>([...SYMBOL_LABELS, "File"]);
const REFERENCES = new Set(NODE_LABELS.flatMap((label, row) => (REFERENCE_LABELS.has(label) ? [row] : [])));

/** What is known of each word: its nodes and how much it counts in each, `start[word] … start[word + 1] - 1`. */
interface Postings {
  words: ReadonlyMap<string, number>;
  start: Int32Array;
  node: Int32Array;
  /** Sum of the weights of its places in the node, in halves. */
  count: Uint16Array;
  /** Words of each node, 0 for nodes that are not searched. */
  length: Int32Array;
}

/** Builds the index, some nodes at each step. */
export function* buildWordIndex(graph: CodeGraph): Generator<void, WordIndex> {
  const postings = yield* postingsOf(graph);
  const sorted = [...postings.words.keys()].sort();
  yield;
  return new MemoryIndex(graph, postings, sorted);
}

function* postingsOf(graph: CodeGraph): Generator<void, Postings> {
  const words = new Map<string, number>();
  const texts = new TextWords(words);
  const [pairWord, pairNode, pairCount] = [new GrowingInts(), new GrowingInts(), new GrowingInts()];
  const length = new Int32Array(graph.nodeCount);
  // Where the latest pair of each word is, by word.
  const pairAt: number[] = [];
  let firstPair = 0;
  let node = 0;
  let weight = 0;
  // A file's symbols stand together: its path is split once.
  let path = { file: -1, words: new Int32Array(0) };

  function add(found: Int32Array): void {
    length[node]! += found.length;
    for (let i = 0; i < found.length; i++) {
      const word = found[i]!;
      const known = pairAt[word] ?? -1;
      if (known >= firstPair) pairCount.add(known, weight);
      else {
        pairAt[word] = pairWord.length;
        pairWord.push(word);
        pairNode.push(node);
        pairCount.push(weight);
      }
    }
  }
  const read = (text: string, counted: number): void => {
    weight = counted;
    texts.split(text, add);
  };

  for (; node < graph.nodeCount; node++) {
    if (node % NODES_A_STEP === 0) yield;
    const label = graph.label(node);
    if (!SEARCHED.has(label)) continue;
    firstPair = pairWord.length;
    const isFile = label === "File";
    const name = graph.nodes.name[node]!;
    weight = WEIGHT.name;
    add(texts.whole(name));
    read(isFile ? name : graph.nodes.qualified[node]!, WEIGHT.words);
    if (path.file !== graph.nodes.file[node]! || isFile) path = pathOf(graph, node, texts);
    weight = WEIGHT.path;
    add(path.words);
    read(graph.nodes.signature[node]!, WEIGHT.text);
    read(graph.nodes.doc[node]!, WEIGHT.text);
  }
  yield;
  return { words, length, ...gather(words.size, pairWord.ints, pairNode.ints, pairCount.ints) };
}

function pathOf(graph: CodeGraph, node: number, texts: TextWords) {
  const file = graph.nodes.file[node]!;
  const words: number[] = [];
  texts.split(graph.label(node) === "File" ? graph.nodes.qualified[node]! : graph.filePath(node), (found) =>
    words.push(...found),
  );
  return { file, words: Int32Array.from(words) };
}

/** Pairs in the order of their words; nodes of a word stay in their order. */
function gather(words: number, pairWord: Int32Array, pairNode: Int32Array, pairCount: Int32Array) {
  const start = new Int32Array(words + 1);
  for (let i = 0; i < pairWord.length; i++) start[pairWord[i]! + 1]!++;
  for (let word = 0; word < words; word++) start[word + 1]! += start[word]!;
  const at = start.slice(0, words);
  const node = new Int32Array(pairWord.length);
  const count = new Uint16Array(pairWord.length);
  for (let i = 0; i < pairWord.length; i++) {
    const to = at[pairWord[i]!]!++;
    node[to] = pairNode[i]!;
    count[to] = Math.min(pairCount[i]!, 0xffff);
  }
  return { start, node, count };
}

/** Texts as numbers of their words. A run of letters that stands in many texts is split once. */
class TextWords {
  private readonly runs = new Map<string, Int32Array>();
  private readonly wholes = new Map<string, Int32Array>();
  private readonly words: Map<string, number>;

  constructor(words: Map<string, number>) {
    this.words = words;
  }

  /** Its words as `wordsOf` splits them, run by run. */
  split(text: string, add: (words: Int32Array) => void): void {
    let from = -1;
    for (let at = 0; at <= text.length; at++) {
      if (at < text.length && isLetter(text.charCodeAt(at))) {
        if (from < 0) from = at;
      } else if (from >= 0) {
        add(this.known(this.runs, text.slice(from, at), wordsOf));
        from = -1;
      }
    }
  }

  /** A name that is not split where its capitals are. */
  whole(name: string): Int32Array {
    return this.known(this.wholes, name, wholeWords);
  }

  private known(cache: Map<string, Int32Array>, text: string, split: (text: string) => string[]): Int32Array {
    const known = cache.get(text);
    if (known) return known;
    const words = Int32Array.from(split(text), (word) => this.number(word));
    cache.set(text, words);
    return words;
  }

  private number(word: string): number {
    const known = this.words.get(word);
    if (known !== undefined) return known;
    this.words.set(word, this.words.size);
    return this.words.size - 1;
  }
}

/** Letters, digits and `_` of ASCII; what lies beyond is for `wordsOf` to tell. */
const isLetter = (code: number): boolean =>
  code >= 128 || (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95;

const wholeWords = (text: string): string[] =>
  text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");

/** Words of a query from which it is a question rather than a name. */
const QUESTION_WORDS = 5;

function queryWords(query: string): string[] {
  if (wholeWords(query).length >= QUESTION_WORDS) return contentWords(query);
  return [...askedWords(query), ...wholeWords(query).filter(isAsked)];
}

class MemoryIndex implements WordIndex {
  private readonly graph: CodeGraph;
  private readonly postings: Postings;
  private readonly sorted: readonly string[];
  private readonly searched: number;
  /** BM25's share of a node's length. */
  private readonly norm: Float32Array;
  /** Scores of the query under way; all 0 between queries. */
  private readonly scores: Float64Array;

  constructor(graph: CodeGraph, postings: Postings, sorted: readonly string[]) {
    this.graph = graph;
    this.postings = postings;
    this.sorted = sorted;
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
    // A name that is not declared here may still be imported: a library, a decorator of a framework.
    return [...found, ...this.search(query, words, limit - found.length, (node) => REFERENCES.has(label[node]!))];
  }

  private search(query: string, words: readonly string[], limit: number, fits: (node: number) => boolean): SearchHit[] {
    const wide = Math.max(limit * 8, 100);
    const numbers = words.flatMap((word) => this.postings.words.get(word) ?? []);
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
    const hits = best.map(({ node, score }) => ({ node, score: score * weight(this.graph, node, query) }));
    return hits.sort((a, b) => b.score - a.score || a.node - b.node).slice(0, limit);
  }

  /** Words that begin with a text. */
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
      found.push(this.postings.words.get(this.sorted[at]!)!);
    }
    return found;
  }

  /** The best nodes by their words alone, and those of exactly the name; in no order. */
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
    const exact = this.graph.named(query.trim()).slice(0, MAX_EXACT);
    for (const node of exact) if (this.scores[node]! > 0 && fits(node)) best.keep(node, this.scores[node]!);
    for (const node of touched) this.scores[node] = 0;
    return best.hits();
  }

  /** Adds the score of a word, or of several that count as one. */
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

/** The highest scored of many: a heap with the lowest of them on top. */
class Best {
  private readonly heap: SearchHit[] = [];
  private readonly kept = new Map<number, SearchHit>();
  private readonly count: number;

  constructor(count: number) {
    this.count = count;
  }

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

  /** One that is among the best whatever its score. */
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

/** How much a hit counts beyond its words. */
function weight(graph: CodeGraph, node: number, query: string): number {
  const name = graph.nodes.name[node]!;
  const trimmed = query.trim();
  let factor = 1;
  if (name === trimmed || graph.nodes.qualified[node] === trimmed) factor *= 6;
  else if (name.toLowerCase() === trimmed.toLowerCase()) factor *= 4;
  const label = graph.label(node);
  if (label === "Function" || label === "Method" || label === "Class" || label === "Interface") factor *= 1.3;
  if (label === "File" || label === "Property" || label === "Variable") factor *= 0.7;
  if (graph.nodes.exported[node] === 1) factor *= 1.1;
  if (isTestPath(label === "File" ? graph.nodes.qualified[node]! : graph.filePath(node)) && !/test|spec/i.test(query))
    factor *= 0.5;
  return factor * (1 + Math.log1p(graph.incoming(node).length) / 12);
}
