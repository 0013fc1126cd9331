-- Counts the changes of runs that have ended: what was made from such a run and its steps is current while its version is.
ALTER TABLE runs ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
CREATE TRIGGER runs_version AFTER UPDATE ON runs WHEN OLD.finished_at IS NOT NULL BEGIN
  UPDATE runs SET version = OLD.version + 1 WHERE id = NEW.id;
END;
CREATE TRIGGER steps_version AFTER UPDATE OF status, superseded ON steps BEGIN
  UPDATE runs SET version = version + 1 WHERE id = NEW.run_id AND finished_at IS NOT NULL;
END;
