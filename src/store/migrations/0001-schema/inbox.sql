-- What agents wrote to each other, in one user's work.
CREATE TABLE agent_messages (
  id TEXT PRIMARY KEY,
  user_id TEXT,
  to_agent TEXT NOT NULL,
  from_agent TEXT NOT NULL,
  from_session_id TEXT NOT NULL,
  text TEXT NOT NULL,
  hops INTEGER NOT NULL,
  outside INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  read_at TEXT,
  read_execution_id TEXT
) STRICT;
CREATE INDEX agent_messages_inbox ON agent_messages (to_agent, user_id, id);
CREATE INDEX agent_messages_unread ON agent_messages (to_agent, user_id) WHERE read_at IS NULL;
CREATE INDEX agent_messages_read ON agent_messages (read_execution_id) WHERE read_execution_id IS NOT NULL;
CREATE INDEX agent_messages_sent ON agent_messages (from_agent, user_id, created_at);
