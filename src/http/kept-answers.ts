/**
 * Answers that follow from the database, the address and the caller alone, kept until something is written. Each open
 * dashboard asks for the same lists after the same event: they are read and written out once.
 */
import type { Caller } from "./caller.ts";

/** Most bytes of all kept answers, and of one. */
const ALL_BYTES = 8_000_000;
const ONE_BYTES = 500_000;

export interface KeptAnswers {
  /** The kept answer, else that of `make`, which is kept when it is a 200 in JSON. */
  answer(caller: Caller, target: string, make: () => Promise<Response>): Promise<Response>;
}

interface Kept {
  body: ArrayBuffer;
  headers: [string, string][];
}

/** @param version changes with every write to the database. */
export function createKeptAnswers(version: () => number): KeptAnswers {
  const kept = new Map<string, Kept>();
  let bytes = 0;
  let of = -1;
  const forget = () => {
    kept.clear();
    bytes = 0;
  };
  return {
    async answer(caller, target, make) {
      const key = keyOf(caller, target);
      if (key === undefined) return make();
      const before = version();
      if (before !== of) forget();
      of = before;
      const found = kept.get(key);
      if (found) return new Response(found.body, { headers: found.headers });
      const response = await make();
      if (response.status !== 200 || !response.headers.get("content-type")?.startsWith("application/json"))
        return response;
      const headers = [...response.headers] as [string, string][];
      const body = await response.arrayBuffer();
      // What was written while the answer was made may not be in it.
      if (version() === before && of === before && body.byteLength <= ONE_BYTES) {
        if (bytes + body.byteLength > ALL_BYTES) forget();
        bytes += body.byteLength;
        kept.set(key, { body, headers });
      }
      return new Response(body, { headers });
    },
  };
}

/** What an answer may depend on. Executions ask for what changes under them. */
function keyOf({ kind, admin, userId, scopes, execution }: Caller, target: string): string | undefined {
  if (execution || kind === "anonymous") return undefined;
  return JSON.stringify([kind, admin, userId, scopes, target]);
}
