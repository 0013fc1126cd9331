/**
 * What happens to the rows of each table when a run, a session, a project or a user is deleted with everything. It is
 * the one list that names every table; a missing table fails a test (`deletion-plan.test.ts`).
 *
 * Tables are in the order of deletion: rows that are needed to find others come later. Sums, counts and audit entries
 * stay; they hold no text.
 */

/**
 * What is deleted; in conditions, `@id` is its id. The sessions of a run, and those below a session, are each deleted
 * as sessions.
 */
export type Reach = "run" | "session" | "project" | "user";

type Conditions = Partial<Record<Reach, string>>;

interface Fate {
  /** Conditions for rows that are deleted. */
  goes?: Conditions;
  /** Rows that stay, and the columns that are cleared in them. */
  loses?: { columns: string; of: Conditions };
  /** The table with whose rows these are deleted, by a reference or a trigger. */
  with?: string;
  /** Why rows stay, or which other code removes them. */
  stays?: string;
  /**
   * True when one run or session may have very many rows, so that they are removed in pieces. The table has row ids.
   */
  isLarge?: true;
}

const OF_EXECUTIONS = "execution_id IN (SELECT id FROM executions WHERE session_id = @id)";
/** Attachments that only this session holds. */
const HELD_ALONE = `id IN (SELECT attachment_id FROM attachment_holds WHERE session_id = @id) AND NOT EXISTS
  (SELECT 1 FROM attachment_holds AS held WHERE held.attachment_id = attachments.id AND held.session_id <> @id)`;

export const DELETION_PLAN: Readonly<Record<string, Fate>> = {
  // What was said and done.
  events: {
    goes: {
      run: "run_id = @id",
      session: "session_id = @id",
      user: "user_id = @id AND run_id IS NULL AND session_id IS NULL",
    },
    isLarge: true,
  },
  tool_calls: { goes: { session: "session_id = @id" }, isLarge: true },
  messages: { goes: { session: "session_id = @id" }, isLarge: true },
  memory_recalls: { goes: { session: "session_id = @id" } },
  memory_session_recalls: { with: "sessions" },
  memory_versions: { goes: { session: OF_EXECUTIONS, user: "user_id = @id" }, isLarge: true },
  agent_messages: { goes: { session: "from_session_id = @id", user: "user_id = @id" }, isLarge: true },
  permission_requests: { goes: { session: "session_id = @id" } },
  permission_answers: { goes: { run: "run_id = @id", session: "session_id = @id", user: "user_id = @id" } },
  previews: { with: "runs" },
  screenshots: { with: "runs" },
  egress_connections: { goes: { run: "run_id = @id", session: "session_id = @id" }, isLarge: true },
  notification_buttons: { with: "notification_questions" },
  notification_questions: { with: "notification_deliveries" },
  notification_deliveries: { goes: { run: "run_id = @id" } },
  phone_commands: { goes: { run: "run_id = @id", project: "project_id = @id" } },
  llm_calls: {
    loses: { columns: "error_message = NULL", of: { run: "run_id = @id", session: "session_id = @id" } },
    stays: "what a call cost",
  },
  tts_calls: { loses: { columns: "error = NULL", of: { user: "user_id = @id" } }, stays: "what a call cost" },
  codehost_deliveries: {
    loses: { columns: "notice = NULL, detail = NULL, error = NULL", of: { run: "run_id = @id" } },
    stays: "refuses what a code host sends twice",
  },
  pulse_ticks: {
    loses: { columns: "summary = NULL, reason = NULL, session_id = NULL", of: { session: "session_id = @id" } },
    stays: "counts the times of a routine; goes with it",
  },
  documents: {
    goes: { project: "project_id = @id", user: "user_id = @id" },
    loses: { columns: "session_id = NULL", of: { session: "session_id = @id" } },
  },
  document_sections: { with: "documents" },
  document_chunks: { with: "document_sections" },
  document_text: { with: "document_chunks" },
  attachments: { goes: { session: HELD_ALONE, user: "user_id = @id" } },
  attachment_holds: { with: "sessions" },
  swarm_tasks: { with: "swarms" },
  swarms: { with: "sessions" },
  onboardings: { with: "sessions" },
  executions: { goes: { session: "session_id = @id" }, isLarge: true },
  sessions: { goes: { session: "id = @id" } },
  prompts: { stays: "texts that sessions share: removed once nothing refers to them" },
  workspace_sizes: { goes: { run: "name = @id", session: "name = @id", user: "user_id = @id" } },

  // Runs.
  tasks: {
    goes: { project: "project_id = @id" },
    loses: { columns: "run_id = NULL, branch = NULL", of: { run: "run_id = @id" } },
  },
  task_dependencies: { with: "tasks" },
  task_history: { with: "tasks" },
  task_texts: { with: "tasks" },
  task_trigrams: { with: "task_texts" },
  steps: { goes: { run: "run_id = @id" } },
  change_comments: { goes: { run: "run_id = @id", session: "session_id = @id", user: "created_by = @id" } },
  codehost_runs: { with: "runs" },
  run_agents: { with: "runs" },
  run_traces: { with: "runs" },
  run_texts: { with: "runs" },
  run_trigrams: { with: "run_texts" },
  runs: { goes: { run: "id = @id" } },
  run_definitions: { stays: "texts that runs share: removed once nothing refers to them" },
  kept_history: { goes: { run: "id = @id", session: "id = @id" } },

  // What a project or a user has besides.
  evals: { goes: { user: "user_id = @id" } },
  eval_tasks: { with: "evals" },
  eval_attempts: {
    loses: { columns: "run_id = NULL, turns = NULL, reason = NULL", of: { run: "run_id = @id" } },
    with: "evals",
  },
  model_trials: { stays: "the server's" },
  drained_hosts: { stays: "the server's" },
  pulse_routines: { goes: { project: "project_id = @id", user: "user_id = @id" } },
  codehost_rules: { goes: { project: "project_id = @id", user: "user_id = @id" } },
  notification_links: { with: "notification_channels" },
  messenger_updates: { with: "messengers" },
  messengers: { stays: "the server's" },
  notification_channels: { goes: { project: "project_id = @id", user: "owner_id = @id" } },
  workflow_policies: { with: "projects" },
  project_environments: { with: "projects" },
  project_setups: { with: "projects" },
  project_access: {
    stays: "removed with the project's history, or what is left of that would be everybody's (projects/service.ts)",
  },
  project_invitations: { goes: { project: "project_id = @id", user: "created_by = @id" } },
  project_members: { stays: "the same; of a user: handed over, or gone with them" },
  projects: { stays: "removed with its clone (projects/service.ts)" },
  jobs: { goes: { project: "project_id = @id", user: "user_id = @id AND finished_at IS NOT NULL" } },
  notifications: { goes: { user: "user_id = @id" } },
  cookie_sets: { goes: { user: "owner_id = @id" } },
  cookie_grants: { with: "cookie_sets" },
  harness_logins: { goes: { user: "user_id = @id" } },
  user_provider_keys: { goes: { user: "user_id = @id" } },
  memory_entries: { stays: "made from files: a user's own files are removed (memory/entries.ts), then their rows" },
  memory_units: { stays: "removed with their entry" },
  memory_text: { stays: "removed with their entry" },
  memory_vectors: { with: "memory_units" },
  memory_scores: { stays: "a user's own are removed with their entries (memory/entries.ts); others stay for undo" },
  memory_contradictions: { stays: "removed when one of the texts changes" },
  memory_consolidations: { stays: "digests" },

  // The account.
  users: { stays: "removed last (users/service.ts)" },
  auth_sessions: { with: "users" },
  refresh_tokens: { with: "auth_sessions" },
  recovery_codes: { with: "users" },
  api_keys: { with: "users" },
  identities: { with: "users" },
  preferences: { with: "users" },
  waitlist: { goes: { user: "email = (SELECT email FROM users WHERE id = @id)" } },
  login_failures: { stays: "digests and counts, for a day" },

  // Money and counts.
  usage_days: { stays: "sums" },
  usage_hours: { stays: "sums" },
  usage_projects: { stays: "sums" },
  run_days: { stays: "sums" },
  agent_totals: { stays: "counts the runs that are there" },
  api_usage: { stays: "counts requests" },
  budget_notices: { stays: "which warnings were given" },
  audit: { stays: "who did what, for security: ids, no texts of work" },

  // The server's own.
  deletions: { stays: "the deletion itself; goes when it is done" },
  deletion_items: { with: "deletions" },
  agent_tts_settings: { stays: "an agent's" },
  facts: { stays: "the server's" },
  idempotency: { stays: "answers of the last day: those that name what was deleted are removed (history/deletion.ts)" },
  mcp_servers: { stays: "the server's" },
  mcp_tools: { stays: "the server's" },
  migrations: { stays: "the server's" },
  notification_position: { stays: "the server's" },
  oidc_providers: { stays: "the server's" },
  providers: { stays: "the server's" },
  replaced_secrets: { stays: "sealed; they mask what is in texts that stay" },
  secret_grants: { stays: "the server's" },
  secrets: { stays: "sealed, the server's" },
  settings: { stays: "the server's" },
  tool_overrides: { stays: "an agent's" },
};
