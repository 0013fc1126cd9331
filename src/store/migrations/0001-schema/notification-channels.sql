-- Where people are notified of runs: an ntfy topic, a webhook, a mailbox.
CREATE TABLE notification_channels (
  id TEXT PRIMARY KEY,
  -- NULL is the local administrator.
  owner_id TEXT,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  -- Of whose runs: 'mine' or 'everyone'.
  whose TEXT NOT NULL,
  -- Only of this project's runs; NULL: of all.
  project_id TEXT REFERENCES projects (id) ON DELETE CASCADE,
  -- JSON array of 'waiting', 'failed', 'ended'.
  triggers TEXT NOT NULL,
  -- Where it goes, as it may be shown.
  target TEXT NOT NULL,
  -- Address, token and key as JSON, sealed: base64(nonce ‖ tag ‖ ciphertext).
  sealed TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  last_sent_at TEXT,
  last_error TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX notification_channels_owner ON notification_channels (owner_id);
CREATE INDEX notification_channels_project ON notification_channels (project_id);

-- Messages to channels, each until it is sent or has failed for good.
CREATE TABLE notification_deliveries (
  id TEXT PRIMARY KEY,
  channel_id TEXT NOT NULL REFERENCES notification_channels (id) ON DELETE CASCADE,
  -- Of the log; NULL for a test.
  event_id INTEGER,
  event TEXT NOT NULL,
  run_id TEXT,
  -- What is sent, as JSON.
  message TEXT NOT NULL,
  state TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  error TEXT,
  created_at TEXT NOT NULL,
  finished_at TEXT
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX notification_deliveries_event ON notification_deliveries (channel_id, event_id);
CREATE INDEX notification_deliveries_created ON notification_deliveries (created_at);
CREATE INDEX notification_deliveries_channel ON notification_deliveries (channel_id, id);

-- The last event that was examined for channels; after a start the later ones are examined.
CREATE TABLE notification_position (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  event_id INTEGER NOT NULL
) STRICT;
