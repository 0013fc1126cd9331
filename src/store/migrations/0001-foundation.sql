CREATE TABLE events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL,
  at TEXT NOT NULL,
  run_id TEXT, step_id TEXT, session_id TEXT, agent_id TEXT, swarm_id TEXT, project_id TEXT, user_id TEXT,
  data TEXT NOT NULL
) STRICT;
CREATE INDEX events_run ON events (run_id, id) WHERE run_id IS NOT NULL;
CREATE INDEX events_session ON events (session_id, id) WHERE session_id IS NOT NULL;

CREATE TABLE idempotency (
  key TEXT PRIMARY KEY,
  fingerprint TEXT NOT NULL,
  status INTEGER NOT NULL,
  location TEXT,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_age ON idempotency (created_at);

CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE audit (
  id TEXT PRIMARY KEY,
  at TEXT NOT NULL,
  action TEXT NOT NULL,
  actor TEXT NOT NULL,
  subject TEXT,
  address TEXT,
  data TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_at ON audit (at);
