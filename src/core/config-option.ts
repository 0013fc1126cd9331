/** Defines an option of the configuration and how its text is parsed. */
import ipaddr from "ipaddr.js";
import { isHostHeader, plainHost } from "./plain-host.ts";

/** Parses an option's text; undefined when the text is not accepted. */
type Reader<T> = (text: string) => T | undefined;

export interface Option<T> {
  env: string;
  /** What it does, for `skep config` and the docs. */
  about: string;
  /** What is accepted, for the message when a value is wrong. */
  accepts: string;
  default: T;
  read: Reader<T>;
  /** The accepted words, for options that take one of a few. */
  choices?: readonly string[];
  secret?: boolean;
}

export const text: Reader<string> = (value) => value;
const boolean: Reader<boolean> = (value) =>
  /^(true|1|yes|on)$/i.test(value) ? true : /^(false|0|no|off)$/i.test(value) ? false : undefined;
const integer =
  (min: number, max: number): Reader<number> =>
  (value) =>
    /^\d{1,12}$/.test(value) && Number(value) >= min && Number(value) <= max ? Number(value) : undefined;
const oneOf =
  <const T extends string>(...words: T[]): Reader<T> =>
  (value) =>
    words.find((word) => word === value.toLowerCase());
export const list: Reader<string[]> = (value) =>
  value
    .split(",")
    .map((item) => item.trim())
    .filter(Boolean);
const isNetwork = (entry: string): boolean =>
  entry.includes("/")
    ? ipaddr.isValidCIDR(entry)
    : ipaddr.IPv4.isValidFourPartDecimal(entry) || ipaddr.IPv6.isValid(entry);
const isHost = (entry: string): boolean => {
  try {
    return plainHost(entry) !== "";
  } catch {
    return false;
  }
};
const listOf =
  (isWanted: (entry: string) => boolean): Reader<string[]> =>
  (value) => {
    const entries = list(value);
    return entries?.every(isWanted) ? entries : undefined;
  };
/** Reads a list of addresses and CIDR networks. */
export const networks = listOf(isNetwork);
/** Reads a list of names and addresses as in a Host header, which may have a port. */
export const hostHeaders = listOf(isHostHeader);
/** Reads a list of origins as in an Origin header. A slash at the end is dropped. */
export const origins: Reader<string[]> = (value) => {
  const entries = list(value)?.map((entry) => entry.replace(/\/$/, "").toLowerCase());
  return entries?.every((entry) => /^[a-z][a-z\d+.-]*:\/\/[^\s/?#@]+$/.test(entry)) ? entries : undefined;
};
/** Reads a list of addresses, CIDR networks and host names. */
export const hosts = listOf((entry) => isNetwork(entry) || isHost(entry));
export const url: Reader<string> = (value) => {
  try {
    const parsed = new URL(value);
    return parsed.protocol === "http:" || parsed.protocol === "https:" ? value.replace(/(?<!\/)\/+$/, "") : undefined;
  } catch {
    return undefined;
  }
};
/** An origin whose host begins with `*.`. */
export const wildcardOrigin: Reader<string> = (value) => {
  const parsed = URL.parse(value);
  if (!parsed || !/^https?:$/.test(parsed.protocol)) return undefined;
  const isPlain = value.replace(/\/$/, "").toLowerCase() === parsed.origin;
  return isPlain && /^\*\.[a-z0-9]/.test(parsed.hostname) ? parsed.origin : undefined;
};
/** `name=value,other=value` with percent-encoded values, as in OpenTelemetry. */
export const headerPairs: Reader<Readonly<Record<string, string>>> = (value) => {
  const headers: Record<string, string> = {};
  for (const pair of list(value) ?? []) {
    const [, name, encoded = ""] = /^([\w!#$%&'*+.^`|~-]+)\s*=\s*([\x21-\x7e][\x20-\x7e]*)$/.exec(pair) ?? [];
    const decoded = decodedText(encoded);
    if (name === undefined || decoded === undefined) return undefined;
    headers[name] = decoded;
  }
  return headers;
};
/** Undefined when the text is not valid percent-encoding, or not allowed in a header. */
function decodedText(text: string): string | undefined {
  try {
    const decoded = decodeURIComponent(text).trim();
    return /^[\x20-\x7e]*$/.test(decoded) ? decoded : undefined;
  } catch {
    return undefined;
  }
}

export const option = <T>(o: Option<T>): Option<T> => o;
/** An option that takes one of a few words, the first by default. */
export const choiceOption = <const T extends string>(env: string, about: string, ...words: [T, ...T[]]) =>
  option<T>({
    env,
    about,
    default: words[0],
    choices: words,
    read: oneOf(...words),
    accepts: `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`,
  });
export const flagOption = <D extends boolean | undefined>(env: string, about: string, fallback: D) =>
  option<boolean | D>({ env, about, accepts: "true or false", default: fallback, read: boolean });
/** An option that is unset by default. */
export const optional = <T>(env: string, about: string, accepts: string, read: Reader<T>) =>
  option<T | undefined>({ env, about, accepts, default: undefined, read });
/** An optional option whose value is never shown. */
export const secretOption = <T>(env: string, about: string, accepts: string, read: Reader<T>) =>
  option<T | undefined>({ ...optional(env, about, accepts, read), secret: true });
const ADDRESS = "an http or https address";
export const addressOption = (env: string, about: string) => optional(env, about, ADDRESS, url);
export const secretAddress = (env: string, about: string) => secretOption(env, about, ADDRESS, url);
export const listOption = (env: string, about: string, accepts: string, read = list) =>
  option<string[]>({ env, about, accepts, default: [], read });
export const numberOption = (env: string, about: string, is: { from: number; to: number; default: number }) =>
  option<number>({
    env,
    about,
    accepts: `a whole number from ${is.from} to ${is.to}`,
    default: is.default,
    read: integer(is.from, is.to),
  });
