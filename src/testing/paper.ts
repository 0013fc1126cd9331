/** Documents as people upload them: PDFs printed by a real browser, Word files, and decompression bombs. */
import { constants, crc32, deflateRawSync } from "node:zlib";
import { strToU8, type Zippable, zipSync } from "fflate";
import { openBrowser } from "./browser.ts";

interface Printing {
  outline?: boolean;
  tagged?: boolean;
}

/** Prints each HTML page to PDF. */
export async function printPdfs(
  pages: readonly { html: string; how?: Printing }[],
): Promise<Uint8Array<ArrayBuffer>[]> {
  const browser = await openBrowser();
  try {
    const printed: Uint8Array<ArrayBuffer>[] = [];
    for (const { html, how: { outline = false, tagged = true } = {} } of pages) {
      const page = await browser.newPage();
      await page.setContent(html);
      printed.push(new Uint8Array(await page.pdf({ outline, tagged, format: "A4" })));
      await page.close();
    }
    return printed;
  } finally {
    await browser.close();
  }
}

/** A book with chapters and sections of plain words, with about 50 lines per page. */
export function bookHtml(chapters: number, sections: number, paragraphs: number, words: (n: number) => string): string {
  const body = Array.from({ length: chapters }, (_, chapter) => [
    `<h1 style="break-before:page">Chapter ${chapter + 1}</h1>`,
    ...Array.from({ length: sections }, (_s, section) => [
      `<h2>Part ${chapter + 1}.${section + 1}</h2>`,
      ...Array.from({ length: paragraphs }, () => `<p>${words(110)}</p>`),
    ]).flat(),
  ]).flat();
  return `<html lang="en"><head><title>A Book</title></head><body>${body.join("\n")}</body></html>`;
}

const paragraph = (text: string, style?: string): string =>
  `<w:p>${style ? `<w:pPr><w:pStyle w:val="${style}"/></w:pPr>` : ""}<w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`;

/** A Word file. @param parts each is `# Heading`, `## Heading`, a paragraph, or rows of cells. */
export function docx(parts: readonly (string | string[][])[], more: Zippable = {}): Uint8Array<ArrayBuffer> {
  const body = parts.map((part) => {
    if (typeof part !== "string")
      return `<w:tbl>${part
        .map((row) => `<w:tr>${row.map((cell) => `<w:tc>${paragraph(cell)}</w:tc>`).join("")}</w:tr>`)
        .join("")}</w:tbl>`;
    const [, marks, title] = /^(#+) (.*)$/.exec(part) ?? [];
    return marks ? paragraph(title!, `Heading${marks.length}`) : paragraph(part);
  });
  const styles = [1, 2, 3].map(
    (level) => `<w:style w:type="paragraph" w:styleId="Heading${level}"><w:name w:val="heading ${level}"/></w:style>`,
  );
  const w = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
  return docxOf(`<w:document ${w}><w:body>${body.join("")}</w:body></w:document>`, {
    "word/styles.xml": strToU8(`<?xml version="1.0"?><w:styles ${w}>${styles.join("")}</w:styles>`),
    ...more,
  });
}

/** @param document XML of the main part. */
export function docxOf(document: string | Uint8Array, more: Zippable = {}): Uint8Array<ArrayBuffer> {
  const xml = (text: string) => strToU8(`<?xml version="1.0" encoding="UTF-8" standalone="yes"?>${text}`);
  const type = "application/vnd.openxmlformats-officedocument.wordprocessingml";
  const relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
  return new Uint8Array(
    zipSync({
      "[Content_Types].xml": xml(
        `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="${type}.document.main+xml"/><Override PartName="/word/styles.xml" ContentType="${type}.styles+xml"/></Types>`,
      ),
      "_rels/.rels": xml(
        `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="${relation}/officeDocument" Target="word/document.xml"/></Relationships>`,
      ),
      "word/_rels/document.xml.rels": xml(
        `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="${relation}/styles" Target="styles.xml"/></Relationships>`,
      ),
      "word/document.xml": typeof document === "string" ? xml(document) : document,
      ...more,
    }),
  );
}

const MEBIBYTE = Buffer.alloc(1024 ** 2, " ");

/**
 * Raw DEFLATE data of that many MiB of spaces. One compressed MiB is repeated, because compressing all would take
 * seconds.
 */
function deflateSpacesRaw(mebibytes: number): Buffer {
  const piece = deflateRawSync(MEBIBYTE, { level: 9, finishFlush: constants.Z_FULL_FLUSH });
  const last = Buffer.from([3, 0]);
  return Buffer.concat([...Array.from({ length: mebibytes }, () => piece), last]);
}

/** The same data with zlib's header and its checksum (Adler-32). */
export function deflateSpaces(mebibytes: number): Buffer {
  const modulus = 65_521n;
  const count = BigInt(mebibytes * MEBIBYTE.length);
  const space = 0x20n;
  const low = (1n + count * space) % modulus;
  const high = (count + (space * count * (count + 1n)) / 2n) % modulus;
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(Number((high << 16n) | low));
  return Buffer.concat([Buffer.from([0x78, 0xda]), deflateSpacesRaw(mebibytes), checksum]);
}

/** A Word file whose main part is that many MiB of spaces. @param said size in bytes that the archive claims. */
export function docxOfSpaces(mebibytes: number, said = mebibytes * MEBIBYTE.length): Uint8Array<ArrayBuffer> {
  const name = "word/document.xml";
  const bytes = docxOf("", { [name]: [deflateSpacesRaw(mebibytes), { level: 0 }] });
  const view = Buffer.from(bytes.buffer);
  let checksum = 0;
  for (let done = 0; done < mebibytes; done++) checksum = crc32(MEBIBYTE, checksum);
  // The part was stored uncompressed. Change both of its headers, which end with its name, so that they say it is
  // compressed.
  let headers = 0;
  for (let at = view.indexOf(name); at >= 0; at = view.indexOf(name, at + 1)) {
    const isCentral = view.readUInt32LE(at - 46) === 0x02014b50;
    const method = isCentral ? at - 36 : at - 22;
    view.writeUInt16LE(8, method);
    view.writeUInt32LE(checksum, method + 6);
    view.writeUInt32LE(said, method + 14);
    headers++;
  }
  if (headers !== 2) throw new Error(`${headers} headers name ${name}, not 2`);
  return bytes;
}

/** A handmade PDF with one page that consists of this stream, compressed once per filter. */
export function pdfOf(stream: Uint8Array, filters: readonly string[]): Uint8Array<ArrayBuffer> {
  const parts: Buffer[] = [];
  const offsets: number[] = [];
  let size = 0;
  const add = (piece: string | Uint8Array) => {
    const bytes = Buffer.from(piece as string);
    parts.push(bytes);
    size += bytes.length;
  };
  const object = (text: string, data?: Uint8Array) => {
    offsets.push(size);
    add(`${offsets.length} 0 obj\n${text}\n`);
    if (data) {
      add("stream\n");
      add(data);
      add("\nendstream\n");
    }
    add("endobj\n");
  };
  add("%PDF-1.5\n");
  object("<</Type/Catalog/Pages 2 0 R>>");
  object("<</Type/Pages/Kids[3 0 R]/Count 1>>");
  object("<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>");
  object(`<</Length ${stream.length}/Filter[${filters.map((filter) => `/${filter}`).join(" ")}]>>`, stream);
  object("<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>");
  const start = size;
  add(`xref\n0 ${offsets.length + 1}\n0000000000 65535 f \n`);
  for (const offset of offsets) add(`${String(offset).padStart(10, "0")} 00000 n \n`);
  add(`trailer<</Size ${offsets.length + 1}/Root 1 0 R>>\nstartxref\n${start}\n%%EOF`);
  return new Uint8Array(Buffer.concat(parts));
}
