/**
 * RFC 9457: every error of the API has one format. It never contains values of the request, stacks, SQL, or paths of
 * the host.
 */

import { type TSchema, Type as t } from "@sinclair/typebox";
import { codeOf, type FieldError, isDiskFull, isProblem, Problem } from "../core/errors.ts";
import { wrongWords } from "../core/schema-words.ts";
import { isGarbled } from "../store/damage.ts";

const PROBLEM_TYPE = "application/problem+json";

export const ProblemSchema = t.Object(
  {
    type: t.String(),
    title: t.String(),
    status: t.Integer(),
    detail: t.String(),
    instance: t.String(),
    code: t.String(),
    request_id: t.String(),
    errors: t.Optional(t.Array(t.Object({ pointer: t.String(), message: t.String() }))),
  },
  { $id: "Problem", additionalProperties: true },
);

const TITLES: Record<number, string> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  406: "Not Acceptable",
  408: "Request Timeout",
  409: "Conflict",
  412: "Precondition Failed",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  421: "Misdirected Request",
  422: "Unprocessable Content",
  429: "Too Many Requests",
  500: "Internal Server Error",
  503: "Service Unavailable",
};

interface ProblemContext {
  requestId: string;
  /** Path of the request, without its query. */
  path: string;
  /** Masks secret values in output of commands and programs. */
  mask?: (text: string) => string;
}

export function problemResponse(
  problem: Problem,
  { requestId, path, mask = (text) => text }: ProblemContext,
): Response {
  const { status, code, detail, extras } = problem;
  const body = {
    type: status >= 500 && code === "internal" ? "about:blank" : `urn:skep:problem:${code}`,
    title: TITLES[status] ?? "Error",
    status,
    detail: mask(detail),
    instance: path,
    code,
    request_id: requestId,
    ...(extras.errors?.length ? { errors: extras.errors } : {}),
    ...(extras.data ?? {}),
  };
  return new Response(JSON.stringify(body), {
    status,
    headers: { "Content-Type": PROBLEM_TYPE, "Cache-Control": "no-store", ...extras.headers },
  });
}

/** Error codes of the database and the file system about the data folder. */
const STORAGE: readonly [codes: RegExp, code: string, detail: string][] = [
  [
    /^SQLITE_(CORRUPT|NOTADB)/,
    "database_damaged",
    "The database is damaged. Stop the server, keep the file, and restore a copy; skep doctor says more.",
  ],
  [
    /^SQLITE_(READONLY|CANTOPEN|PERM)|^(EROFS|EACCES|EPERM)$/,
    "data_read_only",
    "The data folder cannot be written. Nothing was changed; give the server the rights back.",
  ],
  [/^SQLITE_IOERR/, "disk_failing", "The disk of the data folder fails to read or write. See the system's log."],
];

/**
 * Converts an error of the database or a handler to a problem.
 * @returns `internal: true` when it must be logged.
 */
export function toProblem(error: unknown): { problem: Problem; internal: boolean } {
  if (isProblem(error)) return { problem: error, internal: error.status >= 500 && error.status !== 503 };
  const sqlite = isGarbled(error) ? "SQLITE_CORRUPT" : codeOf(error);
  if (isDiskFull(error))
    return {
      problem: new Problem(503, "disk_full", "The disk of the data folder is full. Free space; nothing was changed."),
      internal: true,
    };
  const damaged = sqlite !== undefined && STORAGE.find(([codes]) => codes.test(sqlite));
  if (damaged) return { problem: new Problem(503, damaged[1], damaged[2]), internal: true };
  if (sqlite === "SQLITE_BUSY")
    return {
      problem: new Problem(
        503,
        "database_busy",
        "Another program holds the database. Nothing was changed; try again.",
        {
          headers: { "Retry-After": "1" },
        },
      ),
      internal: true,
    };
  return {
    problem: new Problem(500, "internal", "Something went wrong here. The log has the details under this request id."),
    internal: true,
  };
}

/** The most errors that a problem names. */
const ERRORS_MAX = 20;

/** 422 that says what is wrong with the `params`, the `query` or the `body` of a request. */
export function validationProblem(
  where: string,
  wrong: Iterable<{ path: string; message: string; type: number; schema: TSchema }>,
): Problem {
  const errors = new Map<string, FieldError>();
  for (const one of wrong) {
    if (errors.size === ERRORS_MAX) break;
    const { path } = one;
    const pointer = where === "body" ? path || "/" : path.replace(/^\//, "") || where;
    if (!errors.has(pointer)) errors.set(pointer, { pointer, message: wrongWords(one) });
  }
  const [first] = errors.values();
  const detail = first ? `${fieldName(where, first.pointer)} ${first.message}.` : `The ${where} is not valid.`;
  return new Problem(422, "validation_failed", detail, { errors: [...errors.values()] });
}

/** A field's name in the form that people write: `budgets.run_usd`. */
export const fieldName = (where: string, pointer: string): string =>
  pointer === "/" || pointer === where ? `The ${where}` : pointer.replace(/^\//, "").replaceAll("/", ".");
