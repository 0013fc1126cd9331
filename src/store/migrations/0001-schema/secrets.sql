CREATE TABLE secrets (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  description TEXT NOT NULL,
  secret_type TEXT NOT NULL CHECK (secret_type IN ('api_key', 'token', 'ssh_key', 'custom')),
  sealed TEXT NOT NULL,
  masked_preview TEXT NOT NULL,
  -- When and for whom its value was last read: as in the audit log, `agent:ID` or a part of the server.
  last_used_at TEXT,
  last_used_by TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE secret_grants (
  secret_id TEXT NOT NULL REFERENCES secrets (id) ON DELETE CASCADE,
  agent_id TEXT NOT NULL,
  granted_at TEXT NOT NULL,
  PRIMARY KEY (secret_id, agent_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX secret_grants_agent ON secret_grants (agent_id);

CREATE TABLE replaced_secrets (
  id TEXT PRIMARY KEY,
  secret_id TEXT NOT NULL REFERENCES secrets (id) ON DELETE CASCADE,
  sealed TEXT NOT NULL,
  replaced_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX replaced_secrets_secret ON replaced_secrets (secret_id, replaced_at);
CREATE INDEX replaced_secrets_at ON replaced_secrets (replaced_at);
