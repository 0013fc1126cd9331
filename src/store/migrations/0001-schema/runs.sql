CREATE TABLE runs (
  id TEXT PRIMARY KEY,
  pipeline_id TEXT NOT NULL,
  definition_id TEXT NOT NULL,
  task_description TEXT NOT NULL,
  human_context TEXT,
  inputs TEXT NOT NULL DEFAULT '{}',
  model TEXT,
  project_id TEXT,
  project_name TEXT,
  task_id TEXT,
  status TEXT NOT NULL,
  outputs TEXT NOT NULL DEFAULT '{}',
  error TEXT,
  branch TEXT,
  -- Commit that its branch began from, which its diff is taken against.
  base_commit TEXT,
  -- Why its project could not be brought up to date before it.
  workspace_notice TEXT,
  -- The last merge: what the target became, the target, and the commit of its branch that was merged.
  merged_commit TEXT,
  merged_into TEXT,
  merged_head TEXT,
  created_by TEXT,
  budget_usd REAL,
  -- Sums over its executions, kept by the trigger executions_spend.
  cost_nano INTEGER NOT NULL DEFAULT 0,
  tokens INTEGER NOT NULL DEFAULT 0,
  restarted_from TEXT,
  created_at TEXT NOT NULL,
  started_at TEXT,
  finished_at TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_pipeline ON runs (pipeline_id, id);
CREATE INDEX runs_status ON runs (status);
CREATE INDEX runs_project ON runs (project_id, id) WHERE project_id IS NOT NULL;
CREATE INDEX runs_created ON runs (created_at);
CREATE INDEX runs_owner ON runs (created_by, id);
CREATE INDEX runs_task ON runs (task_id, id) WHERE task_id IS NOT NULL;
CREATE TRIGGER run_texts_added AFTER INSERT ON runs BEGIN
  INSERT INTO run_texts (run_id, created_by) VALUES (NEW.id, NEW.created_by);
  INSERT INTO run_trigrams (rowid, text)
    SELECT id, concat_ws(char(10), NEW.task_description, NEW.pipeline_id, NEW.project_name, NEW.id)
    FROM run_texts WHERE run_id = NEW.id;
END;
CREATE TRIGGER run_texts_owner AFTER UPDATE OF created_by ON runs BEGIN
  UPDATE run_texts SET created_by = NEW.created_by WHERE run_id = NEW.id;
END;
CREATE TRIGGER run_texts_changed AFTER UPDATE OF task_description, pipeline_id, project_name ON runs BEGIN
  DELETE FROM run_trigrams WHERE rowid = (SELECT id FROM run_texts WHERE run_id = NEW.id);
  INSERT INTO run_trigrams (rowid, text)
    SELECT id, concat_ws(char(10), NEW.task_description, NEW.pipeline_id, NEW.project_name, NEW.id)
    FROM run_texts WHERE run_id = NEW.id;
END;

-- Definitions of pipelines as runs began with them, each text once.
CREATE TABLE run_definitions (
  id TEXT PRIMARY KEY,
  definition TEXT NOT NULL
) STRICT;

-- Every attempt of a step is a row.
CREATE TABLE steps (
  id TEXT PRIMARY KEY,
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  step_id TEXT NOT NULL,
  position INTEGER NOT NULL,
  item_index INTEGER,
  attempt INTEGER NOT NULL,
  max_attempts INTEGER NOT NULL,
  visit INTEGER NOT NULL,
  status TEXT NOT NULL,
  agent_id TEXT,
  inputs TEXT NOT NULL DEFAULT '{}',
  outputs TEXT NOT NULL DEFAULT '{}',
  text TEXT NOT NULL DEFAULT '',
  error TEXT,
  model TEXT,
  session_id TEXT,
  execution_id TEXT,
  superseded INTEGER NOT NULL DEFAULT 0,
  -- When a person's time to answer is over, ms since the epoch.
  deadline INTEGER,
  data TEXT NOT NULL DEFAULT '{}',
  created_at TEXT NOT NULL,
  started_at TEXT,
  finished_at TEXT
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX steps_run ON steps (run_id, position);
CREATE INDEX steps_session ON steps (session_id) WHERE session_id IS NOT NULL;
CREATE INDEX steps_deadline ON steps (deadline) WHERE deadline IS NOT NULL AND status = 'waiting';
-- Steps that wait for a person or were answered by one: few of many.
CREATE INDEX steps_of_people ON steps (status, id) WHERE agent_id IS NULL;
CREATE TRIGGER steps_of_agents AFTER INSERT ON steps WHEN NEW.agent_id IS NOT NULL
BEGIN
  INSERT OR IGNORE INTO run_agents (agent_id, run_id) VALUES (NEW.agent_id, NEW.run_id);
END;

-- In which runs an agent took a step; agent_totals counts them. The database keeps both with each step.
CREATE TABLE run_agents (
  agent_id TEXT NOT NULL,
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  PRIMARY KEY (agent_id, run_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_agents_run ON run_agents (run_id);
CREATE TRIGGER run_agents_added AFTER INSERT ON run_agents
BEGIN
  INSERT INTO agent_totals (agent_id, runs) VALUES (NEW.agent_id, 1)
  ON CONFLICT (agent_id) DO UPDATE SET runs = runs + 1;
END;
CREATE TRIGGER run_agents_removed AFTER DELETE ON run_agents
BEGIN
  UPDATE agent_totals SET runs = runs - 1 WHERE agent_id = OLD.agent_id;
END;

CREATE TABLE agent_totals (
  agent_id TEXT PRIMARY KEY,
  runs INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Search in the texts of runs, by any three characters in a row. Rows have ids of their own, since VACUUM renumbers rowids;
-- the newest have the highest.
CREATE TABLE run_texts (
  id INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL UNIQUE REFERENCES runs (id) ON DELETE CASCADE,
  -- As in `runs`, so that the runs of others are passed by without being read.
  created_by TEXT
) STRICT;
CREATE INDEX run_texts_of ON run_texts (created_by);
CREATE TRIGGER run_texts_removed AFTER DELETE ON run_texts BEGIN
  DELETE FROM run_trigrams WHERE rowid = OLD.id;
END;

CREATE VIRTUAL TABLE run_trigrams USING fts5(text, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram');
