CREATE TABLE providers (
  id TEXT PRIMARY KEY,
  name TEXT,
  kind TEXT,
  base_url TEXT,
  enabled INTEGER NOT NULL,
  sealed_key TEXT,
  masked_key TEXT,
  key_base_url TEXT,
  models TEXT NOT NULL,
  seen_models TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE user_provider_keys (
  user_id TEXT NOT NULL,
  provider_id TEXT NOT NULL,
  sealed_key TEXT NOT NULL,
  masked_key TEXT NOT NULL,
  key_base_url TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (user_id, provider_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX user_provider_keys_provider ON user_provider_keys (provider_id);
