/** The server that an editor's sessions are on. It is looked for again once it was gone, or the log-in had ended. */
import { isProblem } from "../../core/errors.ts";
import type { Client } from "../server/client.ts";
import { connect, type ServerFlags } from "../server/locate.ts";

export interface Link {
  /** @throws Problem 503 `no_server`, 401 when the log-in has ended, and what the server refuses. */
  ask<T>(work: (client: Client) => Promise<T>): Promise<T>;
  /** The same for what may be asked twice: while the server does not answer, it is asked again for five minutes. */
  askPatiently<T>(work: (client: Client) => Promise<T>, signal: AbortSignal): Promise<T>;
}

/** Of a server that starts again. */
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
      // The next one finds a server on another port, or the key of a new log-in.
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
