-- Pictures of a step's app, made in its sandbox when the step ended.
CREATE TABLE screenshots (
  id TEXT NOT NULL PRIMARY KEY,
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  step_id TEXT NOT NULL,
  execution_id TEXT NOT NULL,
  path TEXT NOT NULL,
  width INTEGER NOT NULL,
  height INTEGER NOT NULL,
  size_bytes INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  png BLOB NOT NULL
) STRICT;
CREATE INDEX screenshots_run ON screenshots (run_id, id);
