-- What the program of an external agent calls its session: with it, the work continues after a crash or at the next turn.
ALTER TABLE executions ADD COLUMN harness_session TEXT;
