/**
 * Finds out whose credential a request has. Tokens are compared by digest in constant time; an empty token never
 * matches.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { unauthorized } from "../core/errors.ts";
import type { ProjectRoles } from "../core/ownership.ts";
import { ANONYMOUS, type Caller, LOCAL_ADMIN } from "./caller.ts";
import { stillHolds } from "./standing.ts";

export interface Accounts {
  /**
   * The caller for a bearer token (access token or API key) or for the request's session cookie; undefined when neither
   * is known.
   */
  find(bearer: string | undefined, request: Request, address: string): Caller | undefined | Promise<Caller | undefined>;
}

interface AuthenticateOptions {
  /** Roles of accounts in projects. */
  projects: ProjectRoles;
  authRequired: boolean;
  /** When unset, no token matches it. */
  engineToken: string | undefined;
  /** The execution that this token belongs to, while it runs. */
  executionOf(token: string): Caller["execution"] | undefined;
  accounts?: Accounts;
  /** The caller for a one-time ticket, which is only accepted on the event stream. */
  redeemTicket(ticket: string): Caller | undefined;
}

const TICKET_PATH = "/v1/events/stream";
const ticketOf = ({ pathname, searchParams }: URL) => (pathname === TICKET_PATH ? searchParams.get("ticket") : null);
const digest = (text: string) => createHash("sha256").update(text).digest();

/** Constant-time equality of two tokens of any length; false when either is empty. */
export const sameToken = (a: string, b: string): boolean =>
  a.length > 0 && b.length > 0 && timingSafeEqual(digest(a), digest(b));

/** The bearer token of a request. @throws Problem 401 for another scheme or an empty token. */
function bearerOf(request: Request): string | undefined {
  const header = request.headers.get("authorization");
  if (header === null) return undefined;
  const [, token] = /^Bearer +([\x21-\x7e]+) *$/i.exec(header) ?? [];
  if (!token || token.length > 4_096) throw unauthorized("Authorization takes the form: Bearer <token>.");
  return token;
}

/** @returns the gate's `authenticate`. */
export function createAuthenticate({
  authRequired,
  engineToken,
  executionOf,
  accounts,
  redeemTicket,
  projects,
}: AuthenticateOptions) {
  return async (request: Request, address: string): Promise<Caller> => {
    const bearer = bearerOf(request);
    if (bearer !== undefined) {
      if (engineToken && sameToken(bearer, engineToken)) return { kind: "engine", admin: true, projects };
      const execution = executionOf(bearer);
      const stillValid = () => executionOf(bearer) !== undefined;
      if (execution) return { kind: "execution", admin: false, execution, stillValid, projects };
    }
    const ticket = request.url.includes(TICKET_PATH) ? ticketOf(new URL(request.url)) : null;
    if (ticket !== null) {
      const holder = redeemTicket(ticket);
      if (!holder || !stillHolds(holder)) throw unauthorized("The ticket is used up. Ask for another.");
      return holder;
    }
    const known = await accounts?.find(bearer, request, address);
    if (known) return known;
    if (!authRequired) return LOCAL_ADMIN;
    if (bearer !== undefined) throw unauthorized("The token is not valid, or no longer valid.");
    return ANONYMOUS;
  };
}
