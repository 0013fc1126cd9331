-- What a code host sent, each once: by the id that it gave, and by what was signed.
CREATE TABLE codehost_deliveries (
  id TEXT PRIMARY KEY,
  -- X-GitHub-Delivery and its like; nothing signs it.
  delivery_id TEXT NOT NULL,
  -- SHA-256 of the verified body, hex.
  body_hash TEXT NOT NULL,
  event TEXT NOT NULL,
  repository TEXT,
  -- What is acted on, as JSON; NULL when nothing is.
  notice TEXT,
  state TEXT NOT NULL,
  -- Result, in a few words.
  detail TEXT,
  error TEXT,
  run_id TEXT,
  received_at TEXT NOT NULL,
  finished_at TEXT
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX codehost_deliveries_delivery ON codehost_deliveries (delivery_id);
CREATE UNIQUE INDEX codehost_deliveries_body ON codehost_deliveries (body_hash);
CREATE INDEX codehost_deliveries_state ON codehost_deliveries (state);

CREATE TABLE codehost_rules (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  -- owner/name on the code host.
  repository TEXT NOT NULL,
  event TEXT NOT NULL,
  label TEXT,
  command TEXT,
  -- Least that the actor may do in the repository.
  permission TEXT NOT NULL,
  -- JSON array of logins.
  bots TEXT NOT NULL,
  pipeline_id TEXT NOT NULL,
  pull_request INTEGER NOT NULL,
  -- For whom its runs are; NULL is the local administrator.
  user_id TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX codehost_rules_repository ON codehost_rules (repository COLLATE NOCASE, event);
CREATE INDEX codehost_rules_project ON codehost_rules (project_id);

-- What a run is on the code host: the issue that it answers, its pull request, and how far the host knows of it.
CREATE TABLE codehost_runs (
  run_id TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
  repository TEXT NOT NULL,
  rule_id TEXT,
  -- Issue or pull request that it was started from.
  number INTEGER,
  comment_id TEXT,
  -- What the comment says, so that it is changed only when that changes.
  comment_text TEXT,
  -- Started from a pull request of another repository: nothing of it is pushed.
  read_only INTEGER NOT NULL,
  -- A pull request is wanted when it succeeds.
  wants_pull INTEGER NOT NULL,
  -- How the pull request is opened; NULL: from the run and its issue.
  pull_title TEXT,
  pull_body TEXT,
  pull_base TEXT,
  pull_number INTEGER,
  pull_url TEXT,
  pull_state TEXT,
  pushed_commit TEXT,
  -- Another attempt is wanted once the run has ended.
  again INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  state TEXT NOT NULL,
  error TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX codehost_runs_number ON codehost_runs (repository COLLATE NOCASE, number);
CREATE INDEX codehost_runs_pull ON codehost_runs (repository COLLATE NOCASE, pull_number);
CREATE INDEX codehost_runs_state ON codehost_runs (state);
