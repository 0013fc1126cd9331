/** Failures of the engine and of the way to it, as Problems. */
import type Docker from "dockerode";
import { isProblem, messageOf, Problem, unavailable } from "../../core/errors.ts";
import type { Attend } from "./attendance.ts";

interface EngineError {
  statusCode: number;
  json?: { message?: string } | null;
}

const isEngineError = (error: unknown): error is EngineError & Error =>
  error instanceof Error && "statusCode" in error && typeof error.statusCode === "number";

/** What the engine itself said, without the client library's wrapping. */
function engineMessage(error: EngineError & Error): string {
  return (error.json?.message ?? error.message.replace(/^\(HTTP code \d+\) (?:[a-z ]+ - )?/, "")).trim();
}

const CODES: Readonly<Record<number, [status: number, code: string]>> = {
  404: [404, "docker_not_found"],
  409: [409, "docker_conflict"],
};

/** Any failure of a call as a Problem; Problems pass as they are. */
export function asProblem(error: unknown, address: string): Problem {
  if (isProblem(error)) return error;
  if (isEngineError(error)) {
    const [status, code] = CODES[error.statusCode] ?? [502, "docker_error"];
    return new Problem(status, code, engineMessage(error));
  }
  const reason = error instanceof Error && "code" in error ? String(error.code) : "";
  const hint =
    reason === "EACCES" || reason === "EPERM"
      ? "this user may not open the socket (add it to the group `docker`)"
      : messageOf(error);
  return unavailable("sandbox_unavailable", `Docker at ${address} does not answer: ${hint}`);
}

/** The engine as the parts of its API ask it. */
export interface Engine {
  docker(): Docker;
  address: string;
  /**
   * Runs a call; whatever it throws comes out as a Problem, and it is given up when the engine no longer answers. `givenUp` is
   * aborted then: what the call would still do has to look there.
   */
  call: Attend;
}

/** Runs a call against the engine; whatever it throws comes out as a Problem. */
export async function callEngine<T>(address: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw asProblem(error, address);
  }
}
