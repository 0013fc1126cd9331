/**
 * Detects a file's media type from its bytes: a known signature, or else text if it is valid UTF-8 without null
 * characters.
 */

export const DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
const OFFICE: readonly [part: string, type: string][] = [
  ["word/document.xml", DOCX],
  ["xl/workbook.xml", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"],
  ["ppt/presentation.xml", "application/vnd.openxmlformats-officedocument.presentationml.presentation"],
];
const HEAD_BYTES = 65_536;
const TEXT_BYTES = 1024 * 1024;

/**
 * Detects the type without unpacking anything; for an archive, only the names in it are read.
 * @param head the file's first bytes; up to 1 MiB of them are decoded to tell whether the file is text.
 * @param tail the file's last bytes, where an archive lists its names; 64 KiB are enough.
 */
export async function mediaTypeOf(head: Uint8Array, tail: Uint8Array): Promise<string> {
  if (startsWith(head, "PK\u0003\u0004")) {
    const names = `${decodeLatin(head.subarray(0, HEAD_BYTES))}${decodeLatin(tail.subarray(-HEAD_BYTES))}`;
    return OFFICE.find(([part]) => names.includes(part))?.[1] ?? "application/zip";
  }
  const { fileTypeFromBuffer } = await import("file-type");
  const known = await fileTypeFromBuffer(head.subarray(0, HEAD_BYTES)).catch(() => undefined);
  if (known) return known.mime;
  if (decodeLatin(head.subarray(0, 1_024)).includes("%PDF-")) return "application/pdf";
  const text = textOf(head);
  if (text === undefined) return "application/octet-stream";
  return /^\uFEFF?\s{0,1000}(<!doctype\s+html|<html[\s>])/i.test(text.slice(0, 4_096)) ? "text/html" : "text/plain";
}

function textOf(head: Uint8Array): string | undefined {
  try {
    // With `stream`, a character that the cut splits is not an error.
    const stream = head.byteLength >= TEXT_BYTES;
    const text = new TextDecoder("utf-8", { fatal: true }).decode(head.subarray(0, TEXT_BYTES), { stream });
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

const decodeLatin = (bytes: Uint8Array): string => Buffer.from(bytes).toString("latin1");
const startsWith = (bytes: Uint8Array, text: string): boolean => decodeLatin(bytes.subarray(0, text.length)) === text;
