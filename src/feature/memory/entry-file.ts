/**
 * Reads and writes one entry as a Markdown file: front matter, then the text. A file with faults still becomes an
 * entry, which lists the faults. Pure.
 */

import { createHash } from "node:crypto";
import { toTimestamp } from "../../core/clock.ts";
import { isOneOf } from "../../core/typed-keys.ts";
import { ENTRY_TYPES, type EntryType, originOf } from "./model.ts";

/** The functions of `engine/front-matter.ts`. */
export interface FrontMatterFormat {
  read(text: string): { data: Record<string, unknown>; body: string; problems: { line: number; message: string }[] };
  /** @throws Error when the front matter is broken. */
  update(text: string, patch: Readonly<Record<string, unknown>>, body?: string): string;
}

export type EntryFields = ReturnType<typeof readEntry>;

const MAX_LINKS = 200;
const WHOLE_DAY = /^\d{4}-\d\d-\d\d$/;

export const digestOf = (text: string): string => createHash("sha256").update(text).digest("base64url");

const isType = (value: unknown): value is EntryType => isOneOf(ENTRY_TYPES, value);
const toStrings = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === "string").slice(0, MAX_LINKS) : [];
const textOr = <T>(value: unknown, other: T): string | T =>
  typeof value === "string" && value !== "" ? value.slice(0, 300) : other;

/** A date or time as RFC 3339; undefined when the value is neither. */
function timeOf(value: unknown): string | undefined {
  const ms = value instanceof Date ? value.getTime() : typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isFinite(ms) ? toTimestamp(ms) : undefined;
}

function linksIn(text: string): string[] {
  return [...text.matchAll(/\[\[([^[\]|\n]{1,200})(?:\|[^[\]\n]{0,200})?\]\]/g)].map(([, to]) => to!.trim());
}

/** @param entry path without `.md`. @param modifiedAt ms since the epoch. */
export function readEntry(entry: string, text: string, modifiedAt: number, format: FrontMatterFormat) {
  const { data, body, problems } = format.read(text);
  const modified = toTimestamp(Math.trunc(modifiedAt));
  const folder = entry.split("/")[0];
  const type = isType(data["type"]) ? data["type"] : isType(folder) ? folder : "note";
  const faults = problems.map(({ line, message }) => `Line ${line}: ${message}`);
  if (data["type"] !== undefined && !isType(data["type"])) faults.push(`There is no such type.`);
  if (data["expires"] !== undefined && timeOf(data["expires"]) === undefined) faults.push("`expires` is not a date.");
  if (data["owner"] !== undefined && typeof data["owner"] !== "string") faults.push("`owner` is not the id of a user.");
  if (data["trusted"] !== undefined && typeof data["trusted"] !== "boolean")
    faults.push("`trusted` is neither true nor false.");
  const content = body.trim();
  if (content === "") faults.push("The entry has no text.");
  return {
    title: textOr(data["title"], entry.split("/").at(-1)!),
    type,
    tags: toStrings(data["tags"]),
    /** Links from the front matter and from `[[entry]]` in the text. */
    links: [...new Set([...toStrings(data["links"]), ...linksIn(content)])].slice(0, MAX_LINKS),
    origin: originOf(data["origin"]),
    owner_id: textOr(data["owner"], null),
    // An entry with faults is never trusted.
    trusted: data["trusted"] !== false && faults.length === 0,
    pinned: data["pinned"] === true,
    expires_at: expiryOf(data["expires"]),
    superseded_by: textOr(data["superseded_by"], null),
    problem: faults[0] ?? null,
    content,
    created_at: timeOf(data["created"]) ?? modified,
    updated_at: timeOf(data["updated"]) ?? modified,
  };
}

/** An expiry without a time of day lasts until the end of that day. */
function expiryOf(value: unknown): string | null {
  if (typeof value === "string" && WHOLE_DAY.test(value)) return timeOf(`${value}T23:59:59.999Z`) ?? null;
  return timeOf(value) ?? null;
}

/** A file name from a title: small letters, digits and hyphens; never empty. */
export function slugOf(title: string): string {
  const slug = title
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 60)
    .replace(/^-+|(?<!-)-+$/g, "");
  return (
    slug ||
    digestOf(title)
      .toLowerCase()
      .replace(/[^a-z0-9]/g, "")
      .slice(0, 12) ||
    "entry"
  );
}

/**
 * Whether an entry may have this path: at most two folders deep, no leading dots, nothing that leads out of the vault.
 */
export const isEntryPath = (entry: string): boolean =>
  entry.length <= 200 &&
  entry.split("/").length <= 3 &&
  entry.split("/").every((part) => part !== "" && !part.startsWith(".") && !/[\p{Cc}\\]/u.test(part)) &&
  entry.split("/").every((part) => Buffer.byteLength(part) <= 240);

const PARAGRAPH_CHARACTERS = 1_200;
const MAX_UNITS = 400;

/** Cuts the text into paragraphs. Long ones are divided; a short heading stays with the paragraph after it. */
export function unitsOf(content: string): string[] {
  const units: string[] = [];
  let held = "";
  for (const paragraph of content.split(/\n\s*\n/)) {
    const text = held ? `${held}\n${paragraph.trim()}` : paragraph.trim();
    held = "";
    if (/^#{1,6} [^\n]*$/.test(text)) held = text;
    else
      for (let at = 0; at < text.length; at += PARAGRAPH_CHARACTERS)
        units.push(text.slice(at, at + PARAGRAPH_CHARACTERS));
  }
  if (held) units.push(held);
  return units.filter((unit) => unit !== "").slice(0, MAX_UNITS);
}
