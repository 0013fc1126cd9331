-- Old rows are found by their time when they are removed.
CREATE INDEX jobs_finished ON jobs (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX notifications_dismissed ON notifications (dismissed_at) WHERE dismissed_at IS NOT NULL;
CREATE INDEX tts_calls_created ON tts_calls (created_at);
CREATE INDEX agent_messages_created ON agent_messages (created_at);
CREATE INDEX codehost_deliveries_received ON codehost_deliveries (received_at);
