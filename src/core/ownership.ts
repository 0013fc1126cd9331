/**
 * The policies that say who may read a row. Each policy answers in two forms: `mayRead` for a given row, `sql` for the
 * rows of a query. `store/whose.ts` names the policy of each table; its test compares the two answers row by row.
 */
import { forbidden } from "./errors.ts";
import { ADMINISTRATORS } from "./events.ts";

/** Roles in a project, from least to most. */
export const PROJECT_ROLES = ["viewer", "contributor", "maintainer", "owner"] as const;
export type ProjectRole = (typeof PROJECT_ROLES)[number];

/** The role of everybody with an account in a project that is open to all. */
export const OPEN_ROLE: ProjectRole = "maintainer";

/** Roles of accounts in projects. The server's implementation is `store/project-access.ts`. */
export interface ProjectRoles {
  /**
   * The account's role in the project; null when the project does not exist for this account. @param own the project of
   * the execution that asks.
   */
  roleOf(me: string | null, project: string, own?: string | undefined): ProjectRole | null;
}

/** For askers whose project roles are never needed: administrators, nobody, or reads of rows in no project. */
export const NO_PROJECTS: ProjectRoles = { roleOf: () => null };

/** Who asks. A caller of the API is an asker. */
export interface Asker {
  /** Has the rights of an administrator. */
  admin: boolean;
  /** Absent for somebody without an account, such as the only user of a server without accounts. */
  userId?: string | undefined;
  kind?: string | undefined;
  /** Set for an execution. It asks on behalf of the user that it works for, without an administrator's rights. */
  execution?: { userId?: string | undefined; projectId?: string | undefined } | undefined;
  projects: ProjectRoles;
}

/**
 * Whom a row belongs to. When `owner` is `ADMINISTRATORS`, every administrator owns it. Null: nobody's, or in no
 * project.
 */
export interface Belonging {
  owner: string | null;
  /** The project that the row is in. Who does not see the project does not see the row. */
  project: string | null;
  /** True when seeing the project is not enough to see the row. */
  isOwnersAlone?: boolean;
}

/** The same as `Belonging`, as columns or SQL expressions; `NULL` where a table has no such column. */
export interface BelongingSql {
  owner: string;
  project: string;
  /** A condition that holds for rows not visible to everybody who sees their project. */
  isOwnersAlone?: string;
  /** Whether rows of the table may belong to `ADMINISTRATORS`. */
  isAdministrators?: boolean;
}

/** An SQL condition with `?` for its values; undefined matches every row. */
export type ReadCondition = readonly [sql: string, ...values: string[]] | undefined;

/** A policy's rule for somebody who is signed in. `me` is their account, null without one. */
interface PolicyRule<A extends Asker = Asker> {
  mayRead(me: string | null, belonging: Belonging, asker: A): boolean;
  sql(me: string | null, columns: BelongingSql, asker: A): ReadCondition;
}

export interface Policy<A extends Asker = Asker> {
  mayRead(asker: A, belonging: Belonging): boolean;
  sql(asker: A, columns: BelongingSql): ReadCondition;
}

const NO_ROW: ReadCondition = ["0"];

/** The account on whose behalf somebody asks. For an execution, it is the user that it works for. */
const accountOf = ({ userId, execution }: Pick<Asker, "userId" | "execution">): string | null =>
  userId ?? execution?.userId ?? null;

/** The asker's role in a project; null when the project does not exist for them. Administrators own every project. */
export const roleIn = (asker: Asker, project: string): ProjectRole | null =>
  asker.admin ? "owner" : asker.projects.roleOf(accountOf(asker), project, asker.execution?.projectId);

export const isAtLeast = (role: ProjectRole, least: ProjectRole): boolean =>
  PROJECT_ROLES.indexOf(role) >= PROJECT_ROLES.indexOf(least);

/**
 * @throws Problem 403 when they see the project but have a lesser role. For a project that they do not see, nothing is
 *   thrown.
 */
export function assertRole(asker: Asker, project: string | null | undefined, least: ProjectRole): void {
  if (!project) return;
  const role = roleIn(asker, project);
  if (role === null || isAtLeast(role, least)) return;
  throw forbidden(
    `This takes the role ${least} in the project; yours is ${role}. Ask a maintainer of it, or an owner.`,
    "project_role",
  );
}

const maySeeProject = (asker: Asker, project: string | null): boolean =>
  project === null || roleIn(asker, project) !== null;

/** Ids of projects that are not open to all, except one. */
const CLOSED = "SELECT closed.project_id FROM project_access AS closed WHERE closed.project_id <> ?";
const MINE = "SELECT 1 FROM project_members AS mine WHERE mine.project_id = closed.project_id AND mine.user_id = ?";
const OTHERS = `${CLOSED} AND NOT EXISTS (${MINE})`;

/**
 * A condition for rows that are in no project, or in one that the asker sees. Few projects are closed, so the condition
 * excludes those; the rest of the query can use any index.
 * @param column the column of the project.
 */
export function inSeenProject(asker: Asker, column: string): ReadCondition {
  if (asker.admin || column === "NULL") return undefined;
  const me = accountOf(asker);
  const own = asker.execution?.projectId;
  // One expression without an OR, which would keep SQLite from using the index of another condition.
  const isNotIn = (closed: string) => `coalesce(${column}, '') NOT IN (${closed})`;
  const seen = own !== undefined && roleIn(asker, own) !== null ? own : "";
  return me === null ? [isNotIn(CLOSED), seen] : [isNotIn(OTHERS), seen, me];
}

function bothOf(first: ReadCondition, second: ReadCondition): ReadCondition {
  if (first === undefined || second === undefined) return first ?? second;
  const [[one, ...its], [other, ...others]] = [first, second];
  return [`${one} AND ${other}`, ...its, ...others];
}

/**
 * Adds what holds for every policy: who is not signed in reads no rows, and rows of a project are only read by those
 * who see it.
 */
const definePolicy = <A extends Asker = Asker>(rule: PolicyRule<A>): Policy<A> => ({
  mayRead: (asker, belonging) =>
    asker.kind !== "anonymous" &&
    maySeeProject(asker, belonging.project) &&
    rule.mayRead(accountOf(asker), belonging, asker),
  sql: (asker, columns) =>
    asker.kind === "anonymous"
      ? NO_ROW
      : bothOf(rule.sql(accountOf(asker), columns, asker), inSeenProject(asker, columns.project)),
});

/** A row belongs to the account that owns it. Rows without an owner belong to users without an account. */
const own: PolicyRule = {
  mayRead: (me, { owner }, { admin }) => owner === me || (admin && owner === ADMINISTRATORS),
  sql(me, { owner, isAdministrators }, { admin }) {
    const mine: [string, ...string[]] = me === null ? [`${owner} IS NULL`] : [`${owner} = ?`, me];
    const [sql, ...values] = mine;
    return isAdministrators && admin ? [`(${sql} OR ${owner} = '${ADMINISTRATORS}')`, ...values] : mine;
  },
};

export const POLICIES = {
  /** Everybody who is signed in; for rows of a project, those who see it. */
  everybody: definePolicy({ mayRead: () => true, sql: () => undefined }),
  /** Only the owner: administrators do not read what others own. */
  owner: definePolicy(own),
  /** The owner and administrators. Rows without an owner are for administrators. */
  ownerOrAdmin: definePolicy({
    mayRead: (me, { owner }, { admin }) => admin || (owner !== null && owner === me),
    sql: (me, { owner }, { admin }) => (admin ? undefined : me === null ? NO_ROW : [`${owner} = ?`, me]),
  }),
  /** The owner and administrators. Rows without an owner are for everybody. */
  ownerOrNobody: definePolicy({
    mayRead: (me, { owner }, { admin }) => admin || owner === null || owner === me,
    sql: (me, { owner }, { admin }) =>
      admin ? undefined : me === null ? [`${owner} IS NULL`] : [`(${owner} IS NULL OR ${owner} = ?)`, me],
  }),
  /** The owner, administrators, and those who see the row's project. */
  ownerOrProject: definePolicy({
    mayRead: (me, belonging, asker) =>
      asker.admin ||
      (belonging.project !== null && belonging.isOwnersAlone !== true) ||
      own.mayRead(me, belonging, asker),
    sql(me, columns, asker) {
      if (asker.admin) return undefined;
      const [sql, ...values] = own.sql(me, columns, asker)!;
      const { project, isOwnersAlone } = columns;
      const everybodys = isOwnersAlone ? `${project} IS NOT NULL AND NOT (${isOwnersAlone})` : `${project} IS NOT NULL`;
      return [`(${everybodys} OR ${sql})`, ...values];
    },
  }),
  /** Only administrators. */
  administrator: definePolicy({
    mayRead: (_me, _belonging, { admin }) => admin,
    sql: (_me, _columns, { admin }) => (admin ? undefined : NO_ROW),
  }),
} satisfies Record<string, Policy>;

export type PolicyName = keyof typeof POLICIES;

/** Whether the asker is the owner. It decides who may change rows that others may also read. */
export const isOwner = (asker: Omit<Asker, "projects">, owner: string | null): boolean =>
  POLICIES.owner.mayRead({ ...asker, projects: NO_PROJECTS }, { owner, project: null });
