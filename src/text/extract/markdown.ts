/** Splits Markdown and plain text into blocks. */
import type { Block } from "./model.ts";

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEADING = /^ {0,3}(#{1,6})[ \t](.*)$/;
const UNDERLINE = /^ {0,3}(=+|-{2,})[ \t]*$/;

export function* markdownBlocks(text: string): Generator<Block> {
  let lines: string[] = [];
  let fence: string | undefined;
  const takeParagraph = (): Block[] => {
    const joined = lines.join("\n").trim();
    lines = [];
    return joined === "" ? [] : [{ text: joined }];
  };
  for (const line of text.split(/\r\n|\r|\n/)) {
    const [, mark] = FENCE.exec(line) ?? [];
    if (fence !== undefined) {
      lines.push(line);
      if (mark?.startsWith(fence)) fence = undefined;
      continue;
    }
    if (mark) {
      fence = mark;
      lines.push(line);
      continue;
    }
    const [, marks, heading] = line.length > 2_000 ? [] : (HEADING.exec(line) ?? []);
    // "#" signs that close a heading are part of its markup, not of its title.
    const title = heading
      ?.trim()
      .replace(/(?:^|[ \t])#+$/, "")
      .trim();
    const isTitled = lines.length === 1 && lines[0]!.trim() !== "" && !/^\s*([-*+>|#]|\d+[.)])/.test(lines[0]!);
    const [, under] = isTitled ? (UNDERLINE.exec(line) ?? []) : [];
    if (under) {
      const heading = lines[0]!;
      lines = [];
      yield { level: under.startsWith("=") ? 1 : 2, text: plainTitle(heading) };
    } else if (marks && title) {
      yield* takeParagraph();
      yield { level: marks.length, text: plainTitle(title) };
    } else if (line.trim() === "") yield* takeParagraph();
    else lines.push(line);
  }
  yield* takeParagraph();
}

/** Removes the Markdown markup of emphasis, links and escapes from a title. */
const plainTitle = (title: string): string =>
  title
    .replace(/!?\[([^[\]]{0,300})\]\([^()]{0,2000}\)/g, "$1")
    .replace(/\\([\\`*_{}[\]()#+.!|>~-])/g, "$1")
    .replace(/(\*\*|__|`)(.+?)\1/g, "$2")
    .trim();

/** Splits plain text into paragraphs. Plain text has no headings; a form feed begins a new page. */
export function* textBlocks(text: string): Generator<Block> {
  const pages = text.split("\f");
  for (const [index, page] of pages.entries())
    for (const paragraph of page.split(/(?:\r\n|\r|\n)[ \t]*(?:\r\n|\r|\n)/)) {
      const trimmed = paragraph.trim();
      if (trimmed !== "") yield { text: trimmed, ...(pages.length > 1 ? { page: index + 1 } : {}) };
    }
}
