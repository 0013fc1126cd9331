/**
 * Converts an HTML page to Markdown with its headings, lists, tables and links. Scripts, styles and navigation are left
 * out.
 */
import { markdownBlocks } from "./markdown.ts";
import type { Block } from "./model.ts";
import { oneLine } from "./sections.ts";

const LEFT_OUT = [
  "script",
  "style",
  "noscript",
  "template",
  "svg",
  "img",
  "nav",
  "footer",
  "iframe",
  "form",
  "head",
  "title",
];

export async function htmlBlocks(html: string): Promise<{ title: string | undefined; blocks: Iterable<Block> }> {
  const { NodeHtmlMarkdown } = await import("node-html-markdown");
  const [, title] = /<title[^<>]{0,200}>([^<]{1,1000})<\/title>/i.exec(html.slice(0, 100_000)) ?? [];
  const markdown = new NodeHtmlMarkdown({ ignore: LEFT_OUT, bulletMarker: "-" }).translate(html);
  return { title: title && (oneLine(decodeEntities(title)) || undefined), blocks: markdownBlocks(markdown) };
}

const NAMED: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " };
const decodeEntities = (text: string): string => text.replace(/&(\w{2,6});/g, (whole, name) => NAMED[name] ?? whole);
