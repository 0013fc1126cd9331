/**
 * The connection to the server of an editor's sessions. After the server was unreachable or the log-in had ended, the
 * next call looks for the server again.
 */
import { isProblem } from "../../core/errors.ts";
import type { Client } from "../server/client.ts";
import { connect, type ServerFlags } from "../server/locate.ts";

export interface Link {
  /** @throws Problem 503 `no_server`; 401 when the log-in has ended; and any refusal of the server. */
  ask<T>(work: (client: Client) => Promise<T>): Promise<T>;
  /**
   * Like `ask`, for work that may be repeated: while the server does not answer, it is asked again for up to five
   * minutes.
   */
  askPatiently<T>(work: (client: Client) => Promise<T>, signal: AbortSignal): Promise<T>;
}

/** How long a server may be unreachable while it restarts. */
const AWAY_MS = 5 * 60_000;
const PAUSE_MS = 500;

export const isAway = (error: unknown): boolean => isProblem(error) && error.status >= 500;

export function createLink(flags: ServerFlags): Link {
  let current: Promise<Client> | undefined;
  async function ask<T>(work: (client: Client) => Promise<T>): Promise<T> {
    current ??= connect(flags);
    const own = current;
    try {
      return await work(await own);
    } catch (error) {
      // Forget this client: the next call may find the server on another port, or use the key of a new log-in.
      if (current === own && isProblem(error) && (isAway(error) || error.status === 401)) current = undefined;
      throw error;
    }
  }
  return {
    ask,
    async askPatiently(work, signal) {
      let until: number | undefined;
      for (;;) {
        try {
          return await ask(work);
        } catch (error) {
          until ??= performance.now() + AWAY_MS;
          if (!isAway(error) || performance.now() > until) throw error;
        }
        signal.throwIfAborted();
        await Bun.sleep(PAUSE_MS);
        signal.throwIfAborted();
      }
    },
  };
}
