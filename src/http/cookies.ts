/** Cookies of ours: HttpOnly, SameSite, of this site's own path, Secure where the site is https. */

/** Of a browser's log-in. */
export const SESSION_COOKIE = "skep_session";

interface CookieOptions {
  path: string;
  secure: boolean;
  sameSite: "Strict" | "Lax";
  /** Seconds; 0 removes it. */
  maxAge: number;
}

/** A `Set-Cookie` value. `value` holds no characters that would need quoting. */
export function setCookie(name: string, value: string, { path, secure, sameSite, maxAge }: CookieOptions): string {
  if (!/^[\w.-]*$/.test(value)) throw new Error("a cookie value of ours is base64url");
  return `${name}=${value}; Path=${path}; Max-Age=${maxAge}; HttpOnly; SameSite=${sameSite}${secure ? "; Secure" : ""}`;
}

/** The value of a cookie, or undefined. Two of the same name: the first, as servers commonly read them. */
export function cookieOf(request: Request, name: string): string | undefined {
  for (const part of (request.headers.get("cookie") ?? "").split(";")) {
    const at = part.indexOf("=");
    if (at > 0 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim() || undefined;
  }
  return undefined;
}
