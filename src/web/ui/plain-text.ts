/**
 * Converts Markdown to plain words for a line in a list: removes the marks of headings, bold text, links and the like.
 */
export function plainText(markdown: string): string {
  const lines = markdown.split("\n").filter((line) => !/^\s{0,3}(```|~~~)/.test(line));
  return lines.map((line) => plainLine(line.replace(/^\s{0,3}(#{1,6}|>|[-*+]) /, ""))).join("\n");
}

/** The first line of a text, as plain words. */
export const firstWords = (markdown: string): string => plainText(markdown.split("\n", 1)[0] ?? "");

/** Code in backticks stays as it was written. */
const plainLine = (line: string): string =>
  line
    .split(/`([^`]+)`/)
    .map((part, at) => (at % 2 === 1 ? part : withoutMarks(part)))
    .join("");

const withoutMarks = (text: string): string =>
  text
    .replace(/!?\[([^[\]]{0,300})\]\([^()\s]{0,500}\)/g, "$1")
    .replace(/(?<![\w*])\*\*(?=[^\s*])([^*]*[^\s*])\*\*(?!\*)/g, "$1")
    .replace(/(?<![\w*])\*(?=[^\s*])([^*]*[^\s*])\*(?![\w*])/g, "$1")
    .replace(/(?<!\w)__(?=[^\s_])([^_]*[^\s_])__(?!\w)/g, "$1")
    .replace(/(?<!\w)_(?=[^\s_])([^_]*[^\s_])_(?!\w)/g, "$1")
    .replace(/~~([^~]+)~~/g, "$1");
