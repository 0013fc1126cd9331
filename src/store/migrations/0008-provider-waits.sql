-- Until when an execution waits for a provider whose quota is used up, ms since the epoch; and the model call that is under
-- way, so that a killed server leaves a row for what it may have cost.
ALTER TABLE executions ADD COLUMN provider_until INTEGER;
ALTER TABLE executions ADD COLUMN calling TEXT;
