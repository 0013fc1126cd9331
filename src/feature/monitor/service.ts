/**
 * Requests the push address of a monitor every few minutes, and at once when the server's health changes. If the server
 * is gone, the requests stop, which the monitor notices.
 */
import { type Clock, toTimestamp } from "../../core/clock.ts";
import { isProblem, messageOf } from "../../core/errors.ts";
import type { Masking } from "../../core/masking.ts";
import type { Standby } from "../../store/identity.ts";
import { type Finding, fail, pass, warn } from "../doctor/model.ts";
import type { Monitor } from "./model.ts";

interface MonitorDeps {
  clock: Clock;
  masking: Pick<Masking, "text">;
  standby: Pick<Standby, "since">;
  /** The push address; undefined: there is no monitor. */
  address: string | undefined;
  everyMinutes(): number;
  /** What is wrong, in words; null when nothing is. */
  trouble(): string | null;
  /** Sends one request; redirects are not followed. @throws Problem when there is no answer. */
  ask(address: string, request: { method: "GET"; timeoutMs: number; signal: AbortSignal }): Promise<{ status: number }>;
}

const TIMEOUT_MS = 10_000;

/**
 * The address to request. Uptime Kuma takes the state in the query of `/api/push/…`; Healthchecks and compatible
 * monitors take `/fail` at the end.
 * @param trouble null: all is well.
 */
export function pushAddress(address: string, trouble: string | null): string {
  const url = new URL(address);
  if (/\/api\/push\/[^/]+$/.test(url.pathname)) {
    url.searchParams.set("status", trouble === null ? "up" : "down");
    url.searchParams.set("msg", trouble ?? "OK");
  } else if (trouble !== null) url.pathname = `${url.pathname.replace(/\/$/, "")}/fail`;
  return url.href;
}

export function createMonitor({ clock, masking, standby, address, everyMinutes, trouble, ask }: MonitorDeps) {
  let asked: { at: number; trouble: string | null } | undefined;
  let lastAskedAt: string | null = null;
  let error: string | null = null;
  /** Whether a request is due. After a failed one, that is at the next check. */
  const isDue = (now: string | null): boolean =>
    asked === undefined ||
    error !== null ||
    (asked.trouble === null) !== (now === null) ||
    clock.monotonic() - asked.at >= everyMinutes() * 60_000;

  async function look(signal: AbortSignal): Promise<void> {
    if (address === undefined || standby.since() !== null) return;
    const now = trouble();
    if (!isDue(now)) return;
    try {
      const { status } = await ask(pushAddress(address, now), { method: "GET", timeoutMs: TIMEOUT_MS, signal });
      error = status >= 200 && status < 300 ? null : `the monitor answered ${status}`;
    } catch (thrown) {
      if (signal.aborted) return;
      error = masking.text(isProblem(thrown) ? thrown.detail : messageOf(thrown)).slice(0, 300);
    }
    asked = { at: clock.monotonic(), trouble: now };
    if (error === null) lastAskedAt = toTimestamp(clock.now());
  }

  return {
    look,
    status: (): Monitor => ({
      set_up: address !== undefined,
      every_minutes: everyMinutes(),
      trouble: trouble(),
      last_asked_at: lastAskedAt,
      error: address === undefined ? null : error,
    }),
    finding(): Finding {
      if (address === undefined)
        return pass("monitor", "none; with PUSH_MONITOR_URL one is told that the server is well");
      if (error !== null)
        return fail(
          "monitor",
          `it could not be told: ${error}`,
          "see whether PUSH_MONITOR_URL is right and can be reached",
        );
      const told = trouble();
      if (told !== null) return warn("monitor", `it is told: ${told}`, "mend that");
      return pass("monitor", lastAskedAt === null ? "it is asked soon" : `it answered last at ${lastAskedAt}`);
    },
  };
}
