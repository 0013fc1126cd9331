/**
 * The only class of expected errors. A caller's mistake, or a required component that is down, is a `Problem`. The HTTP
 * layer turns it into problem+json, the CLI into one line. Any other error means a broken invariant.
 */

export interface FieldError {
  /** JSON pointer into the body, or the parameter's name. */
  pointer: string;
  message: string;
}

export interface ProblemExtras {
  errors?: FieldError[];
  /** Extra members of the problem document. Never a submitted value, a path or a secret. */
  data?: Record<string, unknown>;
  headers?: Record<string, string>;
}

export class Problem extends Error {
  override readonly name = "Problem";
  constructor(
    /** HTTP status, 400–599. */
    readonly status: number,
    /** Stable machine-readable word, snake_case. */
    readonly code: string,
    /** One sentence for a person: what is wrong and what to do. */
    readonly detail: string,
    readonly extras: ProblemExtras = {},
  ) {
    super(detail);
  }
}

export const badRequest = (detail: string, code = "bad_request") => new Problem(400, code, detail);
export const unauthorized = (detail = "A valid bearer token is needed.", code = "unauthorized") =>
  new Problem(401, code, detail, { headers: { "WWW-Authenticate": 'Bearer realm="skep"' } });
export const forbidden = (detail = "You may not do this.", code = "forbidden") => new Problem(403, code, detail);
/** @param hint a further sentence, e.g. names that may have been meant. */
export const notFound = (what: string, hint = "") =>
  new Problem(404, "not_found", `There is no such ${what}.${hint ? ` ${hint}` : ""}`);
/** Returns what was looked up. @throws Problem 404 when it is undefined. */
export function expectFound<T>(found: T | undefined, what: string, hint?: string): T {
  if (found === undefined) throw notFound(what, hint);
  return found;
}
export const conflict = (detail: string, code = "conflict", data?: Record<string, unknown>) =>
  new Problem(409, code, detail, data ? { data } : {});
export const invalid = (detail: string, errors: FieldError[] = []) =>
  new Problem(422, "validation_failed", detail, { errors });
/**
 * 429 when a user has reached a limit, with `current` and `limit` in its data.
 * @param what the counted things, with the verb: "runs that have not ended".
 * @param remedy what the user can do, then who can change the limit.
 */
export const overLimit = (code: string, what: string, current: number, limit: number, remedy: string) =>
  new Problem(429, code, `You have ${current} ${what}; a user may have ${limit}. ${remedy}`, {
    data: { current, limit },
  });
/** 422 for one field. `pointer` is a JSON pointer ("/name"). */
export const invalidField = (pointer: string, message: string) =>
  new Problem(422, "validation_failed", message, { errors: [{ pointer, message }] });
/** A command was not used as its help says. */
export const badUsage = (detail: string) => new Problem(422, "bad_usage", detail);
/** A file that a command should read is missing, or of the wrong kind. */
export const unreadable = (detail: string) => new Problem(422, "unreadable", detail);
/** A required component is down; `code` says which, e.g. `sandbox_unavailable`. */
export const unavailable = (code: string, detail: string) => new Problem(503, code, detail);

export function isProblem(error: unknown): error is Problem {
  return error instanceof Problem;
}

/** The code of anything thrown by the system or a library, e.g. `ENOENT`; undefined when it has none. */
export function codeOf(error: unknown): string | undefined {
  const has = typeof error === "object" && error !== null && "code" in error;
  return has && typeof error.code === "string" ? error.code : undefined;
}

const FULL = /^(SQLITE_FULL|SQLITE_IOERR_(WRITE|SHMSIZE)|ENOSPC|EDQUOT)$/;

/**
 * Whether the disk was full. SQLite has other codes for that when it makes room for its shared-memory index or a page.
 */
export const isDiskFull = (error: unknown): boolean => FULL.test(codeOf(error) ?? "");

/** The message of anything thrown, for logs and job rows. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
