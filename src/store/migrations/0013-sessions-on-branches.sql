-- Sessions that work on a branch of their project, as runs do.
-- The session in whose working copy it works: itself, or the one that handed the work on. NULL: its run's, or a folder of its own.
ALTER TABLE sessions ADD COLUMN work_id TEXT;
-- Of the session whose working copy it is, as in runs.
ALTER TABLE sessions ADD COLUMN branch TEXT;
ALTER TABLE sessions ADD COLUMN base_commit TEXT;
ALTER TABLE sessions ADD COLUMN workspace_notice TEXT;
ALTER TABLE sessions ADD COLUMN merged_commit TEXT;
ALTER TABLE sessions ADD COLUMN merged_into TEXT;
ALTER TABLE sessions ADD COLUMN merged_head TEXT;
CREATE INDEX sessions_work ON sessions (work_id) WHERE work_id IS NOT NULL;
CREATE INDEX sessions_on_branches ON sessions (user_id, id) WHERE branch IS NOT NULL;

-- Comments belong to what made the change: a run or such a session.
CREATE TABLE change_comments (
  id TEXT PRIMARY KEY,
  run_id TEXT REFERENCES runs (id) ON DELETE CASCADE,
  session_id TEXT REFERENCES sessions (id) ON DELETE CASCADE,
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
  sent_at TEXT,
  answer TEXT,
  answered_by TEXT,
  answered_at TEXT,
  CHECK ((run_id IS NULL) <> (session_id IS NULL))
) STRICT;
INSERT INTO change_comments (id, run_id, path, line, side, quote, body, created_by, codehost_login, codehost_id, url,
    created_at, sent_at, answer, answered_by, answered_at)
  SELECT id, run_id, path, line, side, quote, body, created_by, codehost_login, codehost_id, url,
    created_at, sent_at, answer, answered_by, answered_at FROM run_comments;
DROP TABLE run_comments;
CREATE INDEX change_comments_of_run ON change_comments (run_id, id) WHERE run_id IS NOT NULL;
CREATE INDEX change_comments_of_session ON change_comments (session_id, id) WHERE session_id IS NOT NULL;
CREATE UNIQUE INDEX change_comments_codehost ON change_comments (run_id, codehost_id) WHERE codehost_id IS NOT NULL;
