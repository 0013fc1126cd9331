CREATE TABLE harness_logins (
  user_id TEXT NOT NULL,
  harness TEXT NOT NULL,
  sealed_login TEXT NOT NULL,
  masked_login TEXT NOT NULL,
  agents TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  last_used_at TEXT,
  PRIMARY KEY (user_id, harness)
) STRICT, WITHOUT ROWID;
