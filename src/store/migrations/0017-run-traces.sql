-- The trace that a run belongs to where its caller named one, as the header `traceparent` writes it.
CREATE TABLE run_traces (
  run_id TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
  traceparent TEXT NOT NULL
) STRICT, WITHOUT ROWID;
