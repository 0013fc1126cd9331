/** Turns failures of the engine, and of the connection to it, into Problems. */
import type Docker from "dockerode";
import { isProblem, messageOf, Problem, unavailable } from "../../core/errors.ts";
import type { Attend } from "./attendance.ts";

interface EngineError {
  statusCode: number;
  json?: { message?: string } | null;
}

const isEngineError = (error: unknown): error is EngineError & Error =>
  error instanceof Error && "statusCode" in error && typeof error.statusCode === "number";

/** The engine's own message, without the text that the client library adds. */
function engineMessage(error: EngineError & Error): string {
  return (error.json?.message ?? error.message.replace(/^\(HTTP code \d+\) (?:[a-z ]+ - )?/, "")).trim();
}

const CODES: Readonly<Record<number, [status: number, code: string]>> = {
  404: [404, "docker_not_found"],
  409: [409, "docker_conflict"],
};

/** Turns any failure of a call into a Problem; a Problem is returned unchanged. */
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

/** The engine as the parts of its API (containers, images, …) use it. */
export interface Engine {
  docker(): Docker;
  address: string;
  /**
   * Runs a call and turns whatever it throws into a Problem. The call is given up when the engine stops answering.
   * `givenUp` is aborted then, and the call must check it before it does anything further.
   */
  call: Attend;
}

/** Runs a call against the engine and turns whatever it throws into a Problem. */
export async function callEngine<T>(address: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw asProblem(error, address);
  }
}
