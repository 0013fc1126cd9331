-- What an agent answered to a comment that the run was sent back with.
ALTER TABLE run_comments ADD COLUMN answer TEXT;
ALTER TABLE run_comments ADD COLUMN answered_by TEXT;
ALTER TABLE run_comments ADD COLUMN answered_at TEXT;

-- Sums of a day's calls by project, kept when the calls are pruned. project_id is '' where a call belongs to none.
CREATE TABLE usage_projects (
  day TEXT NOT NULL,
  user_id TEXT NOT NULL,
  project_id TEXT NOT NULL,
  calls INTEGER NOT NULL,
  cost_nano INTEGER NOT NULL,
  calls_without_price INTEGER NOT NULL,
  PRIMARY KEY (day, user_id, project_id)
) STRICT, WITHOUT ROWID;
INSERT INTO usage_projects
  SELECT substr(created_at, 1, 10), coalesce(user_id, 'nobody'), coalesce(project_id, ''),
    count(*), coalesce(sum(cost_nano), 0), sum(cost_nano IS NULL)
  FROM llm_calls GROUP BY 1, 2, 3;

-- How a day's runs ended, and what they have cost in all. The triggers keep it; it stays when runs are removed.
CREATE TABLE run_days (
  day TEXT NOT NULL,
  user_id TEXT NOT NULL,
  succeeded INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  cancelled INTEGER NOT NULL,
  cost_nano INTEGER NOT NULL,
  calls_without_price INTEGER NOT NULL,
  PRIMARY KEY (day, user_id)
) STRICT, WITHOUT ROWID;
INSERT INTO run_days
  SELECT substr(finished_at, 1, 10), coalesce(created_by, 'nobody'), sum(status = 'succeeded'), sum(status = 'failed'),
    sum(status = 'cancelled'), sum(cost_nano), sum(calls_without_price)
  FROM runs WHERE finished_at IS NOT NULL GROUP BY 1, 2;
-- Before it is counted as it is now, what it counted as before is taken off: a restarted run has not ended.
CREATE TRIGGER run_days_changed
AFTER UPDATE OF status, finished_at, created_by, cost_nano, calls_without_price ON runs
WHEN OLD.finished_at IS NOT NULL OR NEW.finished_at IS NOT NULL
BEGIN
  UPDATE run_days SET succeeded = succeeded - (OLD.status = 'succeeded'), failed = failed - (OLD.status = 'failed'),
    cancelled = cancelled - (OLD.status = 'cancelled'), cost_nano = cost_nano - OLD.cost_nano,
    calls_without_price = calls_without_price - OLD.calls_without_price
  WHERE day = substr(OLD.finished_at, 1, 10) AND user_id = coalesce(OLD.created_by, 'nobody');
  INSERT INTO run_days
    SELECT substr(NEW.finished_at, 1, 10), coalesce(NEW.created_by, 'nobody'), NEW.status = 'succeeded',
      NEW.status = 'failed', NEW.status = 'cancelled', NEW.cost_nano, NEW.calls_without_price
    WHERE NEW.finished_at IS NOT NULL
  ON CONFLICT (day, user_id) DO UPDATE SET succeeded = succeeded + excluded.succeeded, failed = failed + excluded.failed,
    cancelled = cancelled + excluded.cancelled, cost_nano = cost_nano + excluded.cost_nano,
    calls_without_price = calls_without_price + excluded.calls_without_price;
END;

-- When agents were at work in a span of time.
CREATE INDEX executions_started ON executions (started_at) WHERE started_at IS NOT NULL;
