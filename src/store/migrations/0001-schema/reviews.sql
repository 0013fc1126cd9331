-- Comments on what a run changed, of users and of reviewers on the code host.
CREATE TABLE run_comments (
  id TEXT PRIMARY KEY,
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  path TEXT,
  line INTEGER,
  side TEXT NOT NULL,
  quote TEXT,
  body TEXT NOT NULL,
  created_by TEXT,
  codehost_login TEXT,
  codehost_id TEXT,
  url TEXT,
  created_at TEXT NOT NULL,
  sent_at TEXT
) STRICT;
CREATE INDEX run_comments_of_run ON run_comments (run_id, id);
CREATE UNIQUE INDEX run_comments_codehost ON run_comments (run_id, codehost_id) WHERE codehost_id IS NOT NULL;
