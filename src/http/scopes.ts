/**
 * Scopes of API keys: what a key is limited to, below what its user may. Asked once, in the gate, for every operation. A
 * key without scopes may what its user may.
 */
import { forbidden, type Problem } from "../core/errors.ts";
import type { Caller } from "./caller.ts";
import type { Operation } from "./operation.ts";

export const SCOPES = {
  read: "Read what its user may read.",
  runs: "Read, and start and steer work: runs, chats, swarms, spawned executions, uploads.",
  write: "Read, and every change that needs no administrator, but for what `publish` allows.",
  publish: "Read, and bring runs' changes to others: merge, push, open pull requests.",
  admin: "Everything an administrator may, but for accounts' own credentials.",
} as const;

export type Scope = keyof typeof SCOPES;

/**
 * What an operation asks of a key with scopes, beside the scopes themselves. `accounts`: it decides who gets in, and no such
 * key makes or changes that, or it would outgrow its scopes. `inner`: it asks for other operations, each of which is checked.
 */
export type OperationScope = Scope | "accounts" | "inner";

type Asked = Pick<Operation, "method" | "access" | "scope">;

/** By default a GET reads, and a change needs `write`, or `admin` where it needs an administrator. */
const scopeOf = ({ method, access, scope }: Asked): OperationScope =>
  scope ?? (method === "GET" ? "read" : access === "user" ? "write" : "admin");

/**
 * The caller as the operation sees it. Every scope reads what the key's user may read, so an administrator's key reads with
 * their rights; administration itself (access `admin`) takes the scope of that name.
 */
export function withinScopes(caller: Caller, operation: Asked): Caller {
  const isReader = caller.readsAsAdmin && !caller.admin && operation.access === "user";
  return isReader && scopeOf(operation) === "read" ? { ...caller, admin: true } : caller;
}

/** The problem that keeps a key with scopes out, or undefined. */
export function scopeDenial({ scopes }: Caller, operation: Asked): Problem | undefined {
  if (scopes === undefined || operation.access === "public") return undefined;
  const scope = scopeOf(operation);
  const refused = (name: string) => forbidden(`This API key lacks the scope ${name}.`, "scope_missing");
  if (scopes.length === 0) return refused("read");
  if (scope === "read" || scope === "inner") return undefined;
  if (scope === "accounts") return forbidden("An API key with scopes may not change accounts.", "scope_missing");
  if (scopes.includes("admin") || scopes.includes(scope)) return undefined;
  // What leaves the server takes `publish` itself.
  const isWritten = scopes.includes("write") && operation.access === "user" && scope !== "publish";
  return isWritten ? undefined : refused(scope);
}
