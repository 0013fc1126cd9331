/** Lines of a file that name a configuration key or an environment variable. */
import { basename } from "../../language/paths.ts";

interface KeyPlace {
  /** Counts from 1. */
  line: number;
  /** The line, without space around it; of a file of secrets only the name. */
  text: string;
  /** It gives the key a value or declares it, rather than reads it. */
  sets: boolean;
}

const MAX_TEXT = 160;
/** Places of one file. */
const MAX_PLACES = 500;

/** What a place of a text is: a reading, a setting, or none of both. */
type Judge = (before: string, after: string) => "reads" | "sets" | undefined;

/** Characters that are looked at before and after a name. */
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
/** What stands before a name where a variable of the environment is read by member, and where a setting is. */
const ENVIRONMENT = /\b(env|environ|getenv|environment)[^\p{L}\p{N}_\n]{1,3}$/iu;
const SETTINGS = /\b(config|configuration|settings|options|conf|cfg)\w{0,20}\.$/i;
const GETS_VALUE = /^["'`]?\]?\s{0,8}=(?![=>])/;
/** `const { NAME, other } = process.env`. */
const TAKEN_OUT = /^[^{}()]{0,300}\}\s{0,8}=\s{0,8}[\w.]{0,60}\b(env|environ)\b/i;

/** Places of source: the name in quotes, a member of an environment or of settings, a key in capitals. */
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

/** Of a base name. */
const SECRETS = /(^|\.)env(\.|$)/i;

/** Places of a configuration file: `$NAME`, `${NAME}`, or the name as a key at the start of a line or in quotes. */
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
