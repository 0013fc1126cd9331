-- Documents that people hand in to be read by their agents.
CREATE TABLE documents (
  id TEXT PRIMARY KEY,
  -- Whose it is; NULL is the local administrator.
  user_id TEXT,
  -- Of a project, all who see that read it; NULL: its user alone.
  project_id TEXT REFERENCES projects (id) ON DELETE CASCADE,
  title TEXT NOT NULL,
  -- 1: by the user who handed it in, so what the file says of its title does not count.
  title_given INTEGER NOT NULL,
  -- Name of the file, `text` or `transcript`.
  source TEXT NOT NULL,
  media_type TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  -- The file in the store of contents.
  sha256 TEXT NOT NULL,
  status TEXT NOT NULL,
  error TEXT,
  pages INTEGER,
  sections INTEGER NOT NULL DEFAULT 0,
  chunks INTEGER NOT NULL DEFAULT 0,
  tokens INTEGER NOT NULL DEFAULT 0,
  job_id TEXT,
  -- Of a transcript: the session that works it up.
  session_id TEXT,
  created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX documents_user ON documents (user_id);
CREATE INDEX documents_project ON documents (project_id) WHERE project_id IS NOT NULL;
CREATE INDEX documents_content ON documents (sha256);

CREATE TABLE document_sections (
  document_id TEXT NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  -- Out of the title, so the same file has the same ones.
  section_id TEXT NOT NULL,
  level INTEGER NOT NULL,
  title TEXT NOT NULL,
  page INTEGER,
  text TEXT NOT NULL,
  PRIMARY KEY (document_id, position)
) STRICT;
CREATE UNIQUE INDEX document_sections_id ON document_sections (document_id, section_id);

-- Paragraphs of sections, by the row id that they have in the full-text index.
CREATE TABLE document_chunks (
  id INTEGER PRIMARY KEY,
  document_id TEXT NOT NULL,
  position INTEGER NOT NULL,
  FOREIGN KEY (document_id, position) REFERENCES document_sections (document_id, position) ON DELETE CASCADE
) STRICT;
CREATE INDEX document_chunks_section ON document_chunks (document_id, position);
CREATE TRIGGER document_chunks_gone AFTER DELETE ON document_chunks BEGIN
  DELETE FROM document_text WHERE rowid = OLD.id;
END;

CREATE VIRTUAL TABLE document_text USING fts5(text, heading, title, tokenize = 'porter unicode61 remove_diacritics 2');
