CREATE TABLE runs (
  id TEXT PRIMARY KEY,
  pipeline_id TEXT NOT NULL,
  definition TEXT NOT NULL,
  task_description TEXT NOT NULL,
  human_context TEXT,
  inputs TEXT NOT NULL DEFAULT '{}',
  model TEXT,
  project_id TEXT,
  project_name TEXT,
  task_id TEXT,
  status TEXT NOT NULL,
  outputs TEXT NOT NULL DEFAULT '{}',
  error TEXT,
  branch TEXT,
  created_by TEXT,
  restarted_from TEXT,
  created_at TEXT NOT NULL,
  started_at TEXT,
  finished_at TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_pipeline ON runs (pipeline_id, id);
CREATE INDEX runs_status ON runs (status);
CREATE INDEX runs_project ON runs (project_id, id) WHERE project_id IS NOT NULL;

CREATE TABLE steps (
  id TEXT PRIMARY KEY,
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  step_id TEXT NOT NULL,
  position INTEGER NOT NULL,
  item_index INTEGER,
  attempt INTEGER NOT NULL,
  max_attempts INTEGER NOT NULL,
  visit INTEGER NOT NULL,
  status TEXT NOT NULL,
  agent_id TEXT,
  inputs TEXT NOT NULL DEFAULT '{}',
  outputs TEXT NOT NULL DEFAULT '{}',
  text TEXT NOT NULL DEFAULT '',
  error TEXT,
  model TEXT,
  session_id TEXT,
  superseded INTEGER NOT NULL DEFAULT 0,
  data TEXT NOT NULL DEFAULT '{}',
  created_at TEXT NOT NULL,
  started_at TEXT,
  finished_at TEXT
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX steps_run ON steps (run_id, position);
CREATE INDEX steps_session ON steps (session_id) WHERE session_id IS NOT NULL;
