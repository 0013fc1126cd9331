-- What a person's pages remember: values by name.
CREATE TABLE preferences (
  -- NULL is the local administrator.
  user_id TEXT REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  -- JSON.
  value TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX preferences_name ON preferences (coalesce(user_id, ''), name);
CREATE INDEX preferences_user ON preferences (user_id);
