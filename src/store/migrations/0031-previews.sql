-- Apps of steps that can be looked at. A row is there as long as its preview is: it goes when the sandbox does.
CREATE TABLE previews (
  id TEXT NOT NULL PRIMARY KEY,
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  step_id TEXT NOT NULL,
  execution_id TEXT NOT NULL,
  port INTEGER NOT NULL,
  path TEXT NOT NULL,
  created_at TEXT NOT NULL,
  kept_until TEXT
) STRICT;
CREATE INDEX previews_run ON previews (run_id, id);
