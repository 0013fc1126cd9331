/**
 * Whose is it: every table of the schema × every kind of caller. The rows that a query finds are those that the function
 * lets through, and for each policy those that the table below says.
 */
import { afterAll, expect, test } from "bun:test";
import Database from "better-sqlite3";
import { ADMINISTRATORS } from "../core/events.ts";
import { type Asker, type Belonging, definePolicy, NO_ROW, POLICIES, type Policy } from "../core/ownership.ts";
import { ANONYMOUS, type Caller, LOCAL_ADMIN } from "../http/caller.ts";
import { SCOPES, type Scope, withinScopes } from "../http/scopes.ts";
import { migrate } from "./migrate.ts";
import { LOCAL_USER } from "./tables/providers.ts";
import { INTERNAL, mayRead, readable, ruledBy, WHOSE, WHOSE_FILES, WHOSE_SESSIONS, type Whose } from "./whose.ts";

const ADA = "usr_ada";
const BEN = "usr_ben";
const PROJECT = "prj_1";

const sqlite = new Database(":memory:");
migrate(sqlite, null);
// Rows are made up here, one for each way to belong to somebody: they need not be whole.
sqlite.pragma("foreign_keys = OFF");
sqlite.pragma("ignore_check_constraints = ON");
for (const name of sqlite
  .prepare<unknown[], string>("SELECT name FROM sqlite_master WHERE type = 'trigger'")
  .pluck()
  .all())
  sqlite.exec(`DROP TRIGGER ${name}`);
afterAll(() => void sqlite.close());

/** The caller that an API key with that scope is, when it reads. */
const keyOf = (caller: Caller, scope: Scope): Caller => {
  const isWhole = !caller.admin || scope === "admin";
  const limited: Caller = { ...caller, scopes: [scope], ...(isWhole ? {} : { admin: false, readsAsAdmin: true }) };
  return withinScopes(limited, { method: "GET", access: "user", scope: undefined });
};
const ada: Caller = { kind: "user", admin: false, userId: ADA };
const administrator: Caller = { kind: "user", admin: true, userId: "usr_root" };
const heldBy = (userId?: string) => ({ id: "exe_1", sessionId: "sess_1", agentId: "scribe", userId });

/** What each kind of caller counts as in the table of what is promised. */
type Kind = "nobody" | "user" | "other" | "without an account" | "administrator" | "local administrator";
const CALLERS: [name: string, kind: Kind, caller: Caller][] = [
  ["nobody who is signed in", "nobody", ANONYMOUS],
  ["a user", "user", ada],
  ["another user", "other", { kind: "user", admin: false, userId: BEN }],
  ["an administrator", "administrator", administrator],
  ["the local administrator", "local administrator", LOCAL_ADMIN],
  ["the engine's token", "local administrator", { kind: "engine", admin: true }],
  ["an execution's token", "user", { kind: "execution", admin: false, execution: heldBy(ADA) }],
  ["a tool of an execution", "user", { kind: "execution", admin: false, userId: ADA, execution: heldBy(ADA) }],
  [
    "an execution's token, without accounts",
    "without an account",
    { ...ANONYMOUS, kind: "execution", execution: heldBy() },
  ],
  ...(Object.keys(SCOPES) as Scope[]).flatMap((scope): [string, Kind, Caller][] => [
    [`a user's key with the scope ${scope}`, "user", keyOf(ada, scope)],
    [`an administrator's key with the scope ${scope}`, "administrator", keyOf(administrator, scope)],
  ]),
];

/** To whom a row belongs. */
const BELONGINGS = ["ada's", "ben's", "administrators'", "nobody's", "a project's"] as const;
const nameOf = ({ owner, project }: Belonging): (typeof BELONGINGS)[number] => {
  if (owner === ADA) return "ada's";
  if (owner === BEN) return "ben's";
  if (owner === ADMINISTRATORS) return "administrators'";
  return project === null ? "nobody's" : "a project's";
};
const ALL = BELONGINGS;
const NONE: readonly string[] = [];
/** What each policy lets each kind of caller read. */
const PROMISED: Record<keyof typeof POLICIES, Record<Exclude<Kind, "nobody">, readonly string[]>> = {
  everybody: {
    user: ALL,
    other: ALL,
    "without an account": ALL,
    administrator: ALL,
    "local administrator": ALL,
  },
  owner: {
    user: ["ada's"],
    other: ["ben's"],
    "without an account": ["nobody's", "a project's"],
    administrator: ["administrators'"],
    "local administrator": ["administrators'", "nobody's", "a project's"],
  },
  ownerOrAdmin: {
    user: ["ada's"],
    other: ["ben's"],
    "without an account": NONE,
    administrator: ALL,
    "local administrator": ALL,
  },
  ownerOrNobody: {
    user: ["ada's", "nobody's", "a project's"],
    other: ["ben's", "nobody's", "a project's"],
    "without an account": ["nobody's", "a project's"],
    administrator: ALL,
    "local administrator": ALL,
  },
  ownerOrProject: {
    user: ["ada's", "a project's"],
    other: ["ben's", "a project's"],
    "without an account": ["nobody's", "a project's"],
    administrator: ALL,
    "local administrator": ALL,
  },
  administrator: {
    user: NONE,
    other: NONE,
    "without an account": NONE,
    administrator: ALL,
    "local administrator": ALL,
  },
};
const promised = (policy: Policy, kind: Kind, belonging: Belonging): boolean => {
  if (kind === "nobody") return false;
  const name = (Object.keys(POLICIES) as (keyof typeof POLICIES)[]).find((one) => POLICIES[one] === policy)!;
  // All who see a project see what is in it, not only its owner.
  if (name === "ownerOrProject" && belonging.project !== null) return true;
  return PROMISED[name][kind].includes(nameOf(belonging));
};

type Row = Record<string, string | null>;
type AnyWhose = Whose<Row>;
const entriesOf = (list: object) => Object.entries(list) as [string, AnyWhose][];

interface Column {
  name: string;
  type: string;
  notnull: number;
  pk: number;
}
const columnsOf = (table: string): Column[] =>
  sqlite.prepare("SELECT * FROM pragma_table_info(?)").all(table) as Column[];

/** The columns that say to whom a row belongs, with the values that they have in turn. */
function variants({ table, belonging }: AnyWhose): Row[] {
  const asked = new Set<string>();
  belonging(new Proxy({}, { get: (_, name) => void asked.add(String(name)) }));
  let rows: Row[] = [{}];
  for (const name of asked) {
    const column = columnsOf(table).find((one) => one.name === name)!;
    const set = name === "whose" ? ["mine", "everyone"] : name.includes("project") ? [PROJECT, null] : [ADA, BEN, null];
    if (table === "events" && name === "user_id") set.push(ADMINISTRATORS);
    if (table === "user_provider_keys" || table === "harness_logins") set.push(LOCAL_USER);
    // The project's own key is its id.
    const values = column.name === "id" ? (table === "projects" ? [PROJECT] : [ADA, BEN]) : set;
    rows = rows.flatMap((row) =>
      values
        .filter((value) => value !== null || column.notnull + column.pk === 0)
        .map((value) => ({ ...row, [name]: value })),
    );
  }
  return rows;
}

let made = 0;
/** A row with those values; the other columns that need one get one that no other row has. @returns its `rowid`, or key. */
function insert(table: string, given: Row): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  for (const { name, type, notnull, pk } of columnsOf(table)) {
    if (given[name] !== undefined) row[name] = given[name];
    else if (notnull || pk)
      row[name] = /INT|REAL/.test(type) ? ++made : type === "BLOB" ? Buffer.from([1]) : `"${++made}"`;
  }
  const names = Object.keys(row);
  sqlite
    .prepare(`INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map((name) => `@${name}`).join(", ")})`)
    .run(row);
  return row;
}

/** Each row of a table, with the row that says to whom it belongs. */
interface Made {
  row: Record<string, unknown>;
  belongs: Row;
}
const tables = new Map<string, Made[]>();
function rowsOf(whose: AnyWhose): Made[] {
  const known = tables.get(whose.table);
  if (known) return known;
  const parent = whose.parent as { whose: AnyWhose; column: string; key: string } | undefined;
  const rows = parent
    ? rowsOf(parent.whose).map(({ row, belongs }) => ({
        row: insert(whose.table, { [parent.column]: String(row[parent.key]) }),
        belongs,
      }))
    : variants(whose).map((given) => ({ row: insert(whose.table, given), belongs: given }));
  tables.set(whose.table, rows);
  return rows;
}

const textOf = (row: Record<string, unknown>): string =>
  JSON.stringify(
    Object.fromEntries(
      Object.entries(row)
        .filter(([, value]) => value !== null)
        .sort(),
    ),
  );

/** The rows that a query with the condition finds. */
function found(whose: AnyWhose, asker: Asker): string[] {
  const [where, ...values] = readable(asker, whose, "x") ?? ["1"];
  const names = Object.keys(rowsOf(whose)[0]!.row);
  const rows = sqlite.prepare(`SELECT ${names.join(", ")} FROM ${whose.table} AS x WHERE ${where}`).all(...values);
  return (rows as Record<string, unknown>[]).map(textOf).sort();
}
const allowed = (whose: AnyWhose, asker: Asker): string[] =>
  rowsOf(whose)
    .filter(({ belongs }) => mayRead(asker, whose, belongs))
    .map(({ row }) => textOf(row))
    .sort();

test("every table of the schema names its policy, or why nobody is shown its rows", () => {
  const all = sqlite
    .prepare<unknown[], string>("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .pluck()
    .all();
  // Full-text indexes keep tables of their own beside them.
  const indexes = all.filter((name) => all.includes(`${name}_data`) && all.includes(`${name}_config`));
  const schema = all.filter((name) => !indexes.some((index) => name !== index && name.startsWith(`${index}_`)));
  expect([...Object.keys(WHOSE), ...Object.keys(INTERNAL)].sort()).toEqual(schema.sort());
  expect(entriesOf(WHOSE).filter(([name, { table }]) => name !== table)).toEqual([]);
});

const LISTED = [
  ...entriesOf(WHOSE),
  ...entriesOf(WHOSE_SESSIONS).map(([name, whose]) => [`sessions (${name})`, whose] as [string, AnyWhose]),
];
test.each(LISTED)("%s: each kind of caller finds the rows that it may read, and no other", (_name, whose) => {
  const wrong: string[] = [];
  for (const [name, kind, caller] of CALLERS) {
    const wanted = rowsOf(whose)
      .filter(({ belongs }) => promised(whose.policy, kind, whose.belonging(belongs)))
      .map(({ row }) => textOf(row))
      .sort();
    const answers = { query: found(whose, caller), function: allowed(whose, caller) };
    for (const [how, rows] of Object.entries(answers))
      if (rows.join() !== wanted.join())
        wrong.push(`${name}, ${how}: reads ${rows.join()} and should read ${wanted.join()}`);
  }
  expect(wrong).toEqual([]);
});

test("each way to belong to somebody occurs, so that no policy is compared over nothing", () => {
  const seen = (policy: Policy) =>
    new Set(
      LISTED.filter(([, whose]) => whose.policy === policy).flatMap(([, whose]) =>
        rowsOf(whose).map(({ belongs }) => nameOf(whose.belonging(belongs))),
      ),
    );
  for (const policy of [POLICIES.owner, POLICIES.ownerOrNobody])
    expect([...seen(policy)]).toEqual(expect.arrayContaining(["ada's", "ben's", "administrators'", "nobody's"]));
  for (const policy of [POLICIES.ownerOrAdmin, POLICIES.ownerOrProject])
    expect([...seen(policy)]).toEqual(expect.arrayContaining(["ada's", "ben's", "nobody's"]));
  expect([...seen(POLICIES.ownerOrProject)]).toContain("a project's");
});

test("skills, which are files, follow the policy of what belongs to its owner or to everybody", () => {
  const read = (asker: Caller) =>
    [ADA, BEN, null].filter((owner_id) => mayRead(asker, WHOSE_FILES.skills, { owner_id }));
  expect(CALLERS.slice(0, 4).map(([, , caller]) => read(caller))).toEqual([
    [],
    [ADA, null],
    [BEN, null],
    [ADA, BEN, null],
  ]);
});

/** What a seventh policy takes: who is a member of which project. */
interface Member extends Asker {
  projects: readonly string[];
}
const members = definePolicy<Member>({
  mayRead: (_me, { project }, { admin, projects }) => admin || (project !== null && projects.includes(project)),
  sql: (_me, { project }, { admin, projects }) =>
    admin ? undefined : [`${project} IN (SELECT value FROM json_each(?))`, JSON.stringify(projects)],
});

test("there is room for a policy of project members: its two answers, and the tables that name it", () => {
  const asked: Member[] = [
    { ...ada, projects: [PROJECT] },
    { ...ada, projects: ["prj_other"] },
    { ...ada, projects: [] },
    { ...administrator, projects: [] },
    { ...ANONYMOUS, projects: [PROJECT] },
  ];
  const ofProjects = [
    "projects",
    "tasks",
    "task_history",
    "workflow_policies",
    "runs",
    "steps",
    "sessions",
    "documents",
  ];
  for (const [name, whose] of entriesOf(WHOSE).filter(([one]) => ofProjects.includes(one))) {
    const ruled = ruledBy(members as Policy, whose);
    const counts = asked.map((asker) => {
      expect([name, found(ruled, asker)]).toEqual([name, allowed(ruled, asker)]);
      return found(ruled, asker).length;
    });
    const all = rowsOf(whose).length;
    const inProject = rowsOf(whose).filter(({ belongs }) => whose.belonging(belongs).project !== null).length;
    expect([name, counts]).toEqual([name, [inProject, 0, 0, all, 0]]);
  }
  expect(members.sql({ ...ANONYMOUS, projects: [] }, { owner: "NULL", project: "x.id" })).toBe(NO_ROW);
});
