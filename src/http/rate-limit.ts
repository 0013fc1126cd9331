/**
 * Rate limits: fixed windows, kept in memory. Routes that invite guessing or flooding are counted by network address
 * (IPv6 by its /64), all other requests by user, or else by address. Answers carry `RateLimit` and `RateLimit-Policy`;
 * refusals also carry `Retry-After`.
 */
import ipaddr from "ipaddr.js";
import type { Clock } from "../core/clock.ts";
import { Problem } from "../core/errors.ts";
import type { Caller } from "./caller.ts";

/** Requests per window. Locking accounts after failed log-ins is separate, in the feature. */
const RATE_LIMITS = {
  login: { quota: 30, seconds: 60 },
  refresh: { quota: 120, seconds: 60 },
  setup: { quota: 10, seconds: 60 },
  "sign-on": { quota: 60, seconds: 60 },
  invitation: { quota: 30, seconds: 60 },
  waitlist: { quota: 10, seconds: 600 },
} as const;
export type RateLimitName = keyof typeof RATE_LIMITS;

const API_SECONDS = 60;
const MOST = 50_000;

export type RateLimits = ReturnType<typeof createRateLimits>;

interface Window {
  count: number;
  /** End of the window, in monotonic ms. */
  until: number;
}

/** @param apiPerMinute requests per user or address; 0 sets no limit. */
export function createRateLimits(clock: Clock, apiPerMinute: number) {
  const windows = new Map<string, Window>();
  function take(name: string, quota: number, seconds: number, key: string): Record<string, string> {
    const now = clock.monotonic();
    const id = `${name}\n${key}`;
    let window = windows.get(id);
    if (!window || window.until <= now) {
      windows.delete(id);
      makeRoom(windows, now);
      window = { count: 0, until: now + seconds * 1_000 };
      windows.set(id, window);
    }
    window.count++;
    const left = Math.max(0, quota - window.count);
    const wait = Math.max(1, Math.ceil((window.until - now) / 1_000));
    const headers = {
      "RateLimit-Policy": `"${name}";q=${quota};w=${seconds}`,
      RateLimit: `"${name}";r=${left};t=${wait}`,
    };
    if (window.count <= quota) return headers;
    throw new Problem(429, "rate_limited", `Too many requests. Try again in ${wait} s.`, {
      headers: { ...headers, "Retry-After": String(wait) },
    });
  }
  return {
    /** Counts a request to a route with its own limit. @returns the headers. @throws Problem 429. */
    route(name: RateLimitName, address: string): Record<string, string> {
      const { quota, seconds } = RATE_LIMITS[name];
      return take(name, quota, seconds, addressKey(address));
    },
    /**
     * Counts a request by its caller, or by address when nobody logs in. The engine is not limited. @throws Problem
     * 429.
     */
    caller({ kind, userId, execution, address = "" }: Caller): Record<string, string> {
      if (apiPerMinute === 0 || kind === "engine") return {};
      return take("api", apiPerMinute, API_SECONDS, userId ?? execution?.id ?? addressKey(address));
    },
  };
}

/**
 * Removes windows that are over, and the oldest ones until a tenth of the room is free. Memory stays bounded under any
 * flood.
 */
function makeRoom(windows: Map<string, Window>, now: number): void {
  if (windows.size < MOST) return;
  for (const [id, { until }] of windows) if (until <= now) windows.delete(id);
  let excess = windows.size - MOST * 0.9;
  for (const id of windows.keys()) if (excess-- > 0) windows.delete(id);
}

/** The key for counting an address: an IPv4 address, or the /64 of an IPv6 address. */
export function addressKey(address: string): string {
  if (!ipaddr.isValid(address)) return "unknown";
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  return `${parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(":")}::/64`;
}
