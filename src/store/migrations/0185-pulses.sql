-- Work that an agent does at set times, and every time at which it was to.
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
-- A planned time is there once, whatever happens to the server.
CREATE UNIQUE INDEX pulse_ticks_planned ON pulse_ticks (routine_id, due_at) WHERE cause = 'schedule';
CREATE INDEX pulse_ticks_live ON pulse_ticks (routine_id) WHERE finished_at IS NULL;
CREATE INDEX pulse_ticks_session ON pulse_ticks (session_id) WHERE session_id IS NOT NULL;
CREATE INDEX pulse_ticks_finished ON pulse_ticks (finished_at);

-- Names of tools that a session is held to, out of its agent's; NULL: all of them.
ALTER TABLE sessions ADD COLUMN tools TEXT;

-- What routines came to is on the timeline, too.
DROP INDEX events_timeline;
CREATE INDEX events_timeline ON events (id) WHERE agent_id IS NOT NULL
  AND kind IN ('session_started', 'session_ended', 'turn_ended', 'step_complete', 'step_failed', 'activity',
    'pulse_complete', 'pulse_failed');
