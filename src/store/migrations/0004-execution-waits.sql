-- What an execution waits for the machine is not of its own time: waits that are over, in ms, and when the present one
-- began, ms since the epoch.
ALTER TABLE executions ADD COLUMN waited_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE executions ADD COLUMN waiting_since INTEGER;
