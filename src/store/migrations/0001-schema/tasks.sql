CREATE TABLE tasks (
  id TEXT PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  title TEXT NOT NULL,
  description TEXT NOT NULL,
  status TEXT NOT NULL,
  -- Status to go back to when what blocks it is gone; NULL unless it was blocked by a rule.
  blocked_from TEXT,
  -- 0 (p0, first) to 3.
  priority INTEGER NOT NULL,
  work_type TEXT,
  assigned_agent TEXT,
  -- ms since the epoch; NULL: not claimed.
  lease_until INTEGER,
  parent_id TEXT REFERENCES tasks (id) ON DELETE SET NULL,
  discovered_from TEXT REFERENCES tasks (id) ON DELETE SET NULL,
  tags TEXT NOT NULL,
  estimate_hours REAL,
  -- Order within its status, growing; not unique.
  position INTEGER NOT NULL,
  branch TEXT,
  run_id TEXT,
  completed_stages TEXT NOT NULL,
  metadata TEXT NOT NULL,
  created_by TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  finished_at TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX tasks_order ON tasks (project_id, position, id);
CREATE INDEX tasks_status ON tasks (project_id, status, position, id);
CREATE INDEX tasks_ready ON tasks (project_id, priority, position, id) WHERE status = 'ready';
CREATE INDEX tasks_parent ON tasks (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX tasks_run ON tasks (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX tasks_lease ON tasks (lease_until) WHERE lease_until IS NOT NULL;
CREATE TRIGGER task_texts_added AFTER INSERT ON tasks BEGIN
  INSERT INTO task_texts (task_id) VALUES (NEW.id);
  INSERT INTO task_trigrams (rowid, text)
    SELECT id, concat_ws(char(10), NEW.title, NEW.description, NEW.id) FROM task_texts WHERE task_id = NEW.id;
END;
CREATE TRIGGER task_texts_changed AFTER UPDATE OF title, description ON tasks
WHEN NEW.title <> OLD.title OR NEW.description <> OLD.description BEGIN
  DELETE FROM task_trigrams WHERE rowid = (SELECT id FROM task_texts WHERE task_id = NEW.id);
  INSERT INTO task_trigrams (rowid, text)
    SELECT id, concat_ws(char(10), NEW.title, NEW.description, NEW.id) FROM task_texts WHERE task_id = NEW.id;
END;

CREATE TABLE task_dependencies (
  task_id TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
  depends_on TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
  PRIMARY KEY (task_id, depends_on)
) STRICT, WITHOUT ROWID;
CREATE INDEX task_dependencies_of ON task_dependencies (depends_on);

CREATE TABLE task_history (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  task_id TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
  at TEXT NOT NULL,
  -- Who did it: a user's id, an execution, `rule` for what follows from another change.
  actor TEXT NOT NULL,
  change TEXT NOT NULL,
  from_status TEXT,
  to_status TEXT,
  note TEXT
) STRICT;
CREATE INDEX task_history_task ON task_history (task_id, id);

CREATE TABLE workflow_policies (
  project_id TEXT PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
  -- JSON object: stages by work type.
  rules TEXT NOT NULL,
  wait_for_merge INTEGER NOT NULL,
  updated_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Search in the texts of tasks, as in those of runs.
CREATE TABLE task_texts (
  id INTEGER PRIMARY KEY,
  task_id TEXT NOT NULL UNIQUE REFERENCES tasks (id) ON DELETE CASCADE
) STRICT;
CREATE TRIGGER task_texts_removed AFTER DELETE ON task_texts BEGIN
  DELETE FROM task_trigrams WHERE rowid = OLD.id;
END;

CREATE VIRTUAL TABLE task_trigrams USING fts5(text, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram');
