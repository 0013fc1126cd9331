/** Lines of a file that name a configuration key or an environment variable. */
import { basename } from "../../language/paths.ts";

interface KeyPlace {
  /** Line number, counted from 1. */
  line: number;
  /** The line without surrounding white space. For a file of secrets, only the name is shown. */
  text: string;
  /** True if the line sets or declares the key, false if it reads the key. */
  sets: boolean;
}

const MAX_TEXT = 160;
/** At most this many places are found in one file. */
const MAX_PLACES = 500;

/** Tells what a place in a text is: a read, an assignment, or neither (undefined). */
type Judge = (before: string, after: string) => "reads" | "sets" | undefined;

/** How many characters before and after a name a `Judge` sees. */
const BEFORE = 48;
const AFTER = 400;

function* placesOf(content: string, name: string, judge: Judge): Generator<KeyPlace> {
  let [line, counted, last, found] = [1, 0, 0, 0];
  for (let at = content.indexOf(name); at >= 0 && found < MAX_PLACES; at = content.indexOf(name, at + name.length)) {
    const end = at + name.length;
    const kind = judge(content.slice(Math.max(0, at - BEFORE), at), content.slice(end, end + AFTER));
    if (!kind) continue;
    for (; counted < at; counted++) if (content.charCodeAt(counted) === 10) line++;
    if (line === last) continue;
    last = line;
    found++;
    const from = content.lastIndexOf("\n", at) + 1;
    const stop = content.indexOf("\n", at);
    const text = content.slice(from, Math.min(stop < 0 ? content.length : stop, from + 4 * MAX_TEXT));
    yield { line, text: text.trim().slice(0, MAX_TEXT), sets: kind === "sets" };
  }
}

const WORD_BEFORE = /[\p{L}\p{N}_$]$/u;
const WORD_AFTER = /^[\p{L}\p{N}_$]/u;
/** Text before a name that is read as a member of the environment (ENVIRONMENT) or of settings (SETTINGS). */
const ENVIRONMENT = /\b(env|environ|getenv|environment)[^\p{L}\p{N}_\n]{1,3}$/iu;
const SETTINGS = /\b(config|configuration|settings|options|conf|cfg)\w{0,20}\.$/i;
const GETS_VALUE = /^["'`]?\]?\s{0,8}=(?![=>])/;
/** Matches what follows the name in `const { NAME, other } = process.env`. */
const TAKEN_OUT = /^[^{}()]{0,300}\}\s{0,8}=\s{0,8}[\w.]{0,60}\b(env|environ)\b/i;

/**
 * Finds a key in source code: its name in quotes, as a member of an environment or of settings, or as a key in
 * capitals.
 */
export function keyPlaces(content: string, name: string): Generator<KeyPlace> {
  const isCapital = /^[A-Z][A-Z0-9]*_[A-Z0-9_]*$/.test(name);
  return placesOf(content, name, (before, after) => {
    const kind = GETS_VALUE.test(after) ? "sets" : "reads";
    if (/["'`]$/.test(before)) return /^["'`,;=]/.test(after) ? kind : undefined;
    if (/\$\{$/.test(before)) return /^[}:]/.test(after) ? "reads" : undefined;
    if (WORD_BEFORE.test(before) || WORD_AFTER.test(after)) return undefined;
    if (ENVIRONMENT.test(before) || SETTINGS.test(before)) return kind;
    if (/[{,]\s*$/.test(before) && TAKEN_OUT.test(after)) return "reads";
    return isCapital && /[{,(]\s*$/.test(before) && /^\??:/.test(after) ? "sets" : undefined;
  });
}

/** Base names of files that hold secrets: `.env` and its variants. */
const SECRETS = /(^|\.)env(\.|$)/i;

/** Finds a key in a configuration file: as `$NAME` or `${NAME}`, or as a key at the start of a line or in quotes. */
export function* settingPlaces(path: string, content: string, name: string): Generator<KeyPlace> {
  if (!content.includes(name)) return;
  const places = placesOf(content, name, (before, after) => {
    if (/\$\{?$/.test(before)) return WORD_AFTER.test(after) ? undefined : "reads";
    if (WORD_BEFORE.test(before) || /^[\w$.-]/.test(after)) return undefined;
    return /(^|[\n{,])[ \t]*(export +|- +|ENV +|ARG +)?["']?$/.test(before) && /^["']?[ \t]*[:=]/.test(after)
      ? "sets"
      : undefined;
  });
  for (const place of places)
    yield SECRETS.test(basename(path)) ? { ...place, text: place.sets ? `${name}=…` : `…${name}…` } : place;
}
