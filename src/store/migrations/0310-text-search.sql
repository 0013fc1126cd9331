-- Which three characters in a row occur in the texts that people search by. Rows have ids of their own, which a copy of the
-- database keeps; the newest have the highest.
CREATE TABLE run_texts (
  id INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL UNIQUE REFERENCES runs (id) ON DELETE CASCADE,
  -- As in `runs`, so that the runs of others are passed by without being read.
  created_by TEXT
) STRICT;
CREATE INDEX run_texts_of ON run_texts (created_by);
CREATE VIRTUAL TABLE run_trigrams USING fts5(text, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram');
CREATE TABLE task_texts (
  id INTEGER PRIMARY KEY,
  task_id TEXT NOT NULL UNIQUE REFERENCES tasks (id) ON DELETE CASCADE
) STRICT;
CREATE VIRTUAL TABLE task_trigrams USING fts5(text, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram');

INSERT INTO run_texts (run_id, created_by) SELECT id, created_by FROM runs ORDER BY id;
INSERT INTO run_trigrams (rowid, text)
  SELECT run_texts.id, concat_ws(char(10), task_description, pipeline_id, project_name, runs.id)
  FROM runs JOIN run_texts ON run_texts.run_id = runs.id;
INSERT INTO task_texts (task_id) SELECT id FROM tasks ORDER BY id;
INSERT INTO task_trigrams (rowid, text)
  SELECT task_texts.id, concat_ws(char(10), title, description, tasks.id)
  FROM tasks JOIN task_texts ON task_texts.task_id = tasks.id;

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
CREATE TRIGGER run_texts_removed AFTER DELETE ON run_texts BEGIN
  DELETE FROM run_trigrams WHERE rowid = OLD.id;
END;
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
CREATE TRIGGER task_texts_removed AFTER DELETE ON task_texts BEGIN
  DELETE FROM task_trigrams WHERE rowid = OLD.id;
END;
