/** Turns refusals of an API server, and failures of the connection to it, into Problems. */
import { isProblem, messageOf, Problem, unavailable } from "../../core/errors.ts";
import { textIn } from "../../core/is-object.ts";
import { readMembers } from "../../core/json-reader.ts";

const MAX_MESSAGE = 1_000;

const CODES: Readonly<Record<number, string>> = {
  404: "kubernetes_not_found",
  409: "kubernetes_conflict",
  410: "kubernetes_gone",
  429: "kubernetes_busy",
};

/** @param text the answer's body, which is usually a `Status`. */
export function toProblem(status: number, text: string, address: string): Problem {
  const said = statusMessage(text);
  if (status === 401)
    return unavailable(
      "sandbox_unavailable",
      `The cluster at ${address} does not accept the server's credentials: ${said}. Renew the token or certificate that KUBERNETES_CONFIG names.`,
    );
  if (status === 403 && /exceeded quota/.test(said))
    return unavailable(
      "sandbox_unavailable",
      `The namespace's quota is used up: ${said}. Work waits until there is room.`,
    );
  if (status === 403)
    return unavailable(
      "kubernetes_forbidden",
      `The cluster refused it: ${said}. Apply the roles of docs/kubernetes.md, or ask who runs the cluster.`,
    );
  if (status === 429 || status >= 500 || isOvertaken(status, text))
    return unavailable("sandbox_unavailable", `The cluster at ${address} is busy or broken (${status}): ${said}.`);
  return new Problem(CODES[status] ? status : 502, CODES[status] ?? "kubernetes_error", said);
}

/** Turns any failure of a call into a Problem; a Problem is returned unchanged. */
export function asProblem(error: unknown, address: string): Problem {
  if (isProblem(error)) return error;
  return unavailable("sandbox_unavailable", `The cluster at ${address} does not answer: ${messageOf(error)}`);
}

/**
 * Whether another change came first, so that nothing was done. A name that is taken also answers 409, but with another
 * reason.
 */
export const isOvertaken = (status: number, text: string): boolean =>
  status === 409 && textIn(readMembers(text), "reason") === "Conflict";

function statusMessage(text: string): string {
  const message = textIn(readMembers(text), "message") ?? text;
  const line = message.replace(/[\x00-\x20\x7f]+/g, " ").trim();
  return line.slice(0, MAX_MESSAGE).replace(/\.$/, "") || "no reason given";
}
