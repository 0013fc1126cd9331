-- A session is one piece of work or one chat of an agent; its executions are the stretches of work in it.
CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  user_id TEXT,
  parent_id TEXT REFERENCES sessions (id) ON DELETE CASCADE,
  -- The call in its parent that asked for it.
  call_id TEXT,
  root_id TEXT NOT NULL,
  depth INTEGER NOT NULL DEFAULT 0,
  tree_size INTEGER NOT NULL DEFAULT 1,
  run_id TEXT, step_id TEXT, project_id TEXT, task_id TEXT,
  title TEXT,
  wanted_model TEXT,
  model TEXT,
  -- JSON array: the tools it is limited to, out of its agent's; NULL: all of them.
  tools TEXT,
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
CREATE INDEX sessions_open ON sessions (kind, id) WHERE ended_at IS NULL;
CREATE INDEX sessions_agent ON sessions (agent_id, id);
CREATE INDEX sessions_user ON sessions (user_id, kind, id);
-- A user's chats, by what was said last; what lists ask for is in it.
CREATE INDEX sessions_chats ON sessions (user_id, last_activity_at, id, status, agent_id) WHERE kind = 'chat';
CREATE INDEX sessions_parent ON sessions (parent_id) WHERE parent_id IS NOT NULL;
CREATE UNIQUE INDEX sessions_call ON sessions (parent_id, call_id) WHERE call_id IS NOT NULL;
CREATE INDEX sessions_kind ON sessions (kind, id);
CREATE INDEX sessions_live ON sessions (id) WHERE ended_at IS NULL;

-- System prompts, each text once: most executions of an agent begin with the same.
CREATE TABLE prompts (
  id TEXT PRIMARY KEY,
  text TEXT NOT NULL
) STRICT;

CREATE TABLE executions (
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
  -- What an execution without a model runs: {command, working_directory?, env?}.
  command TEXT,
  prompt_id TEXT,
  contract TEXT NOT NULL,
  skills TEXT NOT NULL,
  wanted_model TEXT,
  model TEXT,
  timeout_seconds INTEGER NOT NULL,
  lease_owner TEXT,
  not_before INTEGER NOT NULL DEFAULT 0,
  -- What it waits for besides its turn while queued, e.g. a container engine that does not answer.
  waits_for TEXT,
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
CREATE INDEX executions_status ON executions (status, not_before);
CREATE INDEX executions_session ON executions (session_id, id);
CREATE INDEX executions_run ON executions (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX executions_prompt ON executions (prompt_id) WHERE prompt_id IS NOT NULL;
CREATE INDEX executions_agent ON executions (agent_id, id);
CREATE INDEX executions_unfinished ON executions (agent_id) WHERE finished_at IS NULL;
CREATE TRIGGER executions_spend AFTER UPDATE OF cost_nano, tokens ON executions WHEN NEW.run_id IS NOT NULL
BEGIN
  UPDATE runs SET cost_nano = cost_nano + NEW.cost_nano - OLD.cost_nano, tokens = tokens + NEW.tokens - OLD.tokens
  WHERE id = NEW.run_id;
END;

-- Transcripts: numbered from 0 in their session, without gap.
CREATE TABLE messages (
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

-- What an assistant's message called, and the results.
CREATE TABLE tool_calls (
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
