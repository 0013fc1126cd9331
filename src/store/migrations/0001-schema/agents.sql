CREATE TABLE tool_overrides (
  agent_id TEXT NOT NULL,
  tool TEXT NOT NULL,
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  updated_at TEXT NOT NULL,
  updated_by TEXT NOT NULL,
  PRIMARY KEY (agent_id, tool)
) STRICT, WITHOUT ROWID;
