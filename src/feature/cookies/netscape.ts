/**
 * The Netscape cookie file, which browsers' export tools write and curl, wget and yt-dlp read. Each line is one cookie
 * of seven fields separated by tabs: domain, include subdomains, path, secure, expiry (Unix seconds, 0 for a session),
 * name, value. A line that begins with `#HttpOnly_` is a cookie; any other line that begins with `#` is a comment.
 */

import { attempt } from "../../core/attempt.ts";
import { invalidField } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import { takeTurns } from "../../core/turns.ts";

export interface Cookie {
  /** In lower case, without a leading dot. */
  domain: string;
  includeSubdomains: boolean;
  path: string;
  secure: boolean;
  httpOnly: boolean;
  /** Unix seconds; null for a session cookie. */
  expiresAt: number | null;
  name: string;
  value: string;
}

const HTTP_ONLY = "#HttpOnly_";
/** RFC 6265 §4.1.1: a token. */
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]*$/;
/** Control characters. Tabs cannot occur, because the line was split at them. */
const CONTROL = /[\u0000-\u001f\u007f]/;
const PATH = /^\/[^;]*$/;

/**
 * Reads a cookie file.
 * @throws Problem 422 with the number of the first invalid line, never with its content.
 */
export async function readNetscapeCookies(text: string): Promise<Cookie[]> {
  const { canonicalDomain, getPublicSuffix } = await import("tough-cookie");
  const cookies: Cookie[] = [];
  const turn = takeTurns();
  let number = 0;
  for (const line of linesOf(text.replace(/^\ufeff/, ""))) {
    await turn();
    number++;
    const createProblem = (what: string) => invalidField("/file", `Line ${number}: ${what}.`);
    const httpOnly = line.startsWith(HTTP_ONLY);
    if (line.trim() === "" || (line.startsWith("#") && !httpOnly)) continue;
    const fields = (httpOnly ? line.slice(HTTP_ONLY.length) : line).split("\t");
    if (fields.length !== 7)
      throw createProblem(`a cookie has seven fields separated by tabs; this one has ${fields.length}`);
    if (fields.some((field) => CONTROL.test(field))) throw createProblem("a control character");
    const [host = "", subdomains = "", path = "", secure = "", expiry = "", name = "", value = ""] = fields;
    // `canonicalDomain` throws for host names beyond ASCII that no address can have.
    const domain = attempt(() => canonicalDomain(host.replace(/^\./, "")));
    if (!domain || !/^[a-z0-9.\-_:[\]]+$/.test(domain)) throw createProblem("the domain is not one");
    const flags = [subdomains, secure].map((flag) => flag.toUpperCase());
    if (flags.some((flag) => flag !== "TRUE" && flag !== "FALSE"))
      throw createProblem("fields 2 and 4 must be TRUE or FALSE");
    const includeSubdomains = flags[0] === "TRUE";
    if (includeSubdomains && !isAddress(domain) && domain !== "localhost" && !isOwned(domain, getPublicSuffix))
      throw createProblem("the domain is a public suffix: a cookie for all of it belongs to nobody");
    if (!PATH.test(path)) throw createProblem("the path must begin with a slash");
    if (!/^\d{1,12}$/.test(expiry)) throw createProblem("the expiry is a number of seconds, 0 for a session");
    if (!NAME.test(name) || (name === "" && value === ""))
      throw createProblem("the name is not one that a cookie can have");
    cookies.push({
      domain,
      includeSubdomains,
      path,
      httpOnly,
      name,
      value,
      secure: flags[1] === "TRUE",
      expiresAt: Number(expiry) === 0 ? null : Number(expiry),
    });
    if (cookies.length > LIMITS.cookiesPerSet) throw invalidField("/file", `At most ${LIMITS.cookiesPerSet} cookies.`);
  }
  if (cookies.length === 0)
    throw invalidField("/file", "There is no cookie in the file. Export it in Netscape format.");
  return cookies;
}

/** Yields one line at a time: a file that is only line ends has a million lines. */
function* linesOf(text: string): Generator<string> {
  for (let start = 0; ; ) {
    const end = text.indexOf("\n", start);
    const line = end < 0 ? text.slice(start) : text.slice(start, end);
    yield line.endsWith("\r") ? line.slice(0, -1) : line;
    if (end < 0) return;
    start = end + 1;
  }
}

/**
 * Writes the file that the agent's tools read. Cookies that have expired by `now` (ms since the epoch) are left out.
 */
export function writeNetscapeCookies(cookies: readonly Cookie[], now: number): string {
  const rows = cookies
    .filter(({ expiresAt }) => expiresAt === null || expiresAt * 1_000 > now)
    .map((cookie) =>
      [
        `${cookie.httpOnly ? HTTP_ONLY : ""}${cookie.includeSubdomains ? "." : ""}${cookie.domain}`,
        cookie.includeSubdomains ? "TRUE" : "FALSE",
        cookie.path,
        cookie.secure ? "TRUE" : "FALSE",
        String(cookie.expiresAt ?? 0),
        cookie.name,
        cookie.value,
      ].join("\t"),
    );
  return `# Netscape HTTP Cookie File\n${rows.map((row) => `${row}\n`).join("")}`;
}

const isAddress = (domain: string): boolean => /^[\d.]+$/.test(domain) || domain.includes(":");

/** Whether somebody can own the domain: it is more than a public suffix such as `co.uk`. */
const isOwned = (domain: string, suffixOf: (domain: string, options: object) => string | undefined): boolean =>
  attempt(() => suffixOf(domain, { allowSpecialUseDomain: true, ignoreError: true })) !== undefined;
