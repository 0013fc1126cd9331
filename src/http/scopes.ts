/**
 * Scopes of API keys: what a key is limited to, below what its user may. Asked once, in the gate, for every route. A key
 * without scopes may what its user may.
 */
import { forbidden, type Problem } from "../core/errors.ts";
import type { Caller } from "./caller.ts";
import type { RouteEntry } from "./route-table.ts";

export const SCOPES = {
  read: "Read what its user may read.",
  runs: "Read, and start and steer work: runs, chats, swarms, spawned executions, uploads.",
  write: "Read, and every change that needs no administrator.",
  admin: "Everything an administrator may, but for accounts' own credentials.",
} as const;

export type Scope = keyof typeof SCOPES;

/** Sent by POST for the size of their questions; they change nothing. What /mcp is asked to do is checked separately. */
const READING = [
  /^\/mcp$/,
  /^\/v1\/events\/ticket$/,
  /^\/v1\/projects\/[^/]+\/knowledge-graph\/(query|impact|cypher)$/,
];
const WORK = /^\/v1\/(runs|chat|swarm|spawn-executor|onboarding|attachments|ingest)(\/|$)/;
/** What decides who gets in: a key that is limited to scopes never makes or changes it, or it would outgrow them. */
const CREDENTIALS = /^\/v1\/(auth|users)(\/|$)/;

/** The problem that keeps a key with scopes out, or undefined. `route` is the route as declared. */
export function scopeDenial({ scopes }: Caller, { method, path, access }: RouteEntry): Problem | undefined {
  if (scopes === undefined || access === "public") return undefined;
  const refused = (scope: string) => forbidden(`This API key lacks the scope ${scope}.`, "scope_missing");
  const reading = method === "GET" || READING.some((pattern) => pattern.test(path));
  if (scopes.length === 0) return refused("read");
  if (reading) return undefined;
  if (CREDENTIALS.test(path)) return forbidden("An API key with scopes may not change accounts.", "scope_missing");
  if (scopes.includes("admin") || (scopes.includes("write") && access === "user")) return undefined;
  if (scopes.includes("runs") && WORK.test(path)) return undefined;
  return refused(WORK.test(path) ? "runs" : access === "user" ? "write" : "admin");
}
