-- What is known of the files below data/vaults. Made again from the files at any time.
CREATE TABLE memory_entries (
  vault TEXT NOT NULL,
  -- Path in the vault without `.md`.
  entry TEXT NOT NULL,
  title TEXT NOT NULL,
  type TEXT NOT NULL,
  -- User whose entry it is; NULL: everybody's for whom the agent works.
  owner_id TEXT,
  trusted INTEGER NOT NULL,
  pinned INTEGER NOT NULL,
  expires_at TEXT,
  superseded_by TEXT,
  -- JSON.
  tags TEXT NOT NULL,
  links TEXT NOT NULL,
  origin TEXT NOT NULL,
  problem TEXT,
  content TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  -- Of the whole text: an unchanged file is not indexed again.
  digest TEXT NOT NULL,
  PRIMARY KEY (vault, entry)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_entries_owner ON memory_entries (owner_id) WHERE owner_id IS NOT NULL;

-- Paragraphs of entries, by the row id that they have in the full-text index.
CREATE TABLE memory_units (
  id INTEGER PRIMARY KEY,
  vault TEXT NOT NULL,
  entry TEXT NOT NULL,
  position INTEGER NOT NULL
) STRICT;
CREATE INDEX memory_units_entry ON memory_units (vault, entry, position);

CREATE VIRTUAL TABLE memory_text USING fts5(text, title, about, tokenize = 'porter unicode61 remove_diacritics 2');

-- What paragraphs of memory mean, for search, where an embedding model is set.
CREATE TABLE memory_vectors (
  unit_id INTEGER PRIMARY KEY REFERENCES memory_units (id) ON DELETE CASCADE,
  -- provider/model that made it; another one's vectors say nothing to it.
  model TEXT NOT NULL,
  -- Float32, little-endian, of length 1.
  vector BLOB NOT NULL
) STRICT;

CREATE TABLE memory_scores (
  vault TEXT NOT NULL,
  entry TEXT NOT NULL,
  accesses INTEGER NOT NULL DEFAULT 0,
  useful INTEGER NOT NULL DEFAULT 0,
  not_useful INTEGER NOT NULL DEFAULT 0,
  -- Set by a person in the place of the one worked out.
  score REAL,
  last_accessed_at TEXT,
  PRIMARY KEY (vault, entry)
) STRICT, WITHOUT ROWID;

-- What an entry's file held before each change; NULL: there was no file.
CREATE TABLE memory_versions (
  id INTEGER PRIMARY KEY,
  vault TEXT NOT NULL,
  entry TEXT NOT NULL,
  before TEXT,
  -- Of the text that took its place; NULL: the file was removed.
  after_digest TEXT,
  execution_id TEXT,
  user_id TEXT,
  at TEXT NOT NULL
) STRICT;
CREATE INDEX memory_versions_entry ON memory_versions (vault, entry, id);
CREATE INDEX memory_versions_execution ON memory_versions (execution_id) WHERE execution_id IS NOT NULL;

-- What executions were given of memory.
CREATE TABLE memory_recalls (
  execution_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  vault TEXT NOT NULL,
  entry TEXT NOT NULL,
  trusted INTEGER NOT NULL,
  at TEXT NOT NULL,
  PRIMARY KEY (execution_id, vault, entry)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_recalls_session ON memory_recalls (session_id);
-- In which work an entry was recalled, newest first.
CREATE INDEX memory_recalls_entry ON memory_recalls (vault, entry, at, execution_id);

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

-- Pairs of entries that seem to say opposite things, for a person to look at. They go when one of the texts changes.
CREATE TABLE memory_contradictions (
  id TEXT PRIMARY KEY,
  vault TEXT NOT NULL,
  a TEXT NOT NULL,
  b TEXT NOT NULL,
  -- JSON: words that only one of the two says.
  a_says TEXT NOT NULL,
  b_says TEXT NOT NULL,
  found_at TEXT NOT NULL,
  -- A person said that both are true.
  settled INTEGER NOT NULL DEFAULT 0,
  UNIQUE (vault, a, b)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_contradictions_b ON memory_contradictions (vault, b);

-- When each vault was last gone through, and what it held then.
CREATE TABLE memory_consolidations (
  vault TEXT PRIMARY KEY,
  held TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
