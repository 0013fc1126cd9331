-- Evals: tasks that agents try, each attempt a run, and what came of it.
CREATE TABLE evals (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  user_id TEXT,
  mode TEXT NOT NULL,
  status TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  parallel INTEGER NOT NULL,
  budget_usd REAL,
  replayed INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  finished_at TEXT
) STRICT;
CREATE INDEX evals_user ON evals (user_id, id);
CREATE INDEX evals_running ON evals (id) WHERE status = 'running';

CREATE TABLE eval_tasks (
  eval_id TEXT NOT NULL REFERENCES evals (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  task TEXT NOT NULL,
  PRIMARY KEY (eval_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE eval_attempts (
  id TEXT PRIMARY KEY,
  eval_id TEXT NOT NULL REFERENCES evals (id) ON DELETE CASCADE,
  task TEXT NOT NULL,
  worker TEXT NOT NULL,
  agent_id TEXT,
  model TEXT,
  harness TEXT,
  number INTEGER NOT NULL,
  status TEXT NOT NULL,
  run_id TEXT,
  turns TEXT,
  reason TEXT,
  cost_nano INTEGER NOT NULL DEFAULT 0,
  calls_without_price INTEGER NOT NULL DEFAULT 0,
  tokens INTEGER NOT NULL DEFAULT 0,
  model_calls INTEGER NOT NULL DEFAULT 0,
  tool_errors INTEGER NOT NULL DEFAULT 0,
  duration_ms INTEGER,
  finished_at TEXT
) STRICT;
CREATE INDEX eval_attempts_eval ON eval_attempts (eval_id, id);
CREATE INDEX eval_attempts_run ON eval_attempts (run_id) WHERE run_id IS NOT NULL;

-- What the last trial of a model found.
CREATE TABLE model_trials (
  model TEXT PRIMARY KEY,
  result TEXT NOT NULL
) STRICT;
