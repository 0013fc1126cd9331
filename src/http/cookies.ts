/** Our cookies: HttpOnly, SameSite, limited to this site's path, and Secure when the site uses https. */

/** Name of the cookie of a browser session. */
export const SESSION_COOKIE = "skep_session";

interface CookieOptions {
  path: string;
  secure: boolean;
  sameSite: "Strict" | "Lax";
  /** Lifetime in seconds; 0 removes the cookie. */
  maxAge: number;
}

/** A `Set-Cookie` value. `value` may only hold characters that need no quoting. */
export function setCookie(name: string, value: string, { path, secure, sameSite, maxAge }: CookieOptions): string {
  if (!/^[\w.-]*$/.test(value)) throw new Error("a cookie value of ours is base64url");
  return `${name}=${value}; Path=${path}; Max-Age=${maxAge}; HttpOnly; SameSite=${sameSite}${secure ? "; Secure" : ""}`;
}

/** The value of a cookie, or undefined. Of two with the same name, the first counts, as is usual for servers. */
export function cookieOf(request: Request, name: string): string | undefined {
  for (const part of (request.headers.get("cookie") ?? "").split(";")) {
    const at = part.indexOf("=");
    if (at > 0 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim() || undefined;
  }
  return undefined;
}
