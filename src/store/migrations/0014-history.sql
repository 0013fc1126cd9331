-- Deletions that were asked for. Each goes on after a restart until nothing is left of what it names.
CREATE TABLE deletions (
  id TEXT PRIMARY KEY,
  -- run, session, project, user; age where the settings asked for it.
  kind TEXT NOT NULL,
  -- Id of the run, session, project or user; NULL: of many.
  subject TEXT,
  -- Who asked: an actor as in the audit log.
  actor TEXT NOT NULL,
  -- NULL: it waits, and may still be cancelled.
  begun_at TEXT,
  created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What a deletion removes outside its own row: runs, sessions, contents of files, clones to repack.
CREATE TABLE deletion_items (
  deletion_id TEXT NOT NULL REFERENCES deletions (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('run', 'session', 'content', 'clone')),
  -- Id of the run, session or project; digest of the content.
  id TEXT NOT NULL,
  project_id TEXT,
  done INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (deletion_id, kind, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX deletion_items_left ON deletion_items (deletion_id, kind, id) WHERE done = 0;

-- Runs and chats that the settings for retention leave alone.
CREATE TABLE kept_history (
  id TEXT PRIMARY KEY,
  kept_by TEXT,
  kept_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What is removed with a run or a session is found by it.
CREATE INDEX agent_messages_session ON agent_messages (from_session_id);
CREATE INDEX notification_deliveries_run ON notification_deliveries (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX codehost_deliveries_run ON codehost_deliveries (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX sessions_run ON sessions (run_id) WHERE run_id IS NOT NULL;
-- Whether a definition is still needed.
CREATE INDEX runs_definition ON runs (definition_id);
CREATE INDEX sessions_root ON sessions (root_id);
-- The oldest runs and chats that have ended.
CREATE INDEX runs_finished ON runs (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX sessions_ended ON sessions (last_activity_at) WHERE run_id IS NULL AND parent_id IS NULL;
CREATE INDEX sessions_transcripts ON sessions (ended_at)
  WHERE ended_at IS NOT NULL AND kind <> 'chat' AND message_count > 0;
