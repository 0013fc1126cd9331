/**
 * Whose is it: the policies that say who may read a row. Each policy answers twice: `mayRead` for a row at hand, `sql`
 * for the rows of a query. `store/whose.ts` names the policy of each table; its test compares the two answers row by row.
 */
import { ADMINISTRATORS } from "./events.ts";

/** Who asks. A caller of the API is one. */
export interface Asker {
  /** Has the rights of an administrator. */
  admin: boolean;
  /** Absent: somebody without an account, such as the only user of a server without accounts. */
  userId?: string | undefined;
  kind?: string | undefined;
  /** It asks for the user that it works for, without the rights of an administrator. */
  execution?: { userId?: string | undefined } | undefined;
}

/** To whom a row belongs. `owner` may be `ADMINISTRATORS`: each of them owns it. Null: to nobody, to no project. */
export interface Belonging {
  owner: string | null;
  project: string | null;
}

/** The same as columns or SQL expressions; `NULL` where a table has no such column. */
export interface BelongingSql {
  owner: string;
  project: string;
  /** Rows of the table may belong to `ADMINISTRATORS`. */
  isAdministrators?: boolean;
}

/** A condition with `?` for its values; undefined: every row. */
export type ReadCondition = readonly [sql: string, ...values: string[]] | undefined;

/** What a policy says about somebody who is signed in. `me`: their account, null without one. */
export interface PolicyRule<A extends Asker = Asker> {
  mayRead(me: string | null, belonging: Belonging, asker: A): boolean;
  sql(me: string | null, columns: BelongingSql, asker: A): ReadCondition;
}

export interface Policy<A extends Asker = Asker> {
  mayRead(asker: A, belonging: Belonging): boolean;
  sql(asker: A, columns: BelongingSql): ReadCondition;
}

export const NO_ROW: ReadCondition = ["0"];

/** The account for which somebody asks. An execution asks for the user that it works for. */
export const accountOf = ({ userId, execution }: Pick<Asker, "userId" | "execution">): string | null =>
  userId ?? execution?.userId ?? null;

/** Who is not signed in reads no row of any policy. */
export const definePolicy = <A extends Asker = Asker>(rule: PolicyRule<A>): Policy<A> => ({
  mayRead: (asker, belonging) => asker.kind !== "anonymous" && rule.mayRead(accountOf(asker), belonging, asker),
  sql: (asker, columns) => (asker.kind === "anonymous" ? NO_ROW : rule.sql(accountOf(asker), columns, asker)),
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
  /** Everybody who is signed in. */
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
  /** The owner, administrators, and those who see the row's project: today everybody. */
  ownerOrProject: definePolicy({
    mayRead: (me, belonging, asker) => asker.admin || belonging.project !== null || own.mayRead(me, belonging, asker),
    sql(me, columns, asker) {
      if (asker.admin) return undefined;
      const [sql, ...values] = own.sql(me, columns, asker)!;
      return [`(${columns.project} IS NOT NULL OR ${sql})`, ...values];
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
export const owns = (asker: Asker, owner: string | null): boolean =>
  POLICIES.owner.mayRead(asker, { owner, project: null });
