ALTER TABLE projects ADD COLUMN fetch_before_run TEXT NOT NULL DEFAULT 'try';
ALTER TABLE projects ADD COLUMN fetched_at TEXT;
-- Commit that the run's branch began from; what its diff is taken against.
ALTER TABLE runs ADD COLUMN base_commit TEXT;
-- Why its project could not be brought up to date before it.
ALTER TABLE runs ADD COLUMN workspace_notice TEXT;
-- The last merge: what the target became, the target, and the commit of the run's branch that was taken in.
ALTER TABLE runs ADD COLUMN merged_commit TEXT;
ALTER TABLE runs ADD COLUMN merged_into TEXT;
ALTER TABLE runs ADD COLUMN merged_head TEXT;
