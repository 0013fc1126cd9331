/**
 * Requests to an address that the operator set: of a telemetry receiver or a monitor. It may be private, which the setting
 * itself allows; nothing else becomes reachable by it. Redirects are not followed, and the answer's body is not read.
 */
import { messageOf, Problem } from "../core/errors.ts";
import { createAddressGuard } from "./address-guard.ts";
import { openGuarded } from "./guarded-fetch.ts";

export interface OperatorRequest {
  method: "GET" | "POST";
  headers?: Readonly<Record<string, string>>;
  body?: string;
  /** For the whole request, ms. */
  timeoutMs: number;
  signal: AbortSignal;
}

export interface OperatorAnswer {
  status: number;
  /** The header, as the receiver sent it. */
  retryAfter: string | undefined;
}

/** @throws Problem 400 bad address, 422 a name without an address, 504 too slow, 502 no answer. None names the address. */
export async function askOperators(address: string, request: OperatorRequest): Promise<OperatorAnswer> {
  const { timeoutMs, signal: outer, ...sent } = request;
  const timer = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([outer, timer]);
  try {
    const host = URL.canParse(address) ? new URL(address).hostname : "";
    const { resolve } = createAddressGuard([host]);
    const answer = await openGuarded(address, { headers: {}, ...sent, resolve, silenceMs: timeoutMs, signal });
    answer.on("error", () => {});
    answer.destroy();
    return { status: answer.statusCode ?? 0, retryAfter: answer.headers["retry-after"] };
  } catch (error) {
    if (error instanceof Problem || outer.aborted) throw error;
    if (timer.aborted) throw new Problem(504, "receiver_timeout", `No answer within ${timeoutMs / 1_000} s.`);
    const why = messageOf(error).slice(0, 200);
    throw new Problem(502, "receiver_unreachable", `The receiver could not be reached (${why}).`);
  }
}
