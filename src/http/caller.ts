/** Who calls, and which callers a route lets in. */

import { forbidden, type Problem, unauthorized } from "../core/errors.ts";
import { NO_PROJECTS, type ProjectRoles } from "../core/ownership.ts";
import type { ExecutionHolder } from "../engine/tokens.ts";
import { LOCAL_USER } from "../store/tables/providers.ts";

type CallerKind = "anonymous" | "local" | "user" | "engine" | "execution";

export interface Caller {
  kind: CallerKind;
  /** Has an administrator's rights: the local administrator, the engine token, users with the role `admin`. */
  admin: boolean;
  userId?: string | undefined;
  /** Scopes of an API key; absent: it may do everything that its user may. */
  scopes?: readonly string[] | undefined;
  /**
   * True for an administrator's key without the scope `admin`: it can read what an administrator may read. See
   * `scopes.ts`.
   */
  readsAsAdmin?: boolean | undefined;
  /** Id of a browser or bearer session, for logging out. */
  sessionId?: string | undefined;
  /** Id of an API key. */
  apiKeyId?: string | undefined;
  /** For an execution token, the execution that it acts for. */
  execution?: ExecutionHolder | undefined;
  /** Roles of accounts in projects, always current. */
  projects: ProjectRoles;
  /** Network address, from the socket or a trusted proxy's header. */
  address?: string | undefined;
  /**
   * Returns false once the credential is revoked, its rights changed, or its execution has ended. See `standing.ts`.
   */
  stillValid?: () => boolean;
}

export const ANONYMOUS: Caller = { kind: "anonymous", admin: false, projects: NO_PROJECTS };
export const LOCAL_ADMIN: Caller = { kind: "local", admin: true, projects: NO_PROJECTS };

/**
 * Who may call. `public`: anybody. `user`: any authenticated caller except an execution. `admin`: administrators.
 * `engine`: administrators and the engine token. `env`: the single route whose handler decides for itself (see
 * secrets).
 */
export type Access = "public" | "user" | "admin" | "engine" | "env";

/**
 * The callers that a route lets in. `execution`: also tokens of running executions; the handler limits them to their
 * own agent.
 */
interface RouteAccess {
  access: Access;
  execution: boolean;
}

/** The problem that refuses this caller; undefined when it is let in. */
export function findDenial(caller: Caller, { access, execution }: RouteAccess): Problem | undefined {
  if (access === "public" || access === "env") return undefined;
  if (caller.kind === "anonymous") return unauthorized();
  if (caller.kind === "execution") return execution ? undefined : forbidden("An execution's token may not do this.");
  if (access === "user") return undefined;
  return caller.admin ? undefined : forbidden("Only an administrator may do this.");
}

/** Limits an execution to its own agent; other callers may name any agent. */
export function assertOwnAgent(caller: Caller, agentId: string): void {
  if (caller.execution && caller.execution.agentId !== agentId)
    throw forbidden("An execution's token reaches only its own agent.");
}

/**
 * The user whose personal keys and log-ins the caller means. @throws Problem 403 for credentials that belong to no
 * person.
 */
export function personOf(caller: Caller): string {
  if (caller.userId !== undefined) return caller.userId;
  if (caller.kind === "local") return LOCAL_USER;
  throw forbidden("This credential belongs to no user; only users have personal keys.", "account_needed");
}

/** The caller's name in audit rows. */
export function actorOf(caller: Caller): string {
  if (caller.kind === "user") return caller.userId ?? "user";
  if (caller.kind === "execution") return `execution:${caller.execution?.id}`;
  return caller.kind;
}

/** The caller's name and address, for audit rows. */
export const actedBy = (caller: Caller) => ({ actor: actorOf(caller), address: caller.address });
