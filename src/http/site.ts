/** The address by which browsers know this server: PUBLIC_URL, or else a Host that is known to be ours. */
import type { Config } from "../core/config.ts";
import { isLoopback } from "../core/config.ts";
import { unavailable } from "../core/errors.ts";
import { setCookie } from "./cookies.ts";

export type Site = ReturnType<typeof createSite>;

export function createSite({ publicUrl, host }: Pick<Config, "publicUrl" | "host">) {
  const prefix = publicUrl ? new URL(publicUrl).pathname.replace(/(?<!\/)\/+$/, "") : "";
  const secure = publicUrl?.startsWith("https:") ?? false;
  return {
    /** Path prefix without a trailing slash: "" or "/skep". */
    prefix,
    /**
     * Address without a trailing slash. @throws Problem 503 `public_url_needed` when only the Host header names it,
     * which can be forged.
     */
    base(request: Request): string {
      if (publicUrl) return publicUrl;
      // On a loopback bind, the gate only accepts loopback names, so an attacker cannot choose the Host.
      if (isLoopback(host)) return `http://${request.headers.get("host")}`;
      throw unavailable(
        "public_url_needed",
        "Set PUBLIC_URL to the address of this server to sign on through a provider.",
      );
    },
    /** Makes a cookie for `path`, one of our paths. Browsers send it only over https if the site uses https. */
    cookie: (
      name: string,
      value: string,
      { path = "/", sameSite, maxAge }: { path?: string; sameSite: "Strict" | "Lax"; maxAge: number },
    ): string => setCookie(name, value, { path: `${prefix}${path}`, secure, sameSite, maxAge }),
    /** Whether the request comes from a page of this site. Required for changes that a cookie authenticates. */
    ownPage({ headers }: Request): boolean {
      const origin = headers.get("origin");
      if (origin === null) return headers.get("sec-fetch-site") === "same-origin";
      if (publicUrl && new URL(publicUrl).origin === origin) return true;
      return URL.canParse(origin) && new URL(origin).host === headers.get("host");
    },
    /** A path of this site to redirect a browser to; anything else becomes the start page. */
    localPath(wanted: string | undefined): string {
      const plain = wanted !== undefined && /^\/(?![/\\])[^\\\x00-\x20\x7f]*$/.test(wanted) && wanted.length <= 2_000;
      return `${prefix}${plain ? wanted : "/"}`;
    },
  };
}
