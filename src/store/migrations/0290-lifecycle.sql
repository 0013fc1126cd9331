-- What agents did, for the timeline: few of the events, in the order in which they are read.
CREATE INDEX events_timeline ON events (id) WHERE agent_id IS NOT NULL
  AND kind IN ('session_started', 'session_ended', 'turn_ended', 'step_complete', 'step_failed', 'activity');
