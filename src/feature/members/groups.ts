/** Keeps project memberships in step with the groups that single sign-on reports at each log-in. */
import { isProblem } from "../../core/errors.ts";
import { isAtLeast, type ProjectRole } from "../../core/ownership.ts";
import type { Caller } from "../../http/caller.ts";
import type { MemberRow } from "../../store/project-access.ts";
import type { WriteTx } from "../../store/store.ts";
import type { Core } from "../feature.ts";

/** @param roles the roles that the user's groups give. Joins the surrounding transaction. */
export type MembersOfGroups = (
  userId: string,
  provider: string,
  roles: readonly { project_id: string; role: ProjectRole }[],
) => void;

interface GroupsDeps extends Pick<Core, "store" | "access"> {
  put(
    tx: WriteTx,
    projectId: string,
    member: { id: string; role: ProjectRole; provider: string; by: Caller },
  ): MemberRow;
  drop(tx: WriteTx, row: MemberRow, by: Caller): void;
}

export function createMembersOfGroups({ store, access, put, drop }: GroupsDeps): MembersOfGroups {
  const exists = (id: string): boolean => store.statement("SELECT 1 FROM projects WHERE id = ?").get(id) !== undefined;
  /**
   * Skips a membership that cannot be changed, such as the last owner's or one of a personal or full project. It must
   * not keep the user from logging in.
   */
  const orLeft = (change: () => void): void => {
    try {
      store.write(change);
    } catch (error) {
      if (!isProblem(error)) throw error;
    }
  };
  return (userId, provider, roles) =>
    store.write((tx) => {
      const by: Caller = { kind: "user", admin: false, userId, projects: access };
      const highest = new Map<string, ProjectRole>();
      for (const { project_id, role } of roles) {
        const known = highest.get(project_id);
        if (known === undefined || isAtLeast(role, known)) highest.set(project_id, role);
      }
      for (const row of access.memberships(userId)) {
        if (row.provider !== provider || highest.has(row.project_id)) continue;
        const isLast = row.role === "owner" && access.count(row.project_id, "owner") === 1;
        if (!isLast) drop(tx, row, by);
      }
      for (const [projectId, role] of highest) {
        const known = access.member(projectId, userId);
        if (!exists(projectId) || (known && known.provider !== provider)) continue;
        orLeft(() => put(tx, projectId, { id: userId, role, provider, by }));
      }
    });
}
