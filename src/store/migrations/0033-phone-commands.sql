-- Commands that people send to a bot: /run, which asks before it costs anything, and /stop.
CREATE TABLE phone_commands (
  id TEXT PRIMARY KEY,
  channel_id TEXT NOT NULL REFERENCES notification_channels (id) ON DELETE CASCADE,
  verb TEXT NOT NULL,
  pipeline_id TEXT,
  project_id TEXT,
  -- What the agents are asked; empty once the command has its outcome.
  task TEXT NOT NULL,
  -- The message that asks whether to start, once it was sent.
  message TEXT,
  -- Digests of its buttons.
  yes_hash TEXT,
  no_hash TEXT,
  -- What became of it; NULL while it waits for yes or no.
  outcome TEXT,
  run_id TEXT,
  expires_at TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX phone_commands_channel ON phone_commands (channel_id, created_at);
CREATE UNIQUE INDEX phone_commands_yes ON phone_commands (yes_hash) WHERE yes_hash IS NOT NULL;
CREATE UNIQUE INDEX phone_commands_no ON phone_commands (no_hash) WHERE no_hash IS NOT NULL;
CREATE INDEX phone_commands_message ON phone_commands (channel_id, message);
CREATE INDEX phone_commands_at ON phone_commands (created_at);
