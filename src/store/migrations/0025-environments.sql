-- The environment of a project's code that a person accepted: what its agents' sandboxes are started with.
CREATE TABLE project_environments (
  project_id TEXT NOT NULL PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
  definition TEXT NOT NULL,
  proposal_hash TEXT,
  accepted_at TEXT NOT NULL
) STRICT;
