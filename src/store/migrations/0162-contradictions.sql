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
