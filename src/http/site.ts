/** The address that browsers know this server by: from PUBLIC_URL, else from a Host that was found to be ours. */
import type { Config } from "../core/config.ts";
import { isLoopback } from "../core/config.ts";
import { unavailable } from "../core/errors.ts";
import { setCookie } from "./cookies.ts";

export interface Site {
  /** Path prefix without a slash at its end: "" or "/skep". */
  readonly prefix: string;
  /** Address without a slash at its end. @throws Problem 503 `public_url_needed` when only the Host header, which can be forged, names it. */
  base(request: Request): string;
  /** A cookie below `path`, a path of ours. Kept from plain-text connections where the site is https. */
  cookie(name: string, value: string, options: { path?: string; sameSite: "Strict" | "Lax"; maxAge: number }): string;
  /** Whether the request comes from a page of this site: required of a change that is authenticated by a cookie. */
  ownPage(request: Request): boolean;
  /** A path of this site to send a browser to; anything else becomes the start page. */
  localPath(wanted: string | undefined): string;
}

export function createSite({ publicUrl, host }: Pick<Config, "publicUrl" | "host">): Site {
  const prefix = publicUrl ? new URL(publicUrl).pathname.replace(/(?<!\/)\/+$/, "") : "";
  const secure = publicUrl?.startsWith("https:") ?? false;
  return {
    prefix,
    base(request) {
      if (publicUrl) return publicUrl;
      // On a loopback bind the gate lets loopback names in only, so an attacker cannot choose the Host.
      if (isLoopback(host)) return `http://${request.headers.get("host")}`;
      throw unavailable(
        "public_url_needed",
        "Set PUBLIC_URL to the address of this server to sign on through a provider.",
      );
    },
    cookie: (name, value, { path = "/", sameSite, maxAge }) =>
      setCookie(name, value, { path: `${prefix}${path}`, secure, sameSite, maxAge }),
    ownPage({ headers }) {
      const origin = headers.get("origin");
      if (origin === null) return headers.get("sec-fetch-site") === "same-origin";
      if (publicUrl && new URL(publicUrl).origin === origin) return true;
      return URL.canParse(origin) && new URL(origin).host === headers.get("host");
    },
    localPath(wanted) {
      const plain = wanted !== undefined && /^\/(?![/\\])[^\\\x00-\x20\x7f]*$/.test(wanted) && wanted.length <= 2_000;
      return `${prefix}${plain ? wanted : "/"}`;
    },
  };
}
