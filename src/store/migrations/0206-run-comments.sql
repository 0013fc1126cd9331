CREATE TABLE run_comments (
  id TEXT PRIMARY KEY,
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  path TEXT NOT NULL,
  line INTEGER,
  side TEXT NOT NULL,
  quote TEXT,
  body TEXT NOT NULL,
  created_by TEXT,
  created_at TEXT NOT NULL,
  sent_at TEXT
) STRICT;
CREATE INDEX run_comments_of_run ON run_comments (run_id, id);
