/**
 * Roles in projects: the only code that reads and writes them. They are cached in memory, because they are needed for
 * every row, event, model call and tool call. Every change drops the cache.
 */
import { type Clock, toTimestamp } from "../core/clock.ts";
import { isId } from "../core/ids.ts";
import { OPEN_ROLE, PROJECT_ROLES, type ProjectRole, type ProjectRoles } from "../core/ownership.ts";
import type { Store } from "./store.ts";
import { projectAccess, projectMembers } from "./tables/project-members.ts";

/** Who has access to a project: all accounts, its members, or only its owner. */
export type OpenTo = "everyone" | "members" | "personal";

export type MemberRow = typeof projectMembers.$inferSelect;

interface NewMember {
  project_id: string;
  user_id: string;
  role: ProjectRole;
  source?: MemberRow["source"];
  provider?: string | null;
  added_by?: string | null;
}

export type ProjectAccess = ReturnType<typeof createProjectAccess>;

interface Known {
  closed: ReadonlyMap<string, Exclude<OpenTo, "everyone">>;
  /** Roles by project and account. */
  roles: ReadonlyMap<string, ProjectRole>;
}

const keyOf = (project: string, user: string): string => `${project} ${user}`;
const pickHigher = (one: ProjectRole, other: ProjectRole): ProjectRole =>
  PROJECT_ROLES.indexOf(one) > PROJECT_ROLES.indexOf(other) ? one : other;

export function createProjectAccess(store: Store, clock: Clock) {
  const access = store.rows(projectAccess);
  const members = store.rows(projectMembers);
  let kept: Known | undefined;
  function loadKnown(): Known {
    if (kept) return kept;
    const read = {
      closed: new Map(access.list([]).map((row) => [row.project_id, row.access])),
      roles: new Map(members.list([]).map(({ project_id, user_id, role }) => [keyOf(project_id, user_id), role])),
    };
    // Not cached inside a transaction, which may be rolled back.
    if (!store.sqlite.inTransaction) kept = read;
    return read;
  }
  /** Drops the cache and makes a change. Joins the transaction around it. */
  const change = <T>(what: () => T): T =>
    store.write(() => {
      kept = undefined;
      return what();
    });
  const isAdministrator = (user: string): boolean =>
    store.statement("SELECT 1 FROM users WHERE id = ? AND role = 'admin' AND active = 1").get(user) !== undefined;
  const roles: ProjectRoles = {
    roleOf(me, project, own) {
      const { closed, roles: all } = loadKnown();
      const role = me === null ? undefined : all.get(keyOf(project, me));
      if (!closed.has(project)) return role === undefined ? OPEN_ROLE : pickHigher(role, OPEN_ROLE);
      if (own !== project) return role ?? null;
      // Administrators need no membership, and a lower role takes nothing from them. Work that they started, under no
      // account or their own, sees its own project.
      if (me === null || isAdministrator(me)) return role === undefined ? OPEN_ROLE : pickHigher(role, OPEN_ROLE);
      return role ?? null;
    },
  };
  return {
    ...roles,
    /**
     * Roles for something that acts for an account in one project, such as a job. It has the rights of an execution
     * there.
     */
    within: (project: string | null): ProjectRoles => ({
      roleOf: (me, asked) => roles.roleOf(me, asked, project ?? undefined),
    }),
    /** Whether every project is open to all accounts, so that nothing is hidden. */
    isAllOpen: (): boolean => loadKnown().closed.size === 0,
    /** The project of a run or a session; null when it is in none, or gone. */
    ofWork: (id: string): string | null =>
      store
        .statement<string | null>(`SELECT project_id FROM ${isId("run", id) ? "runs" : "sessions"} WHERE id = ?`)
        .pluck()
        .get(id) ?? null,
    openTo: (project: string): OpenTo => loadKnown().closed.get(project) ?? "everyone",
    /** Sets who has access. Joins the transaction around it. */
    open(project: string, to: OpenTo): void {
      change(() => {
        if (to === "everyone") access.remove({ project_id: project });
        else access.put({ project_id: project, access: to }, ["project_id"]);
      });
    },
    member: (project_id: string, user_id: string): MemberRow | undefined => members.find({ project_id, user_id }),
    /** Members sorted by account id; one more than `limit` if there are more. */
    members: (project_id: string, after: string | null, limit: number): MemberRow[] =>
      members.list([{ project_id }, after === null ? undefined : ["project_members.user_id > ?", after]], {
        order: "user_id",
        limit: limit + 1,
      }),
    count: (project_id: string, role?: ProjectRole): number => members.count({ project_id, role }),
    memberships: (user_id: string): MemberRow[] => members.list([{ user_id }], { order: "project_id" }),
    /** Adds a member, or changes a member's role. Joins the transaction around it. */
    put({ source = "hand", added_by = null, provider = null, ...row }: NewMember): void {
      change(() => {
        const before = members.find({ project_id: row.project_id, user_id: row.user_id });
        const created_at = before?.created_at ?? toTimestamp(clock.now());
        members.put({ ...row, source, added_by, provider, created_at }, ["project_id", "user_id"]);
      });
    },
    /** Removes a member. Joins the transaction around it. @returns whether there was one. */
    remove: (project_id: string, user_id: string): boolean => change(() => members.remove({ project_id, user_id }) > 0),
    /** Gives projects of a deleted owner to another owner. Joins the transaction that deletes the account. */
    handOver(from: string, to: string | null): void {
      change(() => {
        for (const { project_id, role } of members.list([{ user_id: from }])) {
          members.remove({ project_id, user_id: from });
          if (role !== "owner" || to === null || members.count({ project_id, role }) > 0) continue;
          members.put(
            {
              project_id,
              user_id: to,
              role,
              source: "hand",
              added_by: null,
              provider: null,
              created_at: toTimestamp(clock.now()),
            },
            ["project_id", "user_id"],
          );
        }
      });
    },
    /** Called when the project was deleted with its history. Joins the transaction around it. */
    forget(project_id: string): void {
      change(() => {
        access.remove({ project_id });
        members.remove({ project_id });
      });
    },
  };
}
