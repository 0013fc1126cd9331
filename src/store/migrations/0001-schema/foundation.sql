-- What happened, in order; written in the transaction that made it happen.
CREATE TABLE events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL,
  at TEXT NOT NULL,
  run_id TEXT, step_id TEXT, session_id TEXT, agent_id TEXT, swarm_id TEXT, project_id TEXT, user_id TEXT,
  data TEXT NOT NULL
) STRICT;
CREATE INDEX events_run ON events (run_id, id) WHERE run_id IS NOT NULL;
CREATE INDEX events_session ON events (session_id, id) WHERE session_id IS NOT NULL;
CREATE INDEX events_swarm ON events (swarm_id, id) WHERE swarm_id IS NOT NULL;
-- What agents did, for the timeline: few of the events, in the order in which they are read.
CREATE INDEX events_timeline ON events (id) WHERE agent_id IS NOT NULL
  AND kind IN ('session_started', 'session_ended', 'turn_ended', 'step_complete', 'step_failed', 'activity',
    'pulse_complete', 'pulse_failed');
CREATE INDEX events_timeline_agent ON events (agent_id, id) WHERE agent_id IS NOT NULL
  AND kind IN ('session_started', 'session_ended', 'turn_ended', 'step_complete', 'step_failed', 'activity',
    'pulse_complete', 'pulse_failed');
CREATE INDEX events_timeline_kind ON events (kind, id) WHERE agent_id IS NOT NULL
  AND kind IN ('session_started', 'session_ended', 'turn_ended', 'step_complete', 'step_failed', 'activity',
    'pulse_complete', 'pulse_failed');

-- Answers to requests with an Idempotency-Key.
CREATE TABLE idempotency (
  key TEXT PRIMARY KEY,
  fingerprint TEXT NOT NULL,
  status INTEGER NOT NULL,
  location TEXT,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_age ON idempotency (created_at);

-- Small facts of the instance by name: its id, the state of its setup.
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- Who did what that matters for security.
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
CREATE INDEX audit_actor ON audit (actor, id);
CREATE INDEX audit_action ON audit (action);
