/**
 * A cluster's API over HTTPS: calls, and streams of events. Answers are bounded in bytes and checked before they are
 * parsed.
 * A call is repeated a few times when the API server asks for that (429, 503 with Retry-After). The same applies when
 * another change came first (409, as happens to Pods that share a quota).
 */
import { Cut, checkedAnswer } from "../../core/checked-stream.ts";
import { codeOf, isProblem } from "../../core/errors.ts";
import { readJson } from "../../core/json-reader.ts";
import { pause } from "../../core/pause.ts";
import type { ClusterAccess } from "./access.ts";
import { asProblem, isOvertaken, toProblem } from "./failures.ts";

export type Query = Readonly<Record<string, string | number | readonly string[]>>;

interface Call {
  query?: Query;
  body?: unknown;
  /** Media type of the body; JSON when absent. */
  type?: string;
  signal?: AbortSignal | undefined;
}

export type ClusterClient = ReturnType<typeof createClusterClient>;

const ANSWER_BYTES = 16 * 1024 * 1024;
const REFUSAL_BYTES = 64 * 1024;
const CALL_MS = 30_000;
const TRIES = 4;
const WAIT_MS = 1_000;
const MAX_WAIT_MS = 10_000;

/** @param waitMs pause between attempts when the API server does not name one. */
export function createClusterClient(access: ClusterAccess, waitMs = WAIT_MS) {
  const { server, tls, address } = access;
  async function send(method: string, path: string, { query = {}, body, type, signal }: Call): Promise<Response> {
    const url = urlOf(server, path, query);
    const authorization = access.authorization();
    return await fetch(url, {
      method,
      redirect: "error",
      // Connect directly, because a proxy of the environment would see the token.
      proxy: "",
      headers: {
        accept: "application/json",
        ...(authorization === undefined ? {} : { authorization }),
        ...(body === undefined ? {} : { "content-type": type ?? "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(server.protocol === "https:" ? { tls: tlsOptions(tls) } : {}),
      ...(signal ? { signal } : {}),
    });
  }
  async function sendAccepted(method: string, path: string, call: Call): Promise<Response> {
    for (let left = TRIES - 1; ; left--) {
      const answer = await send(method, path, call);
      if (answer.ok) return answer;
      const after = answer.headers.get("retry-after");
      const text = await checkedAnswer(answer, { maxBytes: REFUSAL_BYTES }).text();
      const isLater =
        answer.status === 429 || (answer.status === 503 && after !== null) || isOvertaken(answer.status, text);
      if (!isLater || left === 0) throw toProblem(answer.status, text, address);
      await pause(
        Math.min(after !== null && /^\d{1,4}$/.test(after) ? Number(after) * 1_000 : waitMs, MAX_WAIT_MS),
        call.signal,
      );
    }
  }
  const guardCall = async <T>(signal: AbortSignal | undefined, act: () => Promise<T>): Promise<T> => {
    try {
      return await act();
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      throw isProblem(error) ? error : asProblem(error instanceof Cut ? "its answer broke off" : error, address);
    }
  };
  /**
   * @returns the answer's JSON, unchecked. @throws Problem for a refusal of the API server, or 503
   * `sandbox_unavailable`.
   */
  const call = (
    method: "GET" | "POST" | "DELETE" | "PATCH" | "PUT",
    path: string,
    given: Call = {},
  ): Promise<unknown> =>
    guardCall(given.signal, async () => {
      const late = AbortSignal.timeout(CALL_MS);
      const signal = given.signal ? AbortSignal.any([given.signal, late]) : late;
      const answer = await sendAccepted(method, path, { ...given, signal });
      return readJson(await checkedAnswer(answer, { maxBytes: ANSWER_BYTES }).text());
    });
  return {
    access,
    call,
    /** Deletes an object. It is no error if it is gone already. @throws Problem as `call`. */
    async remove(path: string, how: object, signal: AbortSignal | undefined): Promise<void> {
      try {
        await call("DELETE", path, { body: { apiVersion: "v1", kind: "DeleteOptions", ...how }, signal });
      } catch (error) {
        if (codeOf(error) !== "kubernetes_not_found") throw error;
      }
    },
    /** Opens a stream of the API server, e.g. a watch. @throws Problem as `call`. */
    stream: (path: string, query: Query, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> =>
      guardCall(signal, async () => {
        const answer = await sendAccepted("GET", path, { query, signal });
        if (!answer.body) throw new Error("its answer has no body");
        return answer.body;
      }),
  };
}

export function urlOf(server: URL, path: string, query: Query): URL {
  const url = new URL(server);
  url.pathname = `${server.pathname.replace(/\/$/, "")}${path}`;
  for (const [name, value] of Object.entries(query))
    for (const one of Array.isArray(value) ? value : [value]) url.searchParams.append(name, String(one));
  return url;
}

export const tlsOptions = ({ serverName, ...tls }: ClusterAccess["tls"]) => ({
  ...tls,
  ...(serverName === undefined ? {} : { servername: serverName, serverName }),
});
