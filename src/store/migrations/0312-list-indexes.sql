-- What lists are narrowed by, each with the order in which a list is read.
CREATE INDEX runs_task ON runs (task_id, id) WHERE task_id IS NOT NULL;
CREATE INDEX sessions_kind ON sessions (kind, id);
CREATE INDEX sessions_live ON sessions (id) WHERE ended_at IS NULL;
CREATE INDEX llm_calls_of_user ON llm_calls (user_id, id);
CREATE INDEX llm_calls_of_agent ON llm_calls (agent_id, id);
CREATE INDEX llm_calls_provider ON llm_calls (provider, id);
CREATE INDEX llm_calls_model ON llm_calls (model, id);
CREATE INDEX tts_calls_provider ON tts_calls (provider, id);
CREATE INDEX notification_deliveries_channel ON notification_deliveries (channel_id, id);
CREATE INDEX audit_actor ON audit (actor, id);
CREATE INDEX audit_action ON audit (action);
CREATE INDEX notifications_open ON notifications (id) WHERE dismissed_at IS NULL;
CREATE INDEX events_timeline_agent ON events (agent_id, id) WHERE agent_id IS NOT NULL
  AND kind IN ('session_started', 'session_ended', 'turn_ended', 'step_complete', 'step_failed', 'activity');
CREATE INDEX events_timeline_kind ON events (kind, id) WHERE agent_id IS NOT NULL
  AND kind IN ('session_started', 'session_ended', 'turn_ended', 'step_complete', 'step_failed', 'activity');
