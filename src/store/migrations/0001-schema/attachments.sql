CREATE TABLE attachments (
  id TEXT PRIMARY KEY,
  -- Whose it is; NULL is the local administrator.
  user_id TEXT,
  filename TEXT NOT NULL,
  media_type TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  -- Hexadecimal; the file's name in the store.
  sha256 TEXT NOT NULL,
  -- Whether its text has been read, in the background.
  status TEXT NOT NULL DEFAULT 'ready',
  error TEXT,
  text_available INTEGER NOT NULL,
  -- Of the text in the store of contents; NULL: the file is text itself, or there is none.
  text_sha256 TEXT,
  created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX attachments_user ON attachments (user_id);
CREATE INDEX attachments_content ON attachments (sha256);
CREATE INDEX attachments_text ON attachments (text_sha256) WHERE text_sha256 IS NOT NULL;

-- What holds an attachment; what nothing holds is removed after a day.
CREATE TABLE attachment_holds (
  attachment_id TEXT NOT NULL REFERENCES attachments (id) ON DELETE CASCADE,
  session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  PRIMARY KEY (attachment_id, session_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX attachment_holds_session ON attachment_holds (session_id);
