-- Work that an agent does at set times.
CREATE TABLE pulse_routines (
  id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL,
  -- For whom it works; NULL is the local administrator.
  user_id TEXT,
  project_id TEXT,
  name TEXT NOT NULL,
  description TEXT,
  instructions TEXT NOT NULL,
  -- JSON: a cron text, or {every_minutes, offset_minutes}.
  schedule TEXT NOT NULL,
  timezone TEXT NOT NULL,
  -- JSON array of {start, end, days}.
  blackouts TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  -- Why the server switched it off; NULL: it did not.
  stopped TEXT,
  max_concurrent INTEGER NOT NULL,
  timeout_seconds INTEGER,
  model TEXT,
  -- JSON array; NULL: all that the agent has.
  tools TEXT,
  -- The next tick, ms since the epoch; NULL while it is switched off.
  planned_at INTEGER,
  runs INTEGER NOT NULL,
  last_run_at TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE INDEX pulse_routines_agent ON pulse_routines (agent_id);
CREATE INDEX pulse_routines_planned ON pulse_routines (planned_at) WHERE planned_at IS NOT NULL;

-- Each time at which a routine ran or should have.
CREATE TABLE pulse_ticks (
  id TEXT PRIMARY KEY,
  routine_id TEXT NOT NULL REFERENCES pulse_routines (id) ON DELETE CASCADE,
  -- ms since the epoch.
  due_at INTEGER NOT NULL,
  cause TEXT NOT NULL,
  caught_up INTEGER NOT NULL,
  status TEXT NOT NULL,
  reason_code TEXT,
  reason TEXT,
  summary TEXT,
  session_id TEXT,
  created_at TEXT NOT NULL,
  started_at TEXT,
  finished_at TEXT
) STRICT;
CREATE INDEX pulse_ticks_routine ON pulse_ticks (routine_id, due_at);
-- A planned time gets one tick, however often the server stops.
CREATE UNIQUE INDEX pulse_ticks_planned ON pulse_ticks (routine_id, due_at) WHERE cause = 'schedule';
CREATE INDEX pulse_ticks_live ON pulse_ticks (routine_id) WHERE finished_at IS NULL;
CREATE INDEX pulse_ticks_session ON pulse_ticks (session_id) WHERE session_id IS NOT NULL;
CREATE INDEX pulse_ticks_finished ON pulse_ticks (finished_at);
