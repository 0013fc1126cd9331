/** What is read out of a file, and what the reading process writes: one JSON object per line. */

/** A piece of a document in reading order. */
export interface Block {
  /** Of a heading, 1 to 6. */
  level?: number | undefined;
  /** Markdown; a heading's on one line. */
  text: string;
  /** From 1, where the format has pages. */
  page?: number | undefined;
}

/** A heading with everything up to the next one; a long one continues in further sections of the same title. */
export interface ExtractedSection {
  /** 1 to 6. */
  level: number;
  title: string;
  /** Where it begins. */
  page?: number | undefined;
  text: string;
}

export interface ExtractedDocument {
  media_type: string;
  title?: string | undefined;
  pages?: number | undefined;
}

/** Lines of the reading process. The last is `end` or `failed`. */
export type ExtractLine =
  | { kind: "progress"; percent: number }
  | { kind: "section"; section: ExtractedSection }
  | { kind: "end"; document: ExtractedDocument }
  | { kind: "failed"; reason: string };

/** Why a file cannot be read, in words for people. */
export class Unreadable extends Error {}

export const EXTRACT_LIMITS = {
  /** Characters of a section; what is longer continues in another. */
  sectionCharacters: 40_000,
  textCharacters: 20_000_000,
  sections: 20_000,
  titleCharacters: 300,
  pages: 5_000,
  /** What a DOCX file may hold unpacked. */
  unpackedBytes: 200 * 1024 * 1024,
} as const;
