/** Who may invite others to a project, and as what. */
import { forbidden } from "../../core/errors.ts";
import { isAtLeast, type ProjectRole } from "../../core/ownership.ts";
import type { Caller } from "../../http/caller.ts";
import type { ProjectAccess } from "../../store/project-access.ts";
import type { Store } from "../../store/store.ts";
import { users } from "../../store/tables/accounts.ts";
import type { projectInvitations } from "../../store/tables/project-invitations.ts";

type Row = typeof projectInvitations.$inferSelect;

export function createRights(store: Store, access: Pick<ProjectAccess, "member">) {
  const accounts = store.rows(users);

  /**
   * The caller's role in the project. Administrators count as owners of every project. A project that is open to
   * everybody makes nobody a member, so it gives no right to invite.
   */
  const roleOfMember = (
    isAdministrator: boolean,
    userId: string | undefined,
    projectId: string,
  ): ProjectRole | null => {
    if (isAdministrator) return "owner";
    return userId === undefined ? null : (access.member(projectId, userId)?.role ?? null);
  };
  /** @throws Problem 403 */
  function assertMayInvite(projectId: string, role: ProjectRole, caller: Caller): void {
    const own = roleOfMember(caller.admin, caller.userId, projectId);
    if (own === null)
      throw forbidden(
        "Only members of the project invite others to it, and you are none. Ask an owner to add you.",
        "project_role",
      );
    if (!isAtLeast(own, "maintainer") || !isAtLeast(own, role))
      throw forbidden(
        `You are a ${own} of the project, and cannot invite as ${role}. Ask an owner of it.`,
        "project_role",
      );
  }
  /** Whether the person who made the invitation may still give its role. */
  function isBacked({ created_by, project_id, role }: Row): boolean {
    const maker = accounts.find({ id: created_by });
    if (!maker?.active) return false;
    const own = roleOfMember(maker.role === "admin", created_by, project_id);
    return own !== null && isAtLeast(own, "maintainer") && isAtLeast(own, role);
  }

  return { assertMayInvite, isBacked };
}
