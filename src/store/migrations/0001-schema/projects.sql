CREATE TABLE projects (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL COLLATE NOCASE UNIQUE,
  description TEXT NOT NULL,
  repository TEXT,
  default_branch TEXT,
  default_pipeline_id TEXT,
  -- Command line that says by its exit code whether the code works.
  check_command TEXT,
  status TEXT NOT NULL CHECK (status IN ('active', 'paused', 'archived')),
  vision TEXT,
  -- JSON array of {id, name, statuses[], wip_limit}; NULL: the shipped board.
  columns TEXT,
  workspace_state TEXT NOT NULL CHECK (workspace_state IN ('none', 'cloning', 'ready', 'failed')),
  workspace_error TEXT,
  workspace_head TEXT,
  fetch_before_run TEXT NOT NULL DEFAULT 'try',
  fetched_at TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX projects_workspace ON projects (workspace_state) WHERE workspace_state = 'cloning';
