/** Members of projects and their roles, and to whom a project is open. */

import { normalEmail } from "../../core/email.ts";
import { conflict, expectFound, forbidden, invalidField, notFound } from "../../core/errors.ts";
import { isId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { type ProjectRole, roleIn } from "../../core/ownership.ts";
import { actedBy, type Caller } from "../../http/caller.ts";
import { type ListAnswer, listAnswer, type Page } from "../../http/list.ts";
import type { MemberRow, OpenTo } from "../../store/project-access.ts";
import type { WriteTx } from "../../store/store.ts";
import { users } from "../../store/tables/accounts.ts";
import type { Core } from "../feature.ts";
import { membershipChanged, projectMembersChanged } from "./events.ts";
import { createMembersOfGroups } from "./groups.ts";
import type { Member, MemberAdd } from "./model.ts";

type MembersDeps = Pick<Core, "store" | "audit" | "access">;

export type Members = ReturnType<typeof createMembers>;

interface NewMembership {
  id: string;
  role: ProjectRole;
  /** The provider of single sign-on whose group gives the membership; null when a person gives it. */
  provider?: string | null;
  /** The caller who makes the change. */
  by: Caller;
  /** The account that decided on the membership, if it is not the caller's. */
  addedBy?: string | null;
}

type Change = "added" | "role" | "removed" | "access";

export function createMembers({ store, audit, access }: MembersDeps) {
  const accounts = store.rows(users);
  const isOwner = (projectId: string, caller: Caller): boolean => roleIn(caller, projectId) === "owner";
  const mayChange = isOwner;
  function present({ user_id, role, source, added_by, created_at }: MemberRow, withEmail: boolean): Member {
    const account = accounts.find({ id: user_id });
    return {
      user_id,
      display_name: account?.display_name ?? user_id,
      email: withEmail ? (account?.email ?? null) : null,
      role,
      source,
      added_by,
      created_at,
    };
  }
  /** @throws Problem 404. */
  const assertProject = (id: string): void => {
    if (store.statement("SELECT 1 FROM projects WHERE id = ?").get(id) === undefined) throw notFound("project");
  };
  const memberOf = (projectId: string, userId: string): MemberRow =>
    expectFound(access.member(projectId, userId), "member of this project");
  function tell(tx: WriteTx, project_id: string, userId: string | null, change: Change): void {
    tx.emit(projectMembersChanged, { project_id, data: { change } });
    // The event names no project: the user may no longer see it.
    if (userId !== null) tx.emit(membershipChanged, { user_id: userId, data: { change } });
  }
  const record = (action: string, projectId: string, caller: Caller, data: Record<string, unknown>): void =>
    audit({ action, ...actedBy(caller), subject: projectId, data });
  /** @throws Problem 404. */
  function accountOf(named: string): { id: string } {
    const account = isId("user", named) ? accounts.find({ id: named }) : accounts.find({ email: normalEmail(named) });
    if (!account?.active) throw notFound("account", "Ask an administrator to make it, or invite them by a link.");
    return account;
  }
  /** @throws Problem 409 when the project's only owner would leave or lose that role. */
  function assertOwnerLeft({ project_id, role }: MemberRow): void {
    if (role === "owner" && access.count(project_id, "owner") === 1)
      throw conflict("They are the project's only owner. Make somebody else an owner first.", "last_owner");
  }

  /** Adds a member or changes their role. Joins the surrounding transaction. @throws Problem 409. */
  function put(
    tx: WriteTx,
    projectId: string,
    { id, role, provider = null, by, addedBy = by.userId ?? null }: NewMembership,
  ): MemberRow {
    const source = provider === null ? "hand" : "oidc";
    const before = access.member(projectId, id);
    if (before?.role === role && before.source === source) return before;
    if (before && role !== "owner") assertOwnerLeft(before);
    if (!before) {
      if (access.openTo(projectId) === "personal")
        throw conflict("The project is personal. Open it to members first.", "personal_project");
      if (access.count(projectId) >= LIMITS.projectMembers)
        throw conflict(`A project has at most ${LIMITS.projectMembers} members. Open it to everyone instead.`);
    }
    access.put({ project_id: projectId, user_id: id, role, source, provider, added_by: addedBy });
    record(before ? "project.member_changed" : "project.member_added", projectId, by, { user_id: id, role, source });
    tell(tx, projectId, id, before ? "role" : "added");
    return access.member(projectId, id)!;
  }
  /** Joins the transaction around it. */
  function drop(tx: WriteTx, row: MemberRow, by: Caller): void {
    access.remove(row.project_id, row.user_id);
    record("project.member_removed", row.project_id, by, { user_id: row.user_id, role: row.role });
    tell(tx, row.project_id, row.user_id, "removed");
  }

  return {
    /**
     * Adds a member or changes their role. Joins the surrounding transaction.
     * @throws Problem 409 for a personal or full project.
     */
    put,
    takeGroups: createMembersOfGroups({ store, access, put, drop }),
    list(projectId: string, page: Page, caller: Caller): ListAnswer<Member> {
      assertProject(projectId);
      const found = access.members(projectId, page.after, page.limit);
      const withEmail = mayChange(projectId, caller);
      return listAnswer(
        found,
        page,
        (row) => row.user_id,
        (row) => present(row, withEmail),
      );
    },
    /**
     * @throws Problem 404 for an unknown account, 409 for somebody who is a member already or for a personal project.
     */
    add: (projectId: string, { user, role = "contributor" }: MemberAdd, caller: Caller): Member =>
      store.write((tx) => {
        assertProject(projectId);
        const { id } = accountOf(user);
        if (access.member(projectId, id))
          throw conflict("They are a member already. Change their role instead.", "already_member");
        return present(put(tx, projectId, { id, role, by: caller }), true);
      }),
    /** @throws Problem 404, 409 `last_owner`. */
    set: (projectId: string, userId: string, role: ProjectRole, caller: Caller): Member =>
      store.write((tx) => {
        assertProject(projectId);
        memberOf(projectId, userId);
        return present(put(tx, projectId, { id: userId, role, by: caller }), true);
      }),
    /** Removes a member. Owners remove anybody, others only themselves. @throws Problem 403, 404, 409 `last_owner`. */
    remove: (projectId: string, userId: string, caller: Caller): void =>
      store.write((tx) => {
        assertProject(projectId);
        if (!mayChange(projectId, caller) && caller.userId !== userId)
          throw forbidden("Only an owner of the project removes others from it.", "project_role");
        const row = memberOf(projectId, userId);
        assertOwnerLeft(row);
        drop(tx, row, caller);
      }),
    /**
     * Sets who may see a project: everyone, its members, or its owner alone.
     * @throws Problem 409 `has_members` when a project with other members should become personal; 422 when nobody would
     * own it.
     */
    open: (projectId: string, to: OpenTo, caller: Caller): { access: OpenTo; role: ProjectRole } =>
      store.write((tx) => {
        assertProject(projectId);
        const from = access.openTo(projectId);
        if (to !== from) {
          if (to !== "everyone" && access.count(projectId, "owner") === 0) {
            if (caller.userId === undefined)
              throw invalidField("/access", "Nobody owns the project. Add an owner first, then close it");
            put(tx, projectId, { id: caller.userId, role: "owner", by: caller });
          }
          if (to === "personal" && access.count(projectId) > 1)
            throw conflict(
              "The project has other members. Remove them first, or open it to its members.",
              "has_members",
            );
          access.open(projectId, to);
          record("project.access_changed", projectId, caller, { from, to });
          tell(tx, projectId, null, "access");
        }
        return { access: to, role: roleIn(caller, projectId) ?? "owner" };
      }),
  };
}
