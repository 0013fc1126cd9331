/** The types of what is read out of a file, and of what the reading process writes: one JSON object per line. */

/** A piece of a document in reading order. */
export interface Block {
  /** Level of a heading, 1 to 6; undefined for any other block. */
  level?: number | undefined;
  /** Markdown. The text of a heading is one line. */
  text: string;
  /** Page number from 1, in formats that have pages. */
  page?: number | undefined;
}

/**
 * A heading with everything up to the next heading. Text that is too long continues in further sections with the same
 * title.
 */
export interface ExtractedSection {
  /** Level of the heading, 1 to 6. */
  level: number;
  title: string;
  /** Page that the section begins on. */
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

/** A file that cannot be read; the message says why, in words for people. */
export class Unreadable extends Error {}

export const EXTRACT_LIMITS = {
  /** Most characters of one section; longer text continues in another section. */
  sectionCharacters: 40_000,
  textCharacters: 20_000_000,
  sections: 20_000,
  titleCharacters: 300,
  pages: 5_000,
  /** Most bytes that a DOCX file may hold unpacked. */
  unpackedBytes: 200 * 1024 * 1024,
} as const;
