CREATE TABLE executions (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  status TEXT NOT NULL,
  run_id TEXT, step_row_id TEXT, step_id TEXT, project_id TEXT, task_id TEXT, user_id TEXT,
  wanted_model TEXT,
  model TEXT,
  prompt TEXT NOT NULL,
  system TEXT,
  contract TEXT NOT NULL,
  skills TEXT NOT NULL,
  timeout_seconds INTEGER NOT NULL,
  lease_owner TEXT,
  not_before INTEGER NOT NULL DEFAULT 0,
  cancel_requested INTEGER NOT NULL DEFAULT 0,
  turns INTEGER NOT NULL DEFAULT 0,
  cost_nano INTEGER NOT NULL DEFAULT 0,
  tokens INTEGER NOT NULL DEFAULT 0,
  outputs TEXT NOT NULL DEFAULT '{}',
  text TEXT NOT NULL DEFAULT '',
  error TEXT,
  created_at TEXT NOT NULL,
  started_at TEXT,
  finished_at TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX executions_status ON executions (status, not_before);
CREATE INDEX executions_run ON executions (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX executions_agent ON executions (agent_id, id);

CREATE TABLE messages (
  execution_id TEXT NOT NULL REFERENCES executions (id) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  id TEXT NOT NULL UNIQUE,
  role TEXT NOT NULL,
  content TEXT NOT NULL,
  created_at TEXT NOT NULL,
  PRIMARY KEY (execution_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE tool_calls (
  execution_id TEXT NOT NULL REFERENCES executions (id) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  position INTEGER NOT NULL,
  call_id TEXT NOT NULL,
  tool TEXT NOT NULL,
  input TEXT NOT NULL,
  status TEXT NOT NULL,
  ok INTEGER,
  output TEXT,
  ending TEXT,
  started_at TEXT,
  finished_at TEXT,
  duration_ms INTEGER,
  PRIMARY KEY (execution_id, seq, position)
) STRICT, WITHOUT ROWID;
