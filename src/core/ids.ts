/**
 * Identifiers in the form of TypeID: prefix, underscore, base32 of a UUIDv7. They sort by creation time and are
 * validated by their form.
 */

export const ID_PREFIXES = {
  run: "run",
  step: "step",
  session: "sess",
  execution: "exe",
  message: "msg",
  call: "call",
  project: "proj",
  task: "task",
  secret: "sec",
  apiKey: "key",
  user: "usr",
  job: "job",
  swarm: "swm",
  spawn: "spn",
  attachment: "att",
  comment: "cmt",
  permission: "perm",
  permissionAnswer: "pans",
  egress: "egr",
  document: "doc",
  contradiction: "ctr",
  cookieSet: "ck",
  llmCall: "llm",
  ttsCall: "tts",
  notification: "ntf",
  notificationChannel: "nch",
  notificationDelivery: "ntd",
  messenger: "msn",
  notificationQuestion: "ntq",
  phoneCommand: "phc",
  delivery: "whk",
  codehostRule: "rule",
  routine: "pls",
  pulseTick: "tick",
  onboarding: "onb",
  request: "req",
  audit: "aud",
  login: "lgn",
  instance: "ins",
  eval: "evl",
  evalAttempt: "eva",
  deletion: "del",
  invitation: "inv",
  preview: "prv",
  screenshot: "shot",
} as const;

export type IdKind = keyof typeof ID_PREFIXES;

/** Crockford's base32 alphabet in lower case. */
const DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";
const SUFFIX = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;

const PAIRS = Array.from({ length: 1_024 }, (_, at) => `${DIGITS[at >> 5]}${DIGITS[at & 31]}`);

/** Encodes 16 bytes as 26 digits of 5 bits, with two zero bits in front. Two digits are encoded at a time. */
function base32(bytes: Uint8Array): string {
  let text = "";
  let held = 0;
  let bits = 2;
  for (let at = 0; at < bytes.length; at++) {
    held = ((held << 8) | bytes[at]!) & 0xfffff;
    bits += 8;
    if (bits < 10) continue;
    bits -= 10;
    text += PAIRS[(held >>> bits) & 1_023];
  }
  return text;
}

/** Makes an identifier of this kind, e.g. `run_01j…`. Later identifiers sort after earlier ones. */
export const newId = (kind: IdKind): string => `${ID_PREFIXES[kind]}_${base32(Bun.randomUUIDv7("buffer"))}`;

/** True if `text` is a well-formed identifier of that kind. */
export function isId(kind: IdKind, text: string): boolean {
  const prefix = ID_PREFIXES[kind];
  return text.startsWith(`${prefix}_`) && SUFFIX.test(text.slice(prefix.length + 1));
}

/** Names of agents, pipelines, skills, providers, servers. */
export const SLUG = /^[a-z0-9][a-z0-9-]{0,63}$/;
/** Names that collide with words in API paths, so nothing may have them. */
export const RESERVED_SLUGS: ReadonlySet<string> = new Set(["settings", "shared", "summary", "agents", "all"]);
export const isSlug = (text: string): boolean => SLUG.test(text) && !RESERVED_SLUGS.has(text);
