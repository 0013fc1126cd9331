/** Identifiers: TypeID (prefix, underscore, base32 of a UUIDv7): sortable by time of making, checked by shape. */
import { TypeID, typeid } from "typeid-js";

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
  swarmTask: "swt",
  spawn: "spn",
  attachment: "att",
  document: "doc",
  cookieSet: "ck",
  llmCall: "llm",
  ttsCall: "tts",
  notification: "ntf",
  routine: "pls",
  onboarding: "onb",
  request: "req",
  audit: "aud",
  login: "lgn",
  instance: "ins",
} as const;

export type IdKind = keyof typeof ID_PREFIXES;

/** A new identifier of that kind, e.g. `run_01j…`. */
export const newId = (kind: IdKind): string => typeid(ID_PREFIXES[kind]).toString();

/** True if `text` is a well-formed identifier of that kind. */
export function isId(kind: IdKind, text: string): boolean {
  try {
    return TypeID.fromString(text).getType() === ID_PREFIXES[kind];
  } catch {
    return false;
  }
}

/** Names of agents, pipelines, skills, providers, servers. */
export const SLUG = /^[a-z0-9][a-z0-9-]{0,63}$/;
/** Words that paths use themselves, so nothing may be named so. */
export const RESERVED_SLUGS: ReadonlySet<string> = new Set(["settings", "shared", "summary", "agents", "all"]);
export const isSlug = (text: string): boolean => SLUG.test(text) && !RESERVED_SLUGS.has(text);
