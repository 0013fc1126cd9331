-- What a queued execution waits for besides its turn, e.g. a container engine that does not answer.
ALTER TABLE executions ADD COLUMN waits_for TEXT;
