/**
 * Scopes of API keys, which limit a key to less than its user may do. The gate checks them once for every operation. A
 * key without scopes may do everything its user may.
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
 * What an operation requires of a key with scopes. Two values are not scopes:
 * - `accounts`: the operation decides who has access. No key with scopes may do that, or it could outgrow its scopes.
 * - `inner`: the operation calls other operations, each of which is checked.
 */
export type OperationScope = Scope | "accounts" | "inner";

type Asked = Pick<Operation, "method" | "access" | "scope">;

/** Default: a GET needs `read`; a change needs `write`, or `admin` when it requires an administrator. */
const scopeOf = ({ method, access, scope }: Asked): OperationScope =>
  scope ?? (method === "GET" ? "read" : access === "user" ? "write" : "admin");

/**
 * The caller as the operation sees it. Every scope includes reading what the key's user may read, so an administrator's
 * key reads with an administrator's rights. Administration itself (access `admin`) requires the scope `admin`.
 */
export function withinScopes(caller: Caller, operation: Asked): Caller {
  const isReader = caller.readsAsAdmin && !caller.admin && operation.access === "user";
  return isReader && scopeOf(operation) === "read" ? { ...caller, admin: true } : caller;
}

/** The problem that refuses a key with scopes; undefined when it is let in. */
export function scopeDenial({ scopes }: Caller, operation: Asked): Problem | undefined {
  if (scopes === undefined || operation.access === "public") return undefined;
  const scope = scopeOf(operation);
  const createScopeProblem = (name: string) => forbidden(`This API key lacks the scope ${name}.`, "scope_missing");
  if (scopes.length === 0) return createScopeProblem("read");
  if (scope === "read" || scope === "inner") return undefined;
  if (scope === "accounts") return forbidden("An API key with scopes may not change accounts.", "scope_missing");
  if (scopes.includes("admin") || scopes.includes(scope)) return undefined;
  // `write` does not include operations that publish work outside the server; those need `publish`.
  const isWritten = scopes.includes("write") && operation.access === "user" && scope !== "publish";
  return isWritten ? undefined : createScopeProblem(scope);
}
