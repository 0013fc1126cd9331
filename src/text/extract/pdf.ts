/**
 * Splits a PDF into blocks. Headings come from its tags, its outline or the size of its letters, whichever tells most.
 */
import { textIn } from "../../core/is-object.ts";
import { type Block, EXTRACT_LIMITS, Unreadable } from "./model.ts";
import { lineBlocks } from "./pdf-lines.ts";
import { type PdfBlock, type PdfItem, type PdfNode, taggedBlocks, tidy } from "./pdf-tags.ts";
import { oneLine } from "./sections.ts";

interface OutlineEntry {
  title: string;
  level: number;
  page: number;
  /** Height above the bottom of the page; undefined where the outline does not tell it. */
  y: number | undefined;
}
type Pdf = Awaited<ReturnType<typeof import("unpdf")["getDocumentProxy"]>>;
type OutlineNode = Awaited<ReturnType<Pdf["getOutline"]>>[number];

const OUTLINE_ENTRIES = 5_000;
/** A block whose letters are this many times as high as those of the body text is a heading. */
const HEADING_SIZE = 1.15;
const HEADING_CHARACTERS = 200;

export async function pdfBlocks(
  bytes: Uint8Array,
  progress: (percent: number) => void,
): Promise<{ title: string | undefined; pages: number; blocks: Iterable<Block> }> {
  const { getDocumentProxy } = await import("unpdf");
  const pdf = await getDocumentProxy(bytes, {
    disableFontFace: true,
    stopAtErrors: false,
  }).catch((error: { name?: string }) => {
    throw new Unreadable(
      error.name === "PasswordException" ? "It is protected by a password." : "It is not a PDF that can be read.",
    );
  });
  if (pdf.numPages > EXTRACT_LIMITS.pages) throw new Unreadable(`It has more than ${EXTRACT_LIMITS.pages} pages.`);
  const found: PdfBlock[] = [];
  for (let number = 1; number <= pdf.numPages; number++) {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent({ includeMarkedContent: true });
    const tree = await page.getStructTree().catch(() => null);
    const known = items as PdfItem[];
    found.push(...(taggedBlocks(tree as PdfNode | null, known, number) ?? lineBlocks(known, number)));
    page.cleanup();
    progress((number / pdf.numPages) * 100);
  }
  if (found.length === 0) throw new Unreadable("There is no text in it: its pages are pictures.");
  const outline = await outlineOf(pdf).catch(() => []);
  const title = oneLine(textIn((await pdf.getMetadata().catch(() => undefined))?.info, "Title") ?? "");
  return { title: title || undefined, pages: pdf.numPages, blocks: withHeadings(found, outline) };
}

/**
 * Marks the headings: by tags if they name at least as many as the outline does, else by the outline, else by letter
 * size.
 */
function withHeadings(blocks: readonly PdfBlock[], outline: readonly OutlineEntry[]): Iterable<Block> {
  const tagged = blocks.filter(({ level }) => level !== undefined).length;
  if (tagged > 0 && tagged >= outline.length) return blocks.map(({ text, page, level }) => ({ text, page, level }));
  return outline.length > 0 ? byOutline(blocks, outline) : bySize(blocks);
}

function* byOutline(blocks: readonly PdfBlock[], outline: readonly OutlineEntry[]): Generator<Block> {
  const entries = [...outline].sort((a, b) => a.page - b.page);
  let at = 0;
  for (const entry of entries) {
    const from = at;
    let end = blocks.findIndex((block, index) => index >= from && block.page >= entry.page && isTitled(block, entry));
    const isFound = end >= 0 && blocks[end]!.page === entry.page;
    if (!isFound) end = blocks.findIndex((block, index) => index >= from && isBelow(block, entry));
    if (end < 0) end = blocks.length;
    for (; at < end; at++) yield { text: blocks[at]!.text, page: blocks[at]!.page };
    yield { level: entry.level, text: entry.title, page: entry.page };
    if (!isFound) continue;
    // Text after the title in the same block belongs to the section.
    const rest = blocks[at]!.text.slice(entry.title.length).trim();
    if (rest !== "" && blocks[at]!.text.startsWith(entry.title)) yield { text: rest, page: entry.page };
    at++;
  }
  for (; at < blocks.length; at++) yield { text: blocks[at]!.text, page: blocks[at]!.page };
}

const normalize = (text: string): string =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "");
function isTitled({ text }: PdfBlock, { title }: OutlineEntry): boolean {
  const wanted = normalize(title);
  const given = normalize(text.slice(0, title.length * 2 + 40));
  return (
    wanted !== "" && (given === wanted || (text.length < 400 && given.startsWith(wanted)) || given.endsWith(wanted))
  );
}
const isBelow = ({ page, y }: PdfBlock, entry: OutlineEntry): boolean =>
  page > entry.page || (page === entry.page && (entry.y === undefined || y <= entry.y + 2));

function* bySize(blocks: readonly PdfBlock[]): Generator<Block> {
  const letters = new Map<number, number>();
  for (const { size, text } of blocks) letters.set(size, (letters.get(size) ?? 0) + text.length);
  const body = [...letters].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 0;
  const isHeading = ({ size, text }: PdfBlock) =>
    body > 0 &&
    size > body * HEADING_SIZE &&
    text.length <= HEADING_CHARACTERS &&
    /\p{L}/u.test(text) &&
    text[0] !== "|";
  const sizes = [...new Set(blocks.filter(isHeading).map(({ size }) => Math.round(size)))].sort((a, b) => b - a);
  for (const block of blocks) {
    const level = isHeading(block) ? Math.min(6, sizes.indexOf(Math.round(block.size)) + 1) : undefined;
    yield { text: block.text, page: block.page, level };
  }
}

async function outlineOf(pdf: Pdf): Promise<OutlineEntry[]> {
  const entries: OutlineEntry[] = [];
  const walk = async (nodes: readonly OutlineNode[], level: number): Promise<void> => {
    for (const { title, dest, items } of nodes) {
      if (entries.length >= OUTLINE_ENTRIES) return;
      const place = await placeOf(pdf, dest);
      if (place && tidy(title) !== "") entries.push({ title: oneLine(title), level, ...place });
      if (level < 6) await walk(items as OutlineNode[], level + 1);
    }
  };
  await walk((await pdf.getOutline()) ?? [], 1);
  return entries;
}

async function placeOf(
  pdf: Pdf,
  dest: string | unknown[] | null,
): Promise<Pick<OutlineEntry, "page" | "y"> | undefined> {
  try {
    const [target, how, ...numbers] = (typeof dest === "string" ? await pdf.getDestination(dest) : dest) ?? [];
    if (target === undefined || target === null) return undefined;
    const page = typeof target === "number" ? target : await pdf.getPageIndex(target as never);
    const top = textIn(how, "name") === "XYZ" ? numbers[1] : numbers[0];
    return { page: page + 1, y: typeof top === "number" ? top : undefined };
  } catch {
    return undefined;
  }
}
