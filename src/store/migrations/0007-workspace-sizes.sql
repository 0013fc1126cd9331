-- What the folders of runs and chats hold, as it was last measured, by the name of the folder.
CREATE TABLE workspace_sizes (
  name TEXT PRIMARY KEY,
  -- Whose run or chat it is; null: nobody's.
  user_id TEXT,
  files INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  measured_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX workspace_sizes_user ON workspace_sizes (user_id);
-- A chat that is deleted takes its files along.
CREATE TRIGGER workspace_sizes_of_sessions AFTER DELETE ON sessions BEGIN
  DELETE FROM workspace_sizes WHERE name = OLD.id;
END;
