CREATE TABLE replaced_secrets (
  id TEXT PRIMARY KEY,
  secret_id TEXT NOT NULL REFERENCES secrets (id) ON DELETE CASCADE,
  sealed TEXT NOT NULL,
  replaced_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX replaced_secrets_secret ON replaced_secrets (secret_id, replaced_at);
CREATE INDEX replaced_secrets_at ON replaced_secrets (replaced_at);
