-- What was noted of a user outside of runs and sessions goes with the user.
CREATE INDEX events_user ON events (user_id) WHERE user_id IS NOT NULL AND run_id IS NULL AND session_id IS NULL;
