/** Groups blocks into sections: a section begins at each heading. */
import { type Block, EXTRACT_LIMITS, type ExtractedSection, Unreadable } from "./model.ts";

const { sectionCharacters, textCharacters, sections: SECTIONS, titleCharacters } = EXTRACT_LIMITS;

export function* sectionsOf(blocks: Iterable<Block>): Generator<ExtractedSection> {
  let open: { level: number; title: string; page: number | undefined; parts: string[]; length: number } | undefined;
  let count = 0;
  let total = 0;
  const begin = (level: number, title: string, page: number | undefined) => {
    open = { level, title: oneLine(title), page, parts: [], length: 0 };
  };
  const end = (): ExtractedSection[] => {
    if (!open) return [];
    const { level, title, page, parts } = open;
    open = undefined;
    if (++count > SECTIONS) throw new Unreadable(`It has more than ${SECTIONS} sections.`);
    return [{ level, title, ...(page === undefined ? {} : { page }), text: parts.join("\n\n") }];
  };
  for (const { level, text, page } of blocks) {
    total += text.length;
    if (total > textCharacters) throw new Unreadable(`It holds more than ${textCharacters} characters of text.`);
    if (level !== undefined) {
      yield* end();
      begin(Math.min(6, Math.max(1, level)), text, page);
      continue;
    }
    for (const part of piecesOf(text)) {
      if (open && open.length > 0 && open.length + part.length > sectionCharacters) {
        const { level: same, title } = open;
        yield* end();
        begin(same, title === "" ? "" : markContinued(title), page);
      }
      if (!open) begin(1, "", page);
      open!.parts.push(part);
      open!.length += part.length + 2;
    }
  }
  yield* end();
}

/** Splits text that is too long for one section, at line breaks where possible. */
function* piecesOf(text: string): Generator<string> {
  for (let rest = text.trim(); rest !== ""; ) {
    if (rest.length <= sectionCharacters) return yield rest;
    const at = rest.lastIndexOf("\n", sectionCharacters);
    const cut = at > sectionCharacters / 2 ? at : sectionCharacters;
    yield rest.slice(0, cut);
    rest = rest.slice(cut).trimStart();
  }
}

const markContinued = (title: string): string => (title.endsWith(" (continued)") ? title : `${title} (continued)`);

export const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim().slice(0, titleCharacters);
