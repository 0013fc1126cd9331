/** Labels for communities, made of the place where most members are declared and a word that their names share. */
import type { CodeGraph, Community } from "../code-graph.ts";
import { wordsOf } from "../words.ts";

/** Words in folder and symbol names that say nothing about a community. */
const DULL = new Set(
  "src lib source app packages package main index test tests spec internal pkg cmd core common utils util helpers get set is has to from of the and with for on by in new create make do add remove update delete init run handle value data type types name id key default constructor self this file object item list".split(
    " ",
  ),
);

/** Gives every community a label. No two labels are equal. */
export function clusterLabels(graph: CodeGraph, communities: Community[]): void {
  const everywhere = new Map<string, number>();
  const known = new Map<string, ReadonlySet<string>>();
  const wordsIn = (node: number): ReadonlySet<string> => {
    const name = graph.nodes.name.get(node)!;
    let words = known.get(name);
    if (!words) {
      words = new Set(wordsOf(name));
      known.set(name, words);
    }
    return words;
  };
  for (const { members } of communities) {
    const met = new Set<string>();
    for (let i = 0; i < Math.min(60, members.length); i++) for (const word of wordsIn(members[i]!)) met.add(word);
    for (const word of met) everywhere.set(word, (everywhere.get(word) ?? 0) + 1);
  }
  const used = new Map<string, number>();
  for (const community of communities) {
    const place = commonPlace(graph, community.members);
    const word = topWord(community.members, wordsIn, everywhere, communities.length, place);
    const label =
      [place, word].filter((part) => part !== "").join(" · ") || graph.nodes.name.get(community.members[0]!)!;
    const count = (used.get(label) ?? 0) + 1;
    used.set(label, count);
    community.label = count === 1 ? label : `${label} ${count}`;
  }
}

/** `a/b/c` → a, a/b, a/b/c. */
function withFolders(path: string): string[] {
  const found: string[] = [];
  for (let end = path.indexOf("/"); end >= 0; end = path.indexOf("/", end + 1)) found.push(path.slice(0, end));
  return [...found, path];
}

/** The deepest folder or file, apart from dull names, that holds at least half of the members. */
function commonPlace(graph: CodeGraph, members: readonly number[]): string {
  const byFile = new Map<number, number>();
  for (const node of members) byFile.set(graph.nodes.file[node]!, (byFile.get(graph.nodes.file[node]!) ?? 0) + 1);
  const counts = new Map<string, { count: number; depth: number }>();
  for (const [file, number] of byFile) {
    for (const [depth, path] of withFolders(graph.nodes.qualified.get(file) ?? "").entries()) {
      const entry = counts.get(path);
      if (entry) entry.count += number;
      else counts.set(path, { count: number, depth });
    }
  }
  let best = "";
  let bestDepth = -1;
  for (const [path, { count, depth }] of counts) {
    if (count * 2 < members.length || depth < bestDepth) continue;
    const word = path.slice(path.lastIndexOf("/") + 1).replace(/\.\w+$/, "");
    if (DULL.has(word.toLowerCase())) continue;
    best = word;
    bestDepth = depth;
  }
  return best;
}

function topWord(
  members: readonly number[],
  wordsIn: (node: number) => ReadonlySet<string>,
  everywhere: ReadonlyMap<string, number>,
  total: number,
  place: string,
): string {
  const counts = new Map<string, number>();
  const placeWords = new Set(wordsOf(place));
  for (const node of members.slice(0, 200)) {
    for (const word of wordsIn(node)) {
      if (word.length < 3 || DULL.has(word) || placeWords.has(word) || /^\d+$/.test(word)) continue;
      counts.set(word, (counts.get(word) ?? 0) + 1);
    }
  }
  let best = "";
  let bestScore = 0;
  for (const [word, count] of counts) {
    if (count < 2) continue;
    const score = count * Math.log(1 + total / (everywhere.get(word) ?? 1));
    if (score > bestScore) {
      best = word;
      bestScore = score;
    }
  }
  return best;
}
