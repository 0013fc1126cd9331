-- One row for each call of a model.
CREATE TABLE llm_calls (
  id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL,
  run_id TEXT,
  step_id TEXT,
  session_id TEXT,
  project_id TEXT,
  user_id TEXT,
  purpose TEXT NOT NULL,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  key_source TEXT NOT NULL CHECK (key_source IN ('user', 'instance', 'env', 'none')),
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cache_read_tokens INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  reasoning_tokens INTEGER NOT NULL,
  estimated INTEGER NOT NULL DEFAULT 0,
  cost_nano INTEGER,
  cost_source TEXT NOT NULL CHECK (cost_source IN ('table', 'provider', 'unknown')),
  duration_ms INTEGER NOT NULL,
  time_to_first_token_ms INTEGER,
  attempts INTEGER NOT NULL,
  finish_reason TEXT NOT NULL,
  error_code TEXT,
  error_message TEXT,
  created_at TEXT NOT NULL
) STRICT;
-- The last column lets a budget's sum be read from the index alone.
CREATE INDEX llm_calls_time ON llm_calls (created_at, cost_nano);
CREATE INDEX llm_calls_user ON llm_calls (user_id, created_at, cost_nano);
CREATE INDEX llm_calls_agent ON llm_calls (agent_id, created_at, cost_nano);
CREATE INDEX llm_calls_run ON llm_calls (run_id, agent_id, cost_nano) WHERE run_id IS NOT NULL;
CREATE INDEX llm_calls_session ON llm_calls (session_id, cost_nano) WHERE session_id IS NOT NULL;
CREATE INDEX llm_calls_errors ON llm_calls (id) WHERE error_code IS NOT NULL;
CREATE INDEX llm_calls_of_user ON llm_calls (user_id, id);
CREATE INDEX llm_calls_of_agent ON llm_calls (agent_id, id);
CREATE INDEX llm_calls_provider ON llm_calls (provider, id);
CREATE INDEX llm_calls_model ON llm_calls (model, id);

-- Sums of the calls of a day and of an hour, updated with each call and kept when the calls are pruned.
-- user_id is 'nobody' where they belong to no user.
CREATE TABLE usage_days (
  day TEXT NOT NULL,
  user_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  calls INTEGER NOT NULL,
  errors INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cache_read_tokens INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  reasoning_tokens INTEGER NOT NULL,
  cost_nano INTEGER NOT NULL,
  calls_without_price INTEGER NOT NULL,
  PRIMARY KEY (day, user_id, agent_id, provider, model)
) STRICT, WITHOUT ROWID;

CREATE TABLE usage_hours (
  hour TEXT NOT NULL,
  user_id TEXT NOT NULL,
  calls INTEGER NOT NULL,
  errors INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cache_read_tokens INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  reasoning_tokens INTEGER NOT NULL,
  cost_nano INTEGER NOT NULL,
  calls_without_price INTEGER NOT NULL,
  PRIMARY KEY (hour, user_id)
) STRICT, WITHOUT ROWID;

-- Which warnings of budgets were sent, so that each is sent once.
CREATE TABLE budget_notices (
  key TEXT PRIMARY KEY,
  created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
