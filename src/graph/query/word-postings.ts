/** Postings for the search over symbols: which words occur in which nodes. */
import type { CodeGraph } from "../code-graph.ts";
import { GrowingInts } from "../growing-ints.ts";
import type { KeptNodes } from "../kept-nodes.ts";
import { type NodeLabel, SYMBOL_LABELS } from "../model.ts";
import { wordsOf } from "../words.ts";

/** Weight of a word by the field in which it occurs. The unit is one half, as in `Postings.count`. */
const WEIGHT = { name: 20, words: 10, path: 3, text: 2 } as const;
const NODES_A_STEP = 1_000;
const SEARCHED = new Set<NodeLabel>([...SYMBOL_LABELS, "File"]);

/**
 * The postings of all words. Word n occurs in the nodes at `start[n] … start[n + 1] - 1` of `node`, with the weights in
 * `count`.
 */
export interface Postings {
  words: Map<string, number>;
  start: Int32Array;
  node: Int32Array;
  /** Sum of the weights of the word's occurrences in the node, in halves. */
  count: Uint16Array;
  /** Number of words in each node; 0 for nodes that are not searched. */
  length: Int32Array;
}

export function* postingsOf(graph: CodeGraph): Generator<void, Postings> {
  const words = new Map<string, number>();
  const pairs = new Pairs(graph, words);
  for (let node = 0; node < graph.nodeCount; node++) {
    if (node % NODES_A_STEP === 0) yield;
    pairs.read(node);
  }
  yield;
  return { words, length: pairs.length, ...pairs.groupByWord() };
}

/** The postings after an edit. Those of unchanged nodes are copied. New words get further numbers. */
export function patchPostings(before: Postings, graph: CodeGraph, kept: KeptNodes): Postings {
  const { words } = before;
  const moved = kept.moved.list();
  const pairs = new Pairs(graph, words);
  for (const node of kept.fresh) pairs.read(node);
  const { length } = pairs;
  for (let old = 0; old < moved.length; old++) if (moved[old]! >= 0) length[moved[old]!] = before.length[old]!;
  const added = pairs.groupByWord();
  const known = before.start.length - 1;
  const start = new Int32Array(words.size + 1);
  const node = new Int32Array(before.node.length + added.node.length);
  const count = new Uint16Array(node.length);
  let end = 0;
  const put = (row: number, times: number): void => {
    node[end] = row;
    count[end++] = times;
  };
  for (let word = 0; word < words.size; word++) {
    let next = added.start[word]!;
    const last = added.start[word + 1]!;
    const [from, to] = word < known ? [before.start[word]!, before.start[word + 1]!] : [0, 0];
    for (let at = from; at < to; at++) {
      const row = moved[before.node[at]!]!;
      if (row < 0) continue;
      for (; next < last && added.node[next]! < row; next++) put(added.node[next]!, added.count[next]!);
      put(row, before.count[at]!);
    }
    for (; next < last; next++) put(added.node[next]!, added.count[next]!);
    start[word + 1] = end;
  }
  return { words, length, start, node: node.slice(0, end), count: count.slice(0, end) };
}

/** Collects pairs of a word and a node, in the order in which nodes are read (by row). */
class Pairs {
  /** Number of words in each node. */
  readonly length: Int32Array;
  private readonly texts: TextWords;
  private readonly word = new GrowingInts();
  private readonly node = new GrowingInts();
  private readonly count = new GrowingInts();
  /** Index of the latest pair of each word. */
  private readonly latest: number[] = [];
  private first = 0;
  private reading = 0;
  private weight = 0;
  /** The words of the latest file's path. A file's symbols are consecutive, so that each path is split once. */
  private path = { file: -1, words: new Int32Array(0) };

  constructor(
    private readonly graph: CodeGraph,
    private readonly words: Map<string, number>,
  ) {
    this.length = new Int32Array(graph.nodeCount);
    this.texts = new TextWords(words);
  }

  read(node: number): void {
    const { graph } = this;
    const label = graph.label(node);
    if (!SEARCHED.has(label)) return;
    this.reading = node;
    this.first = this.word.length;
    const isFile = label === "File";
    const name = graph.nodes.name.get(node)!;
    this.add(this.texts.whole(name), WEIGHT.name);
    this.split(isFile ? name : graph.nodes.qualified.get(node)!, WEIGHT.words);
    if (this.path.file !== graph.nodes.file[node]! || isFile) this.path = pathOf(graph, node, this.texts);
    this.add(this.path.words, WEIGHT.path);
    this.split(graph.nodes.signature.get(node)!, WEIGHT.text);
    this.split(graph.nodes.doc.get(node)!, WEIGHT.text);
  }

  groupByWord() {
    return gather(this.words.size, this.word.view, this.node.view, this.count.view);
  }

  private split(text: string, weight: number): void {
    this.weight = weight;
    this.texts.split(text, this.addSplit);
  }

  private readonly addSplit = (words: Int32Array): void => this.add(words, this.weight);

  private add(found: Int32Array, weight: number): void {
    this.length[this.reading]! += found.length;
    for (let i = 0; i < found.length; i++) {
      const word = found[i]!;
      const known = this.latest[word] ?? -1;
      if (known >= this.first) this.count.add(known, weight);
      else {
        this.latest[word] = this.word.length;
        this.word.push(word);
        this.node.push(this.reading);
        this.count.push(weight);
      }
    }
  }
}

function pathOf(graph: CodeGraph, node: number, texts: TextWords) {
  const file = graph.nodes.file[node]!;
  const words: number[] = [];
  texts.split(graph.label(node) === "File" ? graph.nodes.qualified.get(node)! : graph.filePath(node), (found) =>
    words.push(...found),
  );
  return { file, words: Int32Array.from(words) };
}

/** Sorts pairs by word. The nodes of a word keep their order. */
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

/** Turns texts into numbers of words. A run of letters that occurs in many texts is split only once. */
class TextWords {
  private readonly runs = new Map<string, Int32Array>();
  private readonly wholes = new Map<string, Int32Array>();

  constructor(private readonly words: Map<string, number>) {}

  /** Splits a text into words as `wordsOf` does, one run of letters at a time. */
  split(text: string, add: (words: Int32Array) => void): void {
    let from = -1;
    for (let at = 0; at <= text.length; at++) {
      if (at < text.length && isLetter(text.charCodeAt(at))) {
        if (from < 0) from = at;
      } else if (from >= 0) {
        add(this.numberWords(this.runs, text.slice(from, at), wordsOf));
        from = -1;
      }
    }
  }

  /** The words of a name that is not split at its capitals. */
  whole(name: string): Int32Array {
    return this.numberWords(this.wholes, name, wholeWords);
  }

  private numberWords(cache: Map<string, Int32Array>, text: string, split: (text: string) => string[]): Int32Array {
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

/** Letters, digits and `_` of ASCII, and everything beyond ASCII, which `wordsOf` splits further. */
const isLetter = (code: number): boolean =>
  code >= 128 || (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95;

export const wholeWords = (text: string): string[] =>
  text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
