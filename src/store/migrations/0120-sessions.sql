-- A session is one piece of work or one chat of an agent; executions are its stretches of work; messages are numbered in it.
CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  user_id TEXT,
  parent_id TEXT REFERENCES sessions (id) ON DELETE CASCADE,
  root_id TEXT NOT NULL,
  depth INTEGER NOT NULL DEFAULT 0,
  tree_size INTEGER NOT NULL DEFAULT 1,
  run_id TEXT, step_id TEXT, project_id TEXT, task_id TEXT,
  title TEXT,
  wanted_model TEXT,
  model TEXT,
  status TEXT NOT NULL,
  stopping INTEGER NOT NULL DEFAULT 0,
  budget_nano INTEGER,
  spent_nano INTEGER NOT NULL DEFAULT 0,
  reserved_nano INTEGER NOT NULL DEFAULT 0,
  purse_id TEXT,
  lender_id TEXT,
  tokens INTEGER NOT NULL DEFAULT 0,
  context_tokens INTEGER,
  execution_count INTEGER NOT NULL DEFAULT 0,
  message_count INTEGER NOT NULL DEFAULT 0,
  created_at TEXT NOT NULL,
  last_activity_at TEXT NOT NULL,
  ended_at TEXT
) STRICT;

-- System prompts, each text once: most executions of an agent begin with the same.
CREATE TABLE prompts (
  id TEXT PRIMARY KEY,
  text TEXT NOT NULL
) STRICT;

CREATE TABLE new_executions (
  id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  agent_id TEXT NOT NULL,
  run_id TEXT,
  step_row_id TEXT,
  status TEXT NOT NULL,
  steers INTEGER NOT NULL DEFAULT 0,
  urgent INTEGER NOT NULL DEFAULT 0,
  message_id TEXT NOT NULL,
  input TEXT NOT NULL,
  prompt_id TEXT,
  contract TEXT NOT NULL,
  skills TEXT NOT NULL,
  wanted_model TEXT,
  model TEXT,
  timeout_seconds INTEGER NOT NULL,
  lease_owner TEXT,
  not_before INTEGER NOT NULL DEFAULT 0,
  stop TEXT,
  turns INTEGER NOT NULL DEFAULT 0,
  cost_nano INTEGER NOT NULL DEFAULT 0,
  tokens INTEGER NOT NULL DEFAULT 0,
  outputs TEXT NOT NULL DEFAULT '{}',
  ended_by TEXT,
  text TEXT NOT NULL DEFAULT '',
  error TEXT,
  created_at TEXT NOT NULL,
  started_at TEXT,
  finished_at TEXT
) STRICT;

CREATE TABLE new_messages (
  session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  id TEXT NOT NULL UNIQUE,
  execution_id TEXT NOT NULL,
  role TEXT NOT NULL,
  content TEXT NOT NULL,
  finish TEXT,
  covers_to INTEGER,
  withdrawn INTEGER NOT NULL DEFAULT 0,
  created_at TEXT NOT NULL,
  PRIMARY KEY (session_id, seq)
) STRICT;

CREATE TABLE new_tool_calls (
  session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  position INTEGER NOT NULL,
  execution_id TEXT NOT NULL,
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
  PRIMARY KEY (session_id, seq, position)
) STRICT;

-- What there was: each execution was its own session.
INSERT INTO sessions (id, kind, agent_id, user_id, root_id, run_id, step_id, project_id, task_id, wanted_model, model,
    status, spent_nano, tokens, execution_count, message_count, created_at, last_activity_at, ended_at)
  SELECT id, kind, agent_id, user_id, id, run_id, step_id, project_id, task_id, wanted_model, model,
    status, cost_nano, tokens, 1, (SELECT count(*) FROM messages WHERE execution_id = executions.id),
    created_at, coalesce(finished_at, started_at, created_at), finished_at
  FROM executions;

INSERT INTO prompts (id, text) SELECT id, system FROM executions WHERE system IS NOT NULL;

INSERT INTO new_executions (id, session_id, agent_id, run_id, step_row_id, status, message_id, input, prompt_id, contract,
    skills, wanted_model, model, timeout_seconds, lease_owner, not_before, stop, turns, cost_nano, tokens, outputs,
    text, error, created_at, started_at, finished_at)
  SELECT 'exe_' || substr(id, 6), id, agent_id, run_id, step_row_id, status,
    coalesce((SELECT m.id FROM messages m WHERE m.execution_id = executions.id AND m.seq = 0), 'msg_' || substr(id, 6)),
    json_array(json_object('type', 'text', 'text', prompt)), CASE WHEN system IS NULL THEN NULL ELSE id END, contract,
    skills, wanted_model, model, timeout_seconds, lease_owner, not_before,
    CASE cancel_requested WHEN 1 THEN 'cancel' END, turns, cost_nano, tokens, outputs,
    text, error, created_at, started_at, finished_at
  FROM executions;

INSERT INTO new_messages (session_id, seq, id, execution_id, role, content, finish, covers_to, created_at)
  SELECT execution_id, seq, id, 'exe_' || substr(execution_id, 6), role,
    CASE role WHEN 'assistant' THEN content ELSE json_array(json_object('type', 'text', 'text', content ->> '$')) END,
    CASE role WHEN 'assistant' THEN 'stop' END, CASE role WHEN 'summary' THEN seq - 1 END, created_at
  FROM messages;

INSERT INTO new_tool_calls (session_id, seq, position, execution_id, call_id, tool, input, status, ok, output, ending,
    started_at, finished_at, duration_ms)
  SELECT execution_id, seq, position, 'exe_' || substr(execution_id, 6), call_id, tool, input, status, ok, output, ending,
    started_at, finished_at, duration_ms
  FROM tool_calls;

DROP TABLE tool_calls;
DROP TABLE messages;
DROP TABLE executions;
ALTER TABLE new_executions RENAME TO executions;
ALTER TABLE new_messages RENAME TO messages;
ALTER TABLE new_tool_calls RENAME TO tool_calls;

CREATE INDEX sessions_open ON sessions (kind, id) WHERE ended_at IS NULL;
CREATE INDEX sessions_agent ON sessions (agent_id, id);
CREATE INDEX sessions_user ON sessions (user_id, kind, id);
CREATE INDEX sessions_parent ON sessions (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX executions_status ON executions (status, not_before);
CREATE INDEX executions_session ON executions (session_id, id);
CREATE INDEX executions_run ON executions (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX executions_prompt ON executions (prompt_id) WHERE prompt_id IS NOT NULL;
CREATE INDEX executions_agent ON executions (agent_id, id);

ALTER TABLE steps ADD COLUMN execution_id TEXT;
UPDATE steps SET execution_id = 'exe_' || substr(session_id, 6) WHERE session_id IS NOT NULL;
