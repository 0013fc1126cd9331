-- A swarm is a graph of sessions below one that holds their budget.
CREATE TABLE swarms (
  id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL UNIQUE REFERENCES sessions (id) ON DELETE CASCADE,
  status TEXT NOT NULL,
  stop TEXT,
  error TEXT,
  max_concurrent INTEGER NOT NULL,
  max_depth INTEGER NOT NULL,
  on_failure TEXT NOT NULL,
  timeout_seconds INTEGER NOT NULL,
  deadline_at INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  finished_at TEXT
) STRICT;
CREATE INDEX swarms_deadline ON swarms (deadline_at) WHERE status = 'running';

CREATE TABLE swarm_tasks (
  swarm_id TEXT NOT NULL REFERENCES swarms (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  key TEXT NOT NULL,
  title TEXT NOT NULL,
  prompt TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  model TEXT,
  timeout_seconds INTEGER,
  depends_on TEXT NOT NULL,
  status TEXT NOT NULL,
  session_id TEXT,
  error TEXT,
  started_at TEXT,
  finished_at TEXT,
  PRIMARY KEY (swarm_id, position)
) STRICT;
CREATE INDEX swarm_tasks_session ON swarm_tasks (session_id) WHERE session_id IS NOT NULL;
