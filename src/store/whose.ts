/**
 * Who owns the rows of each table: the one list that names a policy (`core/ownership.ts`) for every table. Code with a
 * row at hand calls `mayRead`; a query uses `buildReadCondition`. A table in neither this list nor `INTERNAL` fails a
 * test.
 */
import { notFound } from "../core/errors.ts";
import { ADMINISTRATORS } from "../core/events.ts";
import {
  type Asker,
  type Belonging,
  type BelongingSql,
  POLICIES,
  type Policy,
  type PolicyName,
  type ReadCondition,
} from "../core/ownership.ts";
import { LOCAL_USER } from "./tables/providers.ts";

/** @typeParam Row the members of a row that tell whom it belongs to. */
export interface Whose<Row> {
  table: string;
  policy: Policy;
  belonging(row: Row): Belonging;
  columns(alias: string): BelongingSql;
  /** Set when rows belong to whoever owns the row that they refer to. `Row` is then a row of that other table. */
  parent?: { whose: Whose<never>; column: string; key: string };
}

/** Rows with columns for their owner and project. */
function defineRows<O extends string = never, P extends string = never>(
  table: string,
  policy: PolicyName,
  { owner, project }: { owner?: O; project?: P } = {},
): Whose<Record<O | P, string | null>> {
  const read = (row: Record<O | P, string | null>, name: O | P | undefined) => (name ? row[name] : null);
  const qualify = (alias: string, name: string | undefined) => (name ? `${alias}.${name}` : "NULL");
  return {
    table,
    policy: POLICIES[policy],
    belonging: (row) => ({ owner: read(row, owner), project: read(row, project) }),
    columns: (alias) => ({ owner: qualify(alias, owner), project: qualify(alias, project) }),
  };
}

/** Rows that belong to whoever owns the row that `column` refers to. @param policy a policy other than that row's. */
function partOf<Row>(
  table: string,
  whose: Whose<Row>,
  column: string,
  { key = "id", policy }: { key?: string; policy?: PolicyName } = {},
): Whose<Row> {
  return { ...whose, table, policy: policy ? POLICIES[policy] : whose.policy, parent: { whose, column, key } };
}

/** Personal keys and log-ins. On a server without accounts, they belong to users without an account. */
const personalRows = (table: string): Whose<{ user_id: string }> => ({
  table,
  policy: POLICIES.owner,
  belonging: ({ user_id }) => ({ owner: user_id === LOCAL_USER ? null : user_id, project: null }),
  columns: (alias) => ({ owner: `nullif(${alias}.user_id, '${LOCAL_USER}')`, project: "NULL" }),
});

/** The same rows under another policy. */
export const ruledBy = <Row>(policy: Policy, whose: Whose<Row>): Whose<Row> => ({ ...whose, policy });

const users = defineRows("users", "ownerOrAdmin", { owner: "id" });
const sessions = defineRows("sessions", "ownerOrNobody", { owner: "user_id", project: "project_id" });
const swarms = partOf("swarms", sessions, "session_id", { policy: "ownerOrAdmin" });
const runs = defineRows("runs", "ownerOrNobody", { owner: "created_by", project: "project_id" });
const attachments = defineRows("attachments", "owner", { owner: "user_id" });
const cookieSets = defineRows("cookie_sets", "owner", { owner: "owner_id" });
const documents = defineRows("documents", "ownerOrProject", { owner: "user_id", project: "project_id" });
const memoryEntries = defineRows("memory_entries", "ownerOrNobody", { owner: "owner_id" });
const routines = defineRows("pulse_routines", "ownerOrAdmin", { owner: "user_id", project: "project_id" });
const evals = defineRows("evals", "ownerOrAdmin", { owner: "user_id" });
const tasks = defineRows("tasks", "everybody", { project: "project_id" });
/** A channel for everyone's runs belongs to the administrators, not to the user who made it. */
const channels: Whose<{ owner_id: string | null; whose: string }> = {
  table: "notification_channels",
  policy: POLICIES.owner,
  belonging: ({ owner_id, whose }) => ({ owner: whose === "everyone" ? ADMINISTRATORS : owner_id, project: null }),
  columns: (alias) => ({
    owner: `CASE ${alias}.whose WHEN 'everyone' THEN '${ADMINISTRATORS}' ELSE ${alias}.owner_id END`,
    project: "NULL",
    isAdministrators: true,
  }),
};

export const WHOSE = {
  users,
  auth_sessions: defineRows("auth_sessions", "ownerOrAdmin", { owner: "user_id" }),
  api_keys: defineRows("api_keys", "ownerOrAdmin", { owner: "user_id" }),
  identities: defineRows("identities", "ownerOrAdmin", { owner: "user_id" }),
  oidc_providers: defineRows("oidc_providers", "administrator"),
  waitlist: defineRows("waitlist", "administrator"),
  preferences: defineRows("preferences", "owner", { owner: "user_id" }),
  user_provider_keys: personalRows("user_provider_keys"),
  harness_logins: personalRows("harness_logins"),

  projects: defineRows("projects", "everybody", { project: "id" }),
  project_environments: defineRows("project_environments", "everybody", { project: "project_id" }),
  project_setups: defineRows("project_setups", "everybody", { project: "project_id" }),
  tasks,
  task_dependencies: partOf("task_dependencies", tasks, "task_id"),
  task_history: partOf("task_history", tasks, "task_id"),
  project_members: defineRows("project_members", "everybody", { project: "project_id" }),
  project_invitations: defineRows("project_invitations", "everybody", { project: "project_id" }),
  workflow_policies: defineRows("workflow_policies", "everybody", { project: "project_id" }),

  runs,
  steps: partOf("steps", runs, "run_id"),
  run_agents: partOf("run_agents", runs, "run_id"),
  run_traces: partOf("run_traces", runs, "run_id"),
  previews: partOf("previews", runs, "run_id"),
  screenshots: partOf("screenshots", runs, "run_id"),
  codehost_runs: partOf("codehost_runs", runs, "run_id"),
  codehost_rules: defineRows("codehost_rules", "administrator"),
  codehost_deliveries: defineRows("codehost_deliveries", "administrator"),

  evals,
  eval_tasks: partOf("eval_tasks", evals, "eval_id"),
  eval_attempts: partOf("eval_attempts", evals, "eval_id"),

  sessions,
  executions: partOf("executions", sessions, "session_id"),
  messages: partOf("messages", sessions, "session_id"),
  tool_calls: partOf("tool_calls", sessions, "session_id"),
  permission_requests: partOf("permission_requests", sessions, "session_id"),
  /** Answers for an agent are visible to everybody; answers for a run or a chat, to its owner. */
  permission_answers: defineRows("permission_answers", "ownerOrNobody", { owner: "user_id" }),
  egress_connections: partOf("egress_connections", sessions, "session_id"),
  swarms,
  swarm_tasks: partOf("swarm_tasks", swarms, "swarm_id"),
  onboardings: partOf("onboardings", sessions, "session_id", { policy: "owner" }),
  agent_messages: defineRows("agent_messages", "ownerOrAdmin", { owner: "user_id" }),
  pulse_routines: routines,
  pulse_ticks: partOf("pulse_ticks", routines, "routine_id"),
  attachments,
  attachment_holds: partOf("attachment_holds", attachments, "attachment_id"),

  agent_totals: defineRows("agent_totals", "everybody"),
  tool_overrides: defineRows("tool_overrides", "everybody"),
  agent_tts_settings: defineRows("agent_tts_settings", "everybody"),
  secrets: defineRows("secrets", "everybody"),
  secret_grants: defineRows("secret_grants", "everybody"),
  providers: defineRows("providers", "administrator"),
  mcp_servers: defineRows("mcp_servers", "administrator"),
  mcp_tools: defineRows("mcp_tools", "administrator"),
  model_trials: defineRows("model_trials", "administrator"),
  settings: defineRows("settings", "administrator"),
  drained_hosts: defineRows("drained_hosts", "administrator"),

  memory_entries: memoryEntries,
  memory_recalls: partOf("memory_recalls", sessions, "session_id", { policy: "ownerOrAdmin" }),
  memory_scores: defineRows("memory_scores", "everybody"),
  documents,
  document_sections: partOf("document_sections", documents, "document_id"),
  document_chunks: partOf("document_chunks", documents, "document_id"),

  llm_calls: defineRows("llm_calls", "ownerOrAdmin", { owner: "user_id", project: "project_id" }),
  usage_days: defineRows("usage_days", "ownerOrAdmin", { owner: "user_id" }),
  usage_hours: defineRows("usage_hours", "ownerOrAdmin", { owner: "user_id" }),
  usage_projects: defineRows("usage_projects", "ownerOrAdmin", { owner: "user_id", project: "project_id" }),
  run_days: defineRows("run_days", "ownerOrAdmin", { owner: "user_id" }),
  workspace_sizes: defineRows("workspace_sizes", "ownerOrAdmin", { owner: "user_id" }),
  tts_calls: defineRows("tts_calls", "ownerOrAdmin", { owner: "user_id" }),
  api_usage: defineRows("api_usage", "administrator"),
  audit: defineRows("audit", "administrator"),

  events: defineRows("events", "ownerOrNobody", { owner: "user_id", project: "project_id" }),
  /** A job that somebody requested belongs to them; other jobs belong to their project. */
  jobs: {
    table: "jobs",
    policy: POLICIES.ownerOrProject,
    belonging: ({ user_id, project_id }) => ({
      owner: user_id,
      project: project_id,
      isOwnersAlone: user_id !== null,
    }),
    columns: (alias) => ({
      owner: `${alias}.user_id`,
      project: `${alias}.project_id`,
      isOwnersAlone: `${alias}.user_id IS NOT NULL`,
    }),
  } satisfies Whose<{ user_id: string | null; project_id: string | null }>,
  /** Notices without a user are for the administrators. */
  notifications: {
    table: "notifications",
    policy: POLICIES.owner,
    belonging: ({ user_id }) => ({ owner: user_id ?? ADMINISTRATORS, project: null }),
    columns: (alias) => ({
      owner: `coalesce(${alias}.user_id, '${ADMINISTRATORS}')`,
      project: "NULL",
      isAdministrators: true,
    }),
  } satisfies Whose<{ user_id: string | null }>,
  notification_channels: channels,
  notification_deliveries: partOf("notification_deliveries", channels, "channel_id"),
  messengers: defineRows("messengers", "everybody"),

  cookie_sets: cookieSets,
  cookie_grants: partOf("cookie_grants", cookieSets, "cookie_set_id"),
};

/** Policies for kinds of sessions that are more private than their transcripts, which administrators can read. */
export const WHOSE_SESSIONS = {
  chat: ruledBy(POLICIES.owner, sessions),
  spawn: ruledBy(POLICIES.ownerOrAdmin, sessions),
  /** Sessions in which a memory was recalled or written. */
  recalling: ruledBy(POLICIES.ownerOrAdmin, sessions),
  /** Sessions at work, in the list of current activity. */
  live: ruledBy(POLICIES.ownerOrAdmin, sessions),
};

/** Owners of runs in their text index, which knows no projects; its results are checked again in `runs`. */
export const WHOSE_TEXTS = { runs: defineRows("run_texts", "owner", { owner: "created_by" }) };

/** Files that belong to somebody, as rows do. */
export const WHOSE_FILES = { skills: defineRows("skills", "ownerOrNobody", { owner: "owner_id" }) };

/** Tables whose rows are never shown directly, and why. */
export const INTERNAL: Record<string, string> = {
  budget_notices: "which notices were given",
  change_comments: "comments on changes, shown to those who may read the run or session that made these",
  deletion_items: "what a deletion removes, part of its job",
  deletions: "deletions under way, shown as jobs",
  document_text: "an index of documents, read joined to them",
  facts: "what the server notes about itself",
  kept_history: "read with the run or session that it names",
  idempotency: "answers that are repeated to the caller who got them, found by a digest of the caller",
  login_failures: "counts wrong passwords, by account",
  memory_consolidations: "what a vault held when it was tidied last",
  memory_contradictions: "pairs of entries, shown to those who may read both",
  memory_session_recalls: "part of a session's prompts",
  memory_text: "an index of memories, read joined to them",
  memory_units: "paragraphs of memories, read joined to them",
  memory_vectors: "an index of memories, read joined to them",
  memory_versions: "earlier texts of memories, put back by those who may change the entry",
  migrations: "which migrations were applied",
  notification_position: "up to which event notifications were sent",
  messenger_updates: "which messages of messengers were handled",
  notification_buttons: "digests of buttons in messages",
  notification_links: "who answers in a channel, shown with the channel",
  notification_questions: "what messages ask, read with the channel that they went to",
  phone_commands: "what people told a bot, counted and answered in their chat",
  project_access: "which projects are not open to all, shown with the project",
  prompts: "texts that sessions share, part of a session's transcript",
  recovery_codes: "digests of second factors",
  refresh_tokens: "digests of credentials",
  replaced_secrets: "sealed values that are masked in texts",
  run_definitions: "texts that runs share, part of a run",
  run_texts: "an index of runs, read joined to them",
  run_trigrams: "an index of runs, read joined to them",
  task_texts: "an index of tasks, read joined to them",
  task_trigrams: "an index of tasks, read joined to them",
};

/** Whether the asker may read a row. For a table that is part of another, `row` is a row of the other. */
export const mayRead = <Row>(asker: Asker, { policy, belonging }: Whose<Row>, row: NoInfer<Row>): boolean =>
  policy.mayRead(asker, belonging(row));

/** Returns the row that was looked up. @throws Problem 404 when there is none, or the asker may not read it. */
export function expectReadable<Row>(asker: Asker, whose: Whose<NoInfer<Row>>, row: Row | undefined, what: string): Row {
  if (row === undefined || !mayRead(asker, whose, row)) throw notFound(what);
  return row;
}

/** A query condition for the rows that the asker may read. @param alias name of the table in the query. */
export const buildReadCondition = <Row>(asker: Asker, whose: Whose<Row>, alias = whose.table): ReadCondition =>
  conditionOf(whose.policy, asker, whose, alias);

/** A query condition for the asker's own rows, for lists without what belongs to everybody. */
export const own = <Row>(asker: Asker, whose: Whose<Row>, alias = whose.table): ReadCondition =>
  conditionOf(POLICIES.owner, asker, whose, alias);

/** A query condition for the asker's own rows; for administrators, all rows. */
export const ownUnlessAdmin = <Row>(asker: Asker, whose: Whose<Row>, alias = whose.table): ReadCondition =>
  asker.admin ? undefined : own(asker, whose, alias);

function conditionOf<Row>(policy: Policy, asker: Asker, whose: Whose<Row>, alias: string): ReadCondition {
  if (!whose.parent) return policy.sql(asker, whose.columns(alias));
  const { whose: of, column, key } = whose.parent;
  const inner = conditionOf(policy, asker, of, of.table);
  if (inner === undefined) return undefined;
  const [text, ...values] = inner;
  return [`${alias}.${column} IN (SELECT ${of.table}.${key} FROM ${of.table} WHERE ${text})`, ...values];
}
