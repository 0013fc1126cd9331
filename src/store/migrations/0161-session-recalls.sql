-- What a session's prompts hold of memory: chosen once, so that the words before a chat stay the same.
CREATE TABLE memory_session_recalls (
  session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  -- Several agents may work in one session, one after another.
  agent_id TEXT NOT NULL,
  text TEXT NOT NULL,
  -- JSON: vault and path of each entry in it.
  entries TEXT NOT NULL,
  PRIMARY KEY (session_id, agent_id)
) STRICT, WITHOUT ROWID;
