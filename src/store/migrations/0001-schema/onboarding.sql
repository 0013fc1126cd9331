-- Onboardings. The owner, the transcript and the costs are the session's.
CREATE TABLE onboardings (
  session_id TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
  status TEXT NOT NULL,
  phase TEXT NOT NULL,
  -- JSON: what the interviewers found out.
  context TEXT NOT NULL,
  -- JSON array of ids of messages in which the server, not the person, speaks to an interviewer.
  cues TEXT NOT NULL,
  -- The project that was made; it may have been deleted since.
  project_id TEXT
) STRICT;
CREATE INDEX onboardings_active ON onboardings (session_id) WHERE status = 'active';
