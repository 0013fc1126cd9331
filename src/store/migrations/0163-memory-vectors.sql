-- What paragraphs of memory mean, for search, where an embedding model is set.
CREATE TABLE memory_vectors (
  unit_id INTEGER PRIMARY KEY REFERENCES memory_units (id) ON DELETE CASCADE,
  -- provider/model that made it; another one's vectors say nothing to it.
  model TEXT NOT NULL,
  -- Float32, little-endian, of length 1.
  vector BLOB NOT NULL
) STRICT;
