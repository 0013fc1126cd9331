CREATE TABLE agent_tts_settings (
  agent_id TEXT PRIMARY KEY,
  -- JSON object of the fields that the agent sets itself.
  own TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE tts_calls (
  id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL,
  user_id TEXT,
  provider TEXT NOT NULL,
  voice_id TEXT,
  characters INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  -- 1e-9 USD; NULL when unknown.
  cost_nano INTEGER,
  cached INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  -- JSON {code, message} or NULL.
  error TEXT,
  created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX tts_calls_agent ON tts_calls (agent_id, id);
CREATE INDEX tts_calls_user ON tts_calls (user_id, id);
CREATE INDEX tts_calls_provider ON tts_calls (provider, id);
