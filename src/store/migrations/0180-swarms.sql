-- Swarms are graphs of sessions below one that holds their budget; agents of one user write to each other.
ALTER TABLE sessions ADD COLUMN call_id TEXT;
CREATE UNIQUE INDEX sessions_call ON sessions (parent_id, call_id) WHERE call_id IS NOT NULL;
CREATE INDEX events_swarm ON events (swarm_id, id) WHERE swarm_id IS NOT NULL;

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

CREATE TABLE agent_messages (
  id TEXT PRIMARY KEY,
  user_id TEXT,
  to_agent TEXT NOT NULL,
  from_agent TEXT NOT NULL,
  from_session_id TEXT NOT NULL,
  text TEXT NOT NULL,
  hops INTEGER NOT NULL,
  outside INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  read_at TEXT,
  read_execution_id TEXT
) STRICT;
CREATE INDEX agent_messages_inbox ON agent_messages (to_agent, user_id, id);
CREATE INDEX agent_messages_unread ON agent_messages (to_agent, user_id) WHERE read_at IS NULL;
CREATE INDEX agent_messages_read ON agent_messages (read_execution_id) WHERE read_execution_id IS NOT NULL;
CREATE INDEX agent_messages_sent ON agent_messages (from_agent, user_id, created_at);
