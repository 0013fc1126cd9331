/**
 * Whose is it: the policies that say who may read a row. Each policy answers twice: `mayRead` for a row at hand, `sql`
 * for the rows of a query. `store/whose.ts` names the policy of each table; its test compares the two answers row by row.
 */
import { forbidden } from "./errors.ts";
import { ADMINISTRATORS } from "./events.ts";

/** What somebody may do in a project, least first. */
export const PROJECT_ROLES = ["viewer", "contributor", "maintainer", "owner"] as const;
export type ProjectRole = (typeof PROJECT_ROLES)[number];

/** What everybody with an account may do in a project that is open to all. */
export const OPEN_ROLE: ProjectRole = "maintainer";

/** Who may do what in which project. A server's is `store/project-access.ts`. */
export interface ProjectRoles {
  /** Null: for this account the project does not exist. @param own the project of the execution that asks. */
  roleOf(me: string | null, project: string, own?: string | undefined): ProjectRole | null;
}

/** For those whose rights in projects are never asked: administrators, nobody, and who reads what is in no project. */
export const NO_PROJECTS: ProjectRoles = { roleOf: () => null };

/** Who asks. A caller of the API is one. */
export interface Asker {
  /** Has the rights of an administrator. */
  admin: boolean;
  /** Absent: somebody without an account, such as the only user of a server without accounts. */
  userId?: string | undefined;
  kind?: string | undefined;
  /** It asks for the user that it works for, without the rights of an administrator. */
  execution?: { userId?: string | undefined; projectId?: string | undefined } | undefined;
  projects: ProjectRoles;
}

/** To whom a row belongs. `owner` may be `ADMINISTRATORS`: each of them owns it. Null: to nobody, to no project. */
export interface Belonging {
  owner: string | null;
  /** Whose project it is in: who does not see that does not see the row. */
  project: string | null;
  /** Not everybody who sees the project sees the row for that alone. */
  isOwnersAlone?: boolean;
}

/** The same as columns or SQL expressions; `NULL` where a table has no such column. */
export interface BelongingSql {
  owner: string;
  project: string;
  /** A condition under which a row is not for all who see its project. */
  isOwnersAlone?: string;
  /** Rows of the table may belong to `ADMINISTRATORS`. */
  isAdministrators?: boolean;
}

/** A condition with `?` for its values; undefined: every row. */
export type ReadCondition = readonly [sql: string, ...values: string[]] | undefined;

/** What a policy says about somebody who is signed in. `me`: their account, null without one. */
interface PolicyRule<A extends Asker = Asker> {
  mayRead(me: string | null, belonging: Belonging, asker: A): boolean;
  sql(me: string | null, columns: BelongingSql, asker: A): ReadCondition;
}

export interface Policy<A extends Asker = Asker> {
  mayRead(asker: A, belonging: Belonging): boolean;
  sql(asker: A, columns: BelongingSql): ReadCondition;
}

const NO_ROW: ReadCondition = ["0"];

/** The account for which somebody asks. An execution asks for the user that it works for. */
const accountOf = ({ userId, execution }: Pick<Asker, "userId" | "execution">): string | null =>
  userId ?? execution?.userId ?? null;

/** The role of somebody in a project; null where it does not exist for them. Administrators own every project. */
export const roleIn = (asker: Asker, project: string): ProjectRole | null =>
  asker.admin ? "owner" : asker.projects.roleOf(accountOf(asker), project, asker.execution?.projectId);

export const isAtLeast = (role: ProjectRole, least: ProjectRole): boolean =>
  PROJECT_ROLES.indexOf(role) >= PROJECT_ROLES.indexOf(least);

/** @throws Problem 403 for a project that they see, where they may do less. Of one that they do not see nothing is said. */
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

/** Projects that are not open to all, but one. */
const CLOSED = "SELECT closed.project_id FROM project_access AS closed WHERE closed.project_id <> ?";
const MINE = "SELECT 1 FROM project_members AS mine WHERE mine.project_id = closed.project_id AND mine.user_id = ?";
const OTHERS = `${CLOSED} AND NOT EXISTS (${MINE})`;

/**
 * That a row is in no project, or in one that they see, as a condition of a query. Few projects are closed, so what is not
 * among them is asked: any index serves the rest.
 * @param column of the project.
 */
export function inSeenProject(asker: Asker, column: string): ReadCondition {
  if (asker.admin || column === "NULL") return undefined;
  const me = accountOf(asker);
  const own = asker.execution?.projectId;
  // In one piece, without an OR: that would keep SQLite from reading by the index of another.
  const isNotIn = (closed: string) => `coalesce(${column}, '') NOT IN (${closed})`;
  const seen = own !== undefined && roleIn(asker, own) !== null ? own : "";
  return me === null ? [isNotIn(CLOSED), seen] : [isNotIn(OTHERS), seen, me];
}

function bothOf(first: ReadCondition, second: ReadCondition): ReadCondition {
  if (first === undefined || second === undefined) return first ?? second;
  const [[one, ...its], [other, ...others]] = [first, second];
  return [`${one} AND ${other}`, ...its, ...others];
}

/** Who is not signed in reads no row of any policy, and who does not see a project reads none that is in it. */
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

/** A row is one's own when one's account owns it; rows of nobody are the own rows of those without an account. */
const own: PolicyRule = {
  mayRead: (me, { owner }, { admin }) => owner === me || (admin && owner === ADMINISTRATORS),
  sql(me, { owner, isAdministrators }, { admin }) {
    const mine: [string, ...string[]] = me === null ? [`${owner} IS NULL`] : [`${owner} = ?`, me];
    const [sql, ...values] = mine;
    return isAdministrators && admin ? [`(${sql} OR ${owner} = '${ADMINISTRATORS}')`, ...values] : mine;
  },
};

export const POLICIES = {
  /** Everybody who is signed in, and of what is in a project those who see it. */
  everybody: definePolicy({ mayRead: () => true, sql: () => undefined }),
  /** The owner alone: administrators do not read what others own. */
  owner: definePolicy(own),
  /** The owner and administrators. Rows of nobody are for administrators. */
  ownerOrAdmin: definePolicy({
    mayRead: (me, { owner }, { admin }) => admin || (owner !== null && owner === me),
    sql: (me, { owner }, { admin }) => (admin ? undefined : me === null ? NO_ROW : [`${owner} = ?`, me]),
  }),
  /** The owner and administrators. Rows of nobody are everybody's. */
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
  /** Administrators alone. */
  administrator: definePolicy({
    mayRead: (_me, _belonging, { admin }) => admin,
    sql: (_me, _columns, { admin }) => (admin ? undefined : NO_ROW),
  }),
} satisfies Record<string, Policy>;

export type PolicyName = keyof typeof POLICIES;

/** Whether that owner is the asker. For who may change what others read, too. */
export const owns = (asker: Omit<Asker, "projects">, owner: string | null): boolean =>
  POLICIES.owner.mayRead({ ...asker, projects: NO_PROJECTS }, { owner, project: null });
