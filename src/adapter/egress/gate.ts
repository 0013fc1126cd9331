/**
 * Decides what one sandbox may reach: each connection is counted, checked against the allow-list, and recorded when it
 * ends.
 */
import { codeOf, isProblem, messageOf } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import type { ResolvedAddress } from "../address-guard.ts";
import type { EgressDeps, EgressRecord, Verdict } from "./model.ts";
import { Refusal } from "./refusals.ts";

const BOUNDS = { connections: LIMITS.egressConnections, bytes: LIMITS.egressBytes };

/** One connection or one plain request, from its beginning until it is recorded. */
export type Entry = ReturnType<ReturnType<typeof createGate>["begin"]>;

export function createGate(deps: EgressDeps) {
  const { bounds = BOUNDS } = deps;
  let atOnce = 0;
  let connections = 0;
  let bytes = 0;

  function begin(host: string, port: number) {
    connections++;
    // The first connection over the bound is still recorded, and says so. Later ones are not, so that a program that
    // keeps trying adds no rows.
    const isRecorded = connections <= bounds.connections + 1;
    const startedAt = deps.now();
    const record: EgressRecord = {
      host,
      port,
      verdict: "allowed",
      reason: null,
      sentBytes: 0,
      receivedBytes: 0,
      startedAt,
      durationMs: 0,
    };
    const endings: ((cut: boolean) => void)[] = [];
    let ended = false;
    const end = (cut = false) => {
      if (ended) return;
      ended = true;
      for (const ending of endings) ending(cut);
      record.durationMs = Math.max(0, deps.now() - startedAt);
      if (isRecorded) deps.onEnd(record);
    };
    const refuse = (verdict: Verdict, reason: string): void => {
      if (ended) return;
      Object.assign(record, { verdict, reason });
    };
    const fail = (reason: string): void => {
      refuse("failed", reason);
      end(true);
    };
    /**
     * Calls `ending` at the end; at once, with `cut`, if the entry has ended already. @param ending its argument `cut`
     * says that the program must not get the rest.
     */
    const onEnd = (ending: (cut: boolean) => void): void => (ended ? ending(true) : void endings.push(ending));
    return {
      record,
      refuse,
      fail,
      onEnd,
      /** Checks the entry before anything is sent. @returns the address to send to. @throws Refusal */
      admit: () => admit(record, onEnd),
      /** Counts transferred bytes; over the bound, the connection ends. */
      count(field: "sentBytes" | "receivedBytes", size: number): void {
        record[field] += size;
        bytes += size;
        if (bytes > bounds.bytes) fail("too_much");
      },
      /** Writes an error into the record. @returns the refusal that the program gets. */
      note(error: unknown): Refusal {
        const refusal = asRefusal(error);
        refuse(refusal.verdict, refusal.reason);
        return refusal;
      },
      end: (): void => end(),
    };
  }
  /** @throws Refusal */
  async function admit({ host, port }: EgressRecord, onEnd: (ending: () => void) => void): Promise<ResolvedAddress> {
    const named = `${host}:${port}`;
    if (connections <= bounds.connections && !deps.allows(host, port))
      throw new Refusal(403, "denied", "not_allowed", `${named} is not in this agent's network allow-list.`);
    const place = atOnce < LIMITS.egressAtOnce && connections <= bounds.connections && deps.takePlace();
    if (!place || bytes > bounds.bytes) {
      if (place) place();
      throw new Refusal(503, "denied", "full", "This execution has used up its connections or bytes.");
    }
    atOnce++;
    onEnd(() => {
      atOnce--;
      place();
    });
    try {
      const [address] = await deps.resolve(host);
      if (address) return address;
    } catch (error) {
      if (!isProblem(error)) throw error;
      const verdict = error.code === "host_unknown" ? "failed" : "denied";
      throw new Refusal(verdict === "failed" ? 502 : 403, verdict, error.code, `${named}: ${error.detail}`);
    }
    throw new Refusal(502, "failed", "host_unknown", `${named} has no address.`);
  }

  return { begin };
}

function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const why = codeOf(error) ?? messageOf(error).slice(0, 200);
  return new Refusal(502, "failed", "unreachable", `It could not be reached (${why}).`);
}
