/**
 * One-time tickets, valid for one minute. With them, a browser opens the event stream without a long-lived token in the
 * URL.
 */
import { randomBytes } from "node:crypto";
import type { Clock } from "../core/clock.ts";
import { Problem } from "../core/errors.ts";
import type { Caller } from "./caller.ts";

export const TICKET_SECONDS = 60;
const MOST = 10_000;

export type Tickets = ReturnType<typeof createTickets>;

export function createTickets(clock: Clock) {
  const held = new Map<string, { caller: Caller; until: number }>();
  return {
    /** @throws Problem 429 when too many tickets are outstanding. */
    issue(caller: Caller): string {
      const now = clock.monotonic();
      for (const [ticket, { until }] of held) {
        if (until >= now) break;
        held.delete(ticket);
      }
      if (held.size >= MOST)
        throw new Problem(429, "too_many_tickets", "Too many tickets are out. Try again in a minute.", {
          headers: { "Retry-After": "60" },
        });
      const ticket = randomBytes(32).toString("base64url");
      held.set(ticket, { caller, until: now + TICKET_SECONDS * 1_000 });
      return ticket;
    },
    /**
     * The caller that the ticket was issued to. Each ticket works once; undefined for an unknown, used or expired one.
     */
    redeem(ticket: string): Caller | undefined {
      const found = held.get(ticket);
      held.delete(ticket);
      return found && found.until >= clock.monotonic() ? found.caller : undefined;
    },
  };
}
