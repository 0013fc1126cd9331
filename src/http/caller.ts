/** Who calls, and what a route asks of a caller. */

import { forbidden, type Problem, unauthorized } from "../core/errors.ts";
import { NO_PROJECTS, type ProjectRoles } from "../core/ownership.ts";
import type { ExecutionHolder } from "../engine/tokens.ts";
import { LOCAL_USER } from "../store/tables/providers.ts";

type CallerKind = "anonymous" | "local" | "user" | "engine" | "execution";

export interface Caller {
  kind: CallerKind;
  /** Administrator's rights: the local administrator, the engine token, users of role admin. */
  admin: boolean;
  userId?: string | undefined;
  /** Of an API key: what it is limited to; absent means everything its user may. */
  scopes?: readonly string[] | undefined;
  /** An administrator's key without the scope `admin`: it reads what an administrator may read. See scopes.ts. */
  readsAsAdmin?: boolean | undefined;
  /** Of a browser or bearer session, for logging out. */
  sessionId?: string | undefined;
  /** Of an API key. */
  apiKeyId?: string | undefined;
  /** Of an execution token: the one execution that it acts for. */
  execution?: ExecutionHolder | undefined;
  /** Who may do what in which project, at any moment. */
  projects: ProjectRoles;
  /** Network address, from a trusted proxy's header or the socket. */
  address?: string | undefined;
  /** False once the credential is revoked, has other rights, or its execution has ended. See standing.ts. */
  stillValid?: () => boolean;
}

export const ANONYMOUS: Caller = { kind: "anonymous", admin: false, projects: NO_PROJECTS };
export const LOCAL_ADMIN: Caller = { kind: "local", admin: true, projects: NO_PROJECTS };

/**
 * `public`: anybody. `user`: any authenticated caller but an execution. `admin`: administrators.
 * `engine`: administrators and the engine token. `env`: the one route whose rule the interface gives (see secrets).
 */
export type Access = "public" | "user" | "admin" | "engine" | "env";

/** What a route declares. `execution`: tokens of running executions are let in too; the handler limits them to their own agent. */
interface RouteAccess {
  access: Access;
  execution: boolean;
}

/** The problem that keeps this caller out, or undefined. */
export function denial(caller: Caller, { access, execution }: RouteAccess): Problem | undefined {
  if (access === "public" || access === "env") return undefined;
  if (caller.kind === "anonymous") return unauthorized();
  if (caller.kind === "execution") return execution ? undefined : forbidden("An execution's token may not do this.");
  if (access === "user") return undefined;
  return caller.admin ? undefined : forbidden("Only an administrator may do this.");
}

/** The agent that this caller is limited to: an execution's own; others may name any. */
export function assertOwnAgent(caller: Caller, agentId: string): void {
  if (caller.execution && caller.execution.agentId !== agentId)
    throw forbidden("An execution's token reaches only its own agent.");
}

/** Whose personal keys and log-ins the caller means. @throws Problem 403 for credentials that belong to no person. */
export function personOf(caller: Caller): string {
  if (caller.userId !== undefined) return caller.userId;
  if (caller.kind === "local") return LOCAL_USER;
  throw forbidden("This credential belongs to no user; only users have personal keys.", "account_needed");
}

/** For audit rows. */
export function actorOf(caller: Caller): string {
  if (caller.kind === "user") return caller.userId ?? "user";
  if (caller.kind === "execution") return `execution:${caller.execution?.id}`;
  return caller.kind;
}

/** The same with the caller's address. */
export const actedBy = (caller: Caller) => ({ actor: actorOf(caller), address: caller.address });
