/** Pure functions on sections: their table of contents, their ids, and the paragraphs that a search finds. */
import type { TocEntry } from "./model.ts";
import type { SectionRow } from "./store.ts";

const SLUG_CHARACTERS = 60;
const CHUNK_CHARACTERS = 1_500;
/** Shorter paragraphs are joined with the next one. */
const CHUNK_LEAST = 250;
const TOC_DEPTH = 7;
const CONTINUED = " (continued)";

const slugOf = (title: string): string =>
  title
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .slice(0, SLUG_CHARACTERS)
    .replace(/^-+|(?<!-)-+$/g, "") || "section";

/** Makes section ids from titles, in reading order. A repeated title gets a number. */
export function sectionIds(): (title: string) => string {
  const taken = new Map<string, number>();
  return (title) => {
    const slug = slugOf(title);
    for (let n = (taken.get(slug) ?? 0) + 1; ; n++) {
      const id = n === 1 ? slug : `${slug}-${n}`;
      taken.set(slug, n);
      if (n > 1 && taken.has(id)) continue;
      taken.set(id, Math.max(1, taken.get(id) ?? 0));
      return id;
    }
  };
}

/** Cuts a text into paragraphs of similar size. A long paragraph is cut at the end of a line or a sentence. */
export function chunksOf(text: string): string[] {
  const chunks: string[] = [];
  let held = "";
  for (const paragraph of text.split(/\n\s*\n/)) {
    let rest = held === "" ? paragraph.trim() : `${held}\n\n${paragraph.trim()}`;
    held = "";
    while (rest.length > CHUNK_CHARACTERS) {
      const cut = cutOf(rest.slice(0, CHUNK_CHARACTERS));
      chunks.push(rest.slice(0, cut).trim());
      rest = rest.slice(cut).trim();
    }
    if (rest.length < CHUNK_LEAST) held = rest;
    else chunks.push(rest);
  }
  if (held !== "") chunks.push(held);
  return chunks.filter((chunk) => chunk !== "");
}

function cutOf(text: string): number {
  const least = text.length / 2;
  for (const mark of ["\n", ". ", " "]) {
    const at = text.lastIndexOf(mark);
    if (at > least) return at + mark.length;
  }
  return text.length;
}

/** Nests sections by level. Sections that continue another one are not listed. */
export function tocOf(sections: readonly SectionRow[]): TocEntry[] {
  const top: TocEntry[] = [];
  const open: TocEntry[] = [];
  for (const { title, level, page, section_id } of sections) {
    if (title.endsWith(CONTINUED)) continue;
    const entry: TocEntry = { title, level, page, section_id, children: [] };
    while (open.length > 0 && open.at(-1)!.level >= level) open.pop();
    (open.length < TOC_DEPTH ? (open.at(-1)?.children ?? top) : open[TOC_DEPTH - 2]!.children).push(entry);
    open.push(entry);
  }
  return top;
}

/** Titles of the sections that contain the one at that position, outermost first. */
export function pathTo(sections: readonly SectionRow[], position: number): string[] {
  const path: string[] = [];
  let level = sections.find((one) => one.position === position)?.level ?? 1;
  for (const one of sections.filter((other) => other.position < position).reverse())
    if (one.level < level) {
      path.unshift(one.title);
      level = one.level;
    }
  return path;
}
