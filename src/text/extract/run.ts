/**
 * `skep extract FILE`: reads an untrusted file in a process of its own. The parent process bounds its memory and time.
 * Writes one JSON object per line (model.ts).
 */

import { writeSync } from "node:fs";
import { codeOf } from "../../core/errors.ts";
import { DOCX, mediaTypeOf } from "../../core/media-type.ts";
import { docxBlocks } from "./docx.ts";
import { htmlBlocks } from "./html.ts";
import { markdownBlocks, textBlocks } from "./markdown.ts";
import { type Block, type ExtractedDocument, type ExtractLine, Unreadable } from "./model.ts";
import { pdfBlocks } from "./pdf.ts";
import { sectionsOf } from "./sections.ts";

interface Read {
  document: ExtractedDocument;
  blocks: Iterable<Block>;
}

/** @param hint declared media type of the file; only tells the kinds of text apart. */
export async function runExtract(path: string, hint: string): Promise<void> {
  try {
    const { document, blocks } = await read(await Bun.file(path).bytes(), hint);
    let title = document.title;
    for (const section of sectionsOf(blocks)) {
      title ??= section.title || undefined;
      say({ kind: "section", section });
    }
    say({ kind: "end", document: { ...document, title } });
  } catch (error) {
    say({ kind: "failed", reason: error instanceof Unreadable ? error.message : "It cannot be read: it is broken." });
  }
  // Ends also whatever a library left running.
  process.exit(0);
}

function createProgress(): (percent: number) => void {
  let reported = 0;
  return (percent) => {
    if (percent < reported + 2) return;
    reported = percent;
    say({ kind: "progress", percent: Math.floor(percent) });
  };
}

async function read(sent: Uint8Array, hint: string): Promise<Read> {
  const bytes = asUtf8(sent);
  const found = await mediaTypeOf(bytes, bytes);
  const type = found === "text/plain" && ["text/html", "text/markdown"].includes(hint) ? hint : found;
  switch (type) {
    case "application/pdf": {
      const { title, pages, blocks } = await pdfBlocks(bytes, createProgress());
      return { document: { media_type: type, title, pages }, blocks };
    }
    case DOCX: {
      const { title, blocks } = await docxBlocks(bytes);
      return { document: { media_type: type, title }, blocks };
    }
    case "text/html": {
      const { title, blocks } = await htmlBlocks(textOf(bytes));
      return { document: { media_type: type, title }, blocks };
    }
    case "text/markdown":
      return { document: { media_type: type }, blocks: markdownBlocks(textOf(bytes)) };
    case "text/plain": {
      const text = textOf(bytes);
      // Notes are often Markdown although their media type does not say so.
      const blocks = /^#{1,6} \S/m.test(text) ? markdownBlocks(text) : textBlocks(text);
      return { document: { media_type: type }, blocks };
    }
    case "application/octet-stream":
      // No text contains bytes below 9. A file without them is most likely text in an older encoding.
      if (!bytes.some((byte) => byte < 9)) throw new Unreadable("Its text is not UTF-8. Save it as UTF-8.");
      throw new Unreadable("It is of no known kind. PDF, DOCX, HTML, Markdown and plain text can be read.");
    default:
      throw new Unreadable(`It is ${type}. PDF, DOCX, HTML, Markdown and plain text can be read.`);
  }
}

/**
 * Converts UTF-16 with a byte order mark, which Windows editors write as "Unicode", to UTF-8. Other bytes stay as they
 * are.
 */
function asUtf8(bytes: Uint8Array): Uint8Array {
  const [first, second] = bytes;
  const encoding = first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : "";
  if (encoding === "") return bytes;
  try {
    return new TextEncoder().encode(new TextDecoder(encoding, { fatal: true }).decode(bytes));
  } catch {
    return bytes;
  }
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Unreadable("Its text is not UTF-8.");
  }
}

/** Writes one line. Waits while the pipe is full because the parent does not read. */
function say(line: ExtractLine): void {
  const bytes = new TextEncoder().encode(`${JSON.stringify(line)}\n`);
  for (let at = 0; at < bytes.byteLength; )
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      if (codeOf(error) !== "EAGAIN") process.exit(1);
      Bun.sleepSync(5);
    }
}
