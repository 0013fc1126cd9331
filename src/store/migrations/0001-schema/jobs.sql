-- Background work, from request to end.
CREATE TABLE jobs (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
  payload TEXT NOT NULL,
  key TEXT,
  exclusive TEXT,
  priority INTEGER NOT NULL,
  run_at INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  interruptions INTEGER NOT NULL,
  cancel_requested INTEGER NOT NULL,
  percent REAL,
  detail TEXT,
  progress TEXT,
  subject TEXT,
  result TEXT,
  error_code TEXT,
  error_message TEXT,
  user_id TEXT,
  project_id TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  finished_at TEXT
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX jobs_key ON jobs (kind, key) WHERE finished_at IS NULL AND key IS NOT NULL;
CREATE INDEX jobs_queued ON jobs (kind, priority DESC, run_at, id) WHERE state = 'queued';
CREATE INDEX jobs_due ON jobs (run_at) WHERE state = 'queued';
CREATE INDEX jobs_unfinished ON jobs (state) WHERE finished_at IS NULL;
CREATE INDEX jobs_project ON jobs (project_id, kind, id) WHERE project_id IS NOT NULL;
CREATE INDEX jobs_user ON jobs (user_id, id) WHERE user_id IS NOT NULL;
