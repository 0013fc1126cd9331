/**
 * Ownership for every table of the schema × every kind of caller. A query finds exactly the rows that the function lets
 * through; for each policy these are the rows in the table below.
 */
import { afterAll, expect, test } from "bun:test";
import Database from "better-sqlite3";
import { ADMINISTRATORS } from "../core/events.ts";
import { type Asker, type Belonging, POLICIES, type Policy, type ProjectRoles } from "../core/ownership.ts";
import { ANONYMOUS, type Caller, LOCAL_ADMIN } from "../http/caller.ts";
import { SCOPES, type Scope, withinScopes } from "../http/scopes.ts";
import { migrate } from "./migrate.ts";
import { LOCAL_USER } from "./tables/providers.ts";
import { buildReadCondition, INTERNAL, mayRead, WHOSE, WHOSE_FILES, WHOSE_SESSIONS, type Whose } from "./whose.ts";

const ADA = "usr_ada";
const BEN = "usr_ben";
/**
 * A project that is open to all, and two that are open to their members: ada is a member of the first, nobody here of
 * the second.
 */
const PROJECT = "proj_open";
const ADAS = "proj_adas";
const CLOSED = "proj_closed";
const projects: ProjectRoles = {
  roleOf(me, project, own) {
    if (project === PROJECT) return "maintainer";
    if (project === ADAS && me === ADA) return "viewer";
    return own === project ? "maintainer" : null;
  },
};

const sqlite = new Database(":memory:");
migrate(sqlite, null);
// The rows are invented, one for each way of belonging to somebody, and need not be complete.
sqlite.pragma("foreign_keys = OFF");
sqlite.pragma("ignore_check_constraints = ON");
for (const name of sqlite
  .prepare<unknown[], string>("SELECT name FROM sqlite_master WHERE type = 'trigger'")
  .pluck()
  .all())
  sqlite.exec(`DROP TRIGGER ${name}`);
afterAll(() => void sqlite.close());

/** The caller for an API key with this scope, when it reads. */
const keyOf = (caller: Caller, scope: Scope): Caller => {
  const isWhole = !caller.admin || scope === "admin";
  const limited: Caller = { ...caller, scopes: [scope], ...(isWhole ? {} : { admin: false, readsAsAdmin: true }) };
  return withinScopes(limited, { method: "GET", access: "user", scope: undefined });
};
const ada: Caller = { kind: "user", admin: false, userId: ADA, projects };
const administrator: Caller = { kind: "user", admin: true, userId: "usr_root", projects };
const heldBy = (userId?: string, projectId?: string) => ({
  id: "exe_1",
  sessionId: "sess_1",
  agentId: "scribe",
  userId,
  projectId,
});

/** The kinds of callers in the table of expectations. */
type Kind =
  | "nobody"
  | "user"
  | "other"
  | "without an account"
  | "at work in the closed project"
  | "administrator"
  | "local administrator";
const CALLERS: [name: string, kind: Kind, caller: Caller][] = [
  ["nobody who is signed in", "nobody", ANONYMOUS],
  ["a user", "user", ada],
  ["another user", "other", { kind: "user", admin: false, userId: BEN, projects }],
  ["an administrator", "administrator", administrator],
  ["the local administrator", "local administrator", LOCAL_ADMIN],
  ["the engine's token", "local administrator", { kind: "engine", admin: true, projects }],
  ["an execution's token", "user", { kind: "execution", admin: false, projects, execution: heldBy(ADA) }],
  [
    "a tool of an execution",
    "user",
    { kind: "execution", admin: false, projects, userId: ADA, execution: heldBy(ADA) },
  ],
  [
    "an execution's token, without accounts",
    "without an account",
    { ...ANONYMOUS, kind: "execution", projects, execution: heldBy() },
  ],
  [
    "an execution in a closed project, without accounts",
    "at work in the closed project",
    { ...ANONYMOUS, kind: "execution", projects, execution: heldBy(undefined, CLOSED) },
  ],
  ...(Object.keys(SCOPES) as Scope[]).flatMap((scope): [string, Kind, Caller][] => [
    [`a user's key with the scope ${scope}`, "user", keyOf(ada, scope)],
    [`an administrator's key with the scope ${scope}`, "administrator", keyOf(administrator, scope)],
  ]),
];

/** Whom a row belongs to. */
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
const PROMISED: Record<
  keyof typeof POLICIES,
  Record<Exclude<Kind, "nobody" | "at work in the closed project">, readonly string[]>
> = {
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
const OF_EVERYBODY = [PROJECT];
/**
 * The projects that each kind of caller sees. Rows in other projects are not readable for them, whoever owns the rows.
 */
const SEEN: Record<Exclude<Kind, "nobody">, readonly string[]> = {
  user: [PROJECT, ADAS],
  other: OF_EVERYBODY,
  "without an account": OF_EVERYBODY,
  "at work in the closed project": [PROJECT, CLOSED],
  administrator: [PROJECT, ADAS, CLOSED],
  "local administrator": [PROJECT, ADAS, CLOSED],
};
const isPromised = (policy: Policy, kind: Kind, belonging: Belonging): boolean => {
  if (kind === "nobody") return false;
  if (belonging.project !== null && !SEEN[kind].includes(belonging.project)) return false;
  const name = (Object.keys(POLICIES) as (keyof typeof POLICIES)[]).find((one) => POLICIES[one] === policy)!;
  // Everybody who sees a project sees what is in it, not only the owner.
  if (name === "ownerOrProject" && belonging.project !== null && !belonging.isOwnersAlone) return true;
  const as = kind === "at work in the closed project" ? "without an account" : kind;
  return PROMISED[name][as].includes(nameOf(belonging));
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

/** All combinations of values in the columns that say whom a row belongs to. */
function variants({ table, belonging }: AnyWhose): Row[] {
  const asked = new Set<string>();
  belonging(new Proxy({}, { get: (_, name) => void asked.add(String(name)) }));
  let rows: Row[] = [{}];
  for (const name of asked) {
    const column = columnsOf(table).find((one) => one.name === name)!;
    const set =
      name === "whose"
        ? ["mine", "everyone"]
        : name.includes("project")
          ? [PROJECT, ADAS, CLOSED, null]
          : [ADA, BEN, null];
    if (table === "events" && name === "user_id") set.push(ADMINISTRATORS);
    if (table === "user_provider_keys" || table === "harness_logins") set.push(LOCAL_USER);
    // A project's own key is its id.
    const values = column.name === "id" ? (table === "projects" ? [PROJECT, ADAS, CLOSED] : [ADA, BEN]) : set;
    rows = rows.flatMap((row) =>
      values
        .filter((value) => value !== null || column.notnull + column.pk === 0)
        .map((value) => ({ ...row, [name]: value })),
    );
  }
  return rows;
}

for (const id of [ADAS, CLOSED]) sqlite.prepare("INSERT INTO project_access VALUES (?, 'members')").run(id);
const ADAS_MEMBERSHIP = {
  project_id: ADAS,
  user_id: ADA,
  role: "viewer",
  source: "hand",
  created_at: "2026-01-01T00:00:00Z",
};

let made = 0;
/**
 * Inserts a row with these values; other columns that need a value get a unique one. @returns its `rowid`, or its key.
 */
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

/** A row of a table, together with the row that says whom it belongs to. */
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
  if (whose.table === "project_members")
    rows.push({ row: insert(whose.table, ADAS_MEMBERSHIP), belongs: { project_id: ADAS } });
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
function queryRows(whose: AnyWhose, asker: Asker): string[] {
  const [where, ...values] = buildReadCondition(asker, whose, "x") ?? ["1"];
  const names = Object.keys(rowsOf(whose)[0]!.row);
  const rows = sqlite.prepare(`SELECT ${names.join(", ")} FROM ${whose.table} AS x WHERE ${where}`).all(...values);
  return (rows as Record<string, unknown>[]).map(textOf).sort();
}
const listReadable = (whose: AnyWhose, asker: Asker): string[] =>
  rowsOf(whose)
    .filter(({ belongs }) => mayRead(asker, whose, belongs))
    .map(({ row }) => textOf(row))
    .sort();

rowsOf(WHOSE.project_members as AnyWhose);

test("every table of the schema names its policy, or why nobody is shown its rows", () => {
  const all = sqlite
    .prepare<unknown[], string>("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .pluck()
    .all();
  // Full-text indexes have internal tables of their own.
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
      .filter(({ belongs }) => isPromised(whose.policy, kind, whose.belonging(belongs)))
      .map(({ row }) => textOf(row))
      .sort();
    const answers = { query: queryRows(whose, caller), function: listReadable(whose, caller) };
    for (const [how, rows] of Object.entries(answers))
      if (rows.join() !== wanted.join())
        wrong.push(`${name}, ${how}: reads ${rows.join()} and should read ${wanted.join()}`);
  }
  expect(wrong).toEqual([]);
});

test("each way to belong to somebody occurs, so that no policy is compared over nothing", () => {
  const listBelongings = (policy: Policy) =>
    new Set(
      LISTED.filter(([, whose]) => whose.policy === policy).flatMap(([, whose]) =>
        rowsOf(whose).map(({ belongs }) => nameOf(whose.belonging(belongs))),
      ),
    );
  for (const policy of [POLICIES.owner, POLICIES.ownerOrNobody])
    expect([...listBelongings(policy)]).toEqual(
      expect.arrayContaining(["ada's", "ben's", "administrators'", "nobody's"]),
    );
  for (const policy of [POLICIES.ownerOrAdmin, POLICIES.ownerOrProject])
    expect([...listBelongings(policy)]).toEqual(expect.arrayContaining(["ada's", "ben's", "nobody's"]));
  expect([...listBelongings(POLICIES.ownerOrProject)]).toContain("a project's");
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
