/**
 * Whether a column holds a text, A–Z in either case. Not by LIKE: that compares character by character at every position,
 * so that a text made for it takes its length times the pattern's; `instr` compares bytes at once.
 */
import { type SQL, type SQLWrapper, sql } from "drizzle-orm";

export const containsText = (column: SQLWrapper, text: string): SQL =>
  sql`instr(lower(${column}), ${text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())}) > 0`;
