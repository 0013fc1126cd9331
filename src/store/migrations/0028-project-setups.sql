-- What set-ups of projects' code left: an image for later sandboxes, its log, and whether the project's check passed in it.
CREATE TABLE project_setups (
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  recipe TEXT NOT NULL,
  state TEXT NOT NULL,
  image TEXT,
  image_bytes INTEGER NOT NULL,
  commit_id TEXT NOT NULL,
  exit_code INTEGER,
  log TEXT NOT NULL,
  seconds REAL NOT NULL,
  made_at TEXT NOT NULL,
  used_at TEXT NOT NULL,
  check_command TEXT,
  check_exit_code INTEGER,
  check_log TEXT,
  check_commit TEXT,
  checked_at TEXT,
  PRIMARY KEY (project_id, key)
) STRICT;
