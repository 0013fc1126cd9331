/**
 * Invitations to projects. A token is shown once; the database holds only its digest. An invitation is over once its
 * maker may no longer give its role, for example because they left the project.
 */
import { createHash, randomBytes } from "node:crypto";
import { DAY_MS, toTimestamp } from "../../core/clock.ts";
import { conflict, notFound } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { isAtLeast, isOwner } from "../../core/ownership.ts";
import { actedBy, type Caller } from "../../http/caller.ts";
import { type ListAnswer, listById, type Page } from "../../http/list.ts";
import { removeOld } from "../../store/remove-old.ts";
import { users } from "../../store/tables/accounts.ts";
import { projectInvitations } from "../../store/tables/project-invitations.ts";
import { buildReadCondition, WHOSE } from "../../store/whose.ts";
import type { Core } from "../feature.ts";
import type { Members } from "../members/service.ts";
import { invitationsChanged } from "./events.ts";
import type { Invitation, InvitationCreate, Joined, MadeInvitation, Offer } from "./model.ts";
import { createRights } from "./rights.ts";

interface InvitationsDeps extends Pick<Core, "store" | "clock" | "audit" | "access"> {
  putMember: Members["put"];
  /** @throws Problem 429 after too many failed tries of that account. */
  beginTry(userId: string): { fail(): void; release(): void };
}

export type Invitations = ReturnType<typeof createInvitations>;

type Row = typeof projectInvitations.$inferSelect;

const TOKEN_PREFIX = "skin_";
const DAYS = 7;
const ANOTHER = "Ask who invited you for another.";
/** Why an invitation can no longer be used, by its state. */
const OVER: Readonly<Record<Exclude<Invitation["state"], "open">, string>> = {
  used: `This invitation has been used. ${ANOTHER}`,
  expired: `This invitation has expired. ${ANOTHER}`,
  revoked: `This invitation was revoked. ${ANOTHER}`,
};
const hashOf = (token: string): string => createHash("sha256").update(token).digest("base64url");
const createProblem = (detail: string) => conflict(detail, "invitation_over");

export function createInvitations({ store, clock, audit, access, putMember, beginTry }: InvitationsDeps) {
  const rows = store.rows(projectInvitations);
  const accounts = store.rows(users);
  const { assertMayInvite, isBacked } = createRights(store, access);
  const nameOf = (userId: string): string => accounts.find({ id: userId })?.display_name ?? userId;
  const projectName = (id: string): string | undefined =>
    store.statement<string>("SELECT name FROM projects WHERE id = ?").pluck().get(id);
  /** @throws Problem 404. A project that the caller may not see gets the same answer as an unknown one. */
  const assertProject = (id: string): void => {
    if (projectName(id) === undefined) throw notFound("project");
  };

  function stateOf({ revoked_at, expires_at, uses, max_uses }: Row): Invitation["state"] {
    if (revoked_at !== null) return "revoked";
    if (uses >= max_uses) return "used";
    return Date.parse(expires_at) <= clock.now() ? "expired" : "open";
  }
  function present(row: Row): Invitation {
    const { id, role, uses, max_uses, created_by, created_at, expires_at } = row;
    const created_by_name = nameOf(created_by);
    return { id, role, state: stateOf(row), uses, max_uses, created_by, created_by_name, created_at, expires_at };
  }
  /** At the limit, removes the oldest invitation that is over. @throws Problem 409 when all are open. */
  function assertRoom(projectId: string): void {
    const all = rows.list([{ project_id: projectId }], { order: "id" });
    if (all.length < LIMITS.projectInvitations) return;
    const past = all.find((row) => stateOf(row) !== "open");
    if (!past)
      throw conflict(
        `A project has at most ${LIMITS.projectInvitations} open invitations. Revoke one first.`,
        "too_many_invitations",
      );
    rows.remove({ id: past.id });
  }
  /** @throws Problem 404 for an unknown token, 409 for a caller without an account, 429 after too many failed tries. */
  function find(token: string, { userId }: Caller): { row: Row; name: string; userId: string } {
    if (userId === undefined)
      throw conflict("Only who has an account joins a project. Log in first: skep login", "account_needed");
    const attempt = beginTry(userId);
    const row = rows.find({ hash: hashOf(token) });
    const name = row && projectName(row.project_id);
    if (!row || name === undefined) {
      attempt.fail();
      throw notFound("invitation", "Look whether the link is whole, or ask for another.");
    }
    attempt.release();
    return { row, name, userId };
  }
  const hasRole = ({ project_id, role }: Row, userId: string): boolean => {
    const own = access.member(project_id, userId)?.role;
    return own !== undefined && isAtLeast(own, role);
  };
  /** @throws Problem 409 `invitation_over`. */
  function assertOpen(row: Row): void {
    const state = stateOf(row);
    if (state !== "open") throw createProblem(OVER[state]);
    if (!isBacked(row))
      throw createProblem("Who made this invitation may not invite to the project any more. Ask an owner of it.");
    if (access.openTo(row.project_id) === "personal")
      throw createProblem("The project is its owner's alone now. Ask them to open it to its members.");
  }

  return {
    /** Newest first. @throws Problem 404. */
    list(projectId: string, page: Page, caller: Caller): ListAnswer<Invitation> {
      assertProject(projectId);
      const where = [{ project_id: projectId }, buildReadCondition(caller, WHOSE.project_invitations)];
      return listById(rows.page(where, page), page, present);
    },
    /** The answer holds the token. @throws Problem 403 role above one's own, 404, 409 personal project or too many. */
    create: (
      projectId: string,
      { role = "contributor", days = DAYS, max_uses = 1 }: InvitationCreate,
      caller: Caller,
    ): MadeInvitation =>
      store.write((tx) => {
        assertProject(projectId);
        if (caller.userId === undefined)
          throw conflict("Only who has an account invites others. Log in first: skep login", "account_needed");
        assertMayInvite(projectId, role, caller);
        if (access.openTo(projectId) === "personal")
          throw conflict("The project is personal. Open it to members first.", "personal_project");
        assertRoom(projectId);
        const token = TOKEN_PREFIX + randomBytes(32).toString("base64url");
        const id = newId("invitation");
        const now = clock.now();
        const row = rows.add({
          id,
          project_id: projectId,
          role,
          hash: hashOf(token),
          uses: 0,
          max_uses,
          created_by: caller.userId,
          created_at: toTimestamp(now),
          expires_at: toTimestamp(now + days * DAY_MS),
        });
        record("project.invitation_created", projectId, caller, { invitation_id: id, role, days, max_uses });
        tx.emit(invitationsChanged, { project_id: projectId, data: { change: "created" } });
        return { ...present(row), token };
      }),
    /** May be repeated. @throws Problem 403 for an invitation to a role above the caller's, 404. */
    revoke: (projectId: string, id: string, caller: Caller): void =>
      store.write((tx) => {
        assertProject(projectId);
        const row = rows.find({ id, project_id: projectId }, buildReadCondition(caller, WHOSE.project_invitations));
        if (!row) throw notFound("invitation");
        if (!isOwner(caller, row.created_by)) assertMayInvite(projectId, row.role, caller);
        if (row.revoked_at !== null) return;
        rows.update({ revoked_at: toTimestamp(clock.now()) }, { id });
        record("project.invitation_revoked", projectId, caller, { invitation_id: id, role: row.role });
        tx.emit(invitationsChanged, { project_id: projectId, data: { change: "revoked" } });
      }),
    /** @throws Problem 404, 409 `invitation_over`, 429. */
    read(token: string, caller: Caller): Offer {
      const { row, name, userId } = find(token, caller);
      const is_member = hasRole(row, userId);
      if (!is_member) assertOpen(row);
      const { project_id, role, created_by, expires_at } = row;
      return { project_id, project_name: name, role, invited_by: nameOf(created_by), expires_at, is_member };
    },
    /** A member with that role or a higher one keeps it, and nothing is used up. @throws Problem as `read`. */
    accept: (token: string, caller: Caller): Joined => {
      const { row, name, userId } = find(token, caller);
      const { id, project_id, role, created_by } = row;
      const answer = { project_id, project_name: name };
      if (hasRole(row, userId)) return { ...answer, role: access.member(project_id, userId)!.role, joined: false };
      return store.write((tx) => {
        assertOpen(row);
        putMember(tx, project_id, { id: userId, role, by: caller, addedBy: created_by });
        rows.update({ uses: row.uses + 1 }, { id });
        record("project.invitation_used", project_id, caller, { invitation_id: id, user_id: userId, role });
        tx.emit(invitationsChanged, { project_id, data: { change: "used" } });
        return { ...answer, role, joined: true };
      });
    },
    prune: (before: number): boolean => removeOld(store, "project_invitations", "expires_at < ?", toTimestamp(before)),
    /** Deletes invitations of a deleted account, for which nobody answers now. Joins the deleting transaction. */
    handOver: (from: string): void => void rows.remove({ created_by: from }),
  };

  function record(action: string, projectId: string, caller: Caller, data: Record<string, unknown>): void {
    audit({ action, ...actedBy(caller), subject: projectId, data });
  }
}
