-- Calls of tools that the permission rules of an agent have a person asked about. deadline: ms since the epoch.
CREATE TABLE permission_requests (
  id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  execution_id TEXT NOT NULL,
  call_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  tool TEXT NOT NULL,
  tool_kind TEXT NOT NULL,
  subject TEXT NOT NULL,
  rules TEXT NOT NULL,
  can_remember INTEGER NOT NULL,
  state TEXT NOT NULL,
  lasts TEXT,
  comment TEXT,
  answered_by TEXT,
  created_at TEXT NOT NULL,
  deadline INTEGER NOT NULL,
  answered_at TEXT
) STRICT;
CREATE UNIQUE INDEX permission_requests_call ON permission_requests (session_id, call_id);
CREATE INDEX permission_requests_waiting ON permission_requests (deadline) WHERE state = 'waiting';
CREATE INDEX permission_requests_open ON permission_requests (id) WHERE state = 'waiting';
CREATE INDEX permission_requests_answered ON permission_requests (id) WHERE state <> 'waiting';
CREATE INDEX permission_requests_execution ON permission_requests (execution_id) WHERE state = 'waiting';

-- Answers that hold for more than one call: for a run, for a chat (the session), or for an agent (neither).
CREATE TABLE permission_answers (
  id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL,
  user_id TEXT,
  run_id TEXT REFERENCES runs (id) ON DELETE CASCADE,
  session_id TEXT REFERENCES sessions (id) ON DELETE CASCADE,
  rule TEXT NOT NULL,
  subject TEXT NOT NULL,
  answered_by TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX permission_answers_once ON permission_answers (agent_id, coalesce(run_id, session_id, ''), rule);
CREATE INDEX permission_answers_run ON permission_answers (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX permission_answers_session ON permission_answers (session_id) WHERE session_id IS NOT NULL;
CREATE INDEX permission_answers_user ON permission_answers (user_id) WHERE user_id IS NOT NULL;
