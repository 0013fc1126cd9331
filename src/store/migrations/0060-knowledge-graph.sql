CREATE TABLE index_jobs (
  job_id TEXT PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
  project_id TEXT NOT NULL,
  force INTEGER NOT NULL,
  cause TEXT NOT NULL CHECK (cause IN ('request', 'workspace', 'resumed')),
  phases TEXT NOT NULL,
  cancelled INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX index_jobs_project ON index_jobs (project_id, job_id);
