-- Bytes of an eval's tasks and of the replies that it plays: they count to what its user has stored. The triggers keep it.
ALTER TABLE evals ADD COLUMN size_bytes INTEGER NOT NULL DEFAULT 0;
UPDATE evals SET size_bytes =
  (SELECT coalesce(sum(octet_length(task)), 0) FROM eval_tasks WHERE eval_id = evals.id) +
  (SELECT coalesce(sum(octet_length(turns)), 0) FROM eval_attempts WHERE eval_id = evals.id);
CREATE TRIGGER eval_task_stored AFTER INSERT ON eval_tasks
BEGIN
  UPDATE evals SET size_bytes = size_bytes + octet_length(NEW.task) WHERE id = NEW.eval_id;
END;
CREATE TRIGGER eval_turns_stored AFTER INSERT ON eval_attempts WHEN NEW.turns IS NOT NULL
BEGIN
  UPDATE evals SET size_bytes = size_bytes + octet_length(NEW.turns) WHERE id = NEW.eval_id;
END;
-- The replies go with the run that they were played in.
CREATE TRIGGER eval_turns_removed AFTER UPDATE OF turns ON eval_attempts WHEN OLD.turns IS NOT NEW.turns
BEGIN
  UPDATE evals SET size_bytes = size_bytes - coalesce(octet_length(OLD.turns), 0) + coalesce(octet_length(NEW.turns), 0)
  WHERE id = NEW.eval_id;
END;
