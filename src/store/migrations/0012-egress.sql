-- Connections that the programs of an execution made, or wanted to make, through the server's proxy.
CREATE TABLE egress_connections (
  id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  execution_id TEXT NOT NULL,
  run_id TEXT,
  agent_id TEXT NOT NULL,
  host TEXT NOT NULL,
  port INTEGER NOT NULL,
  verdict TEXT NOT NULL,
  reason TEXT,
  sent_bytes INTEGER NOT NULL,
  received_bytes INTEGER NOT NULL,
  started_at TEXT NOT NULL,
  duration_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX egress_connections_run ON egress_connections (run_id, id) WHERE run_id IS NOT NULL;
CREATE INDEX egress_connections_session ON egress_connections (session_id, id);
