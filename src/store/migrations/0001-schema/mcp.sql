CREATE TABLE mcp_servers (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  -- stdio, http or sse.
  transport TEXT NOT NULL,
  command TEXT,
  -- JSON array.
  args TEXT NOT NULL,
  url TEXT,
  image TEXT,
  -- none or bridge.
  network TEXT NOT NULL,
  memory_mb INTEGER NOT NULL,
  -- Sealed JSON objects.
  sealed_env TEXT NOT NULL,
  sealed_headers TEXT NOT NULL,
  timeout_ms INTEGER NOT NULL,
  enabled INTEGER NOT NULL,
  -- JSON array of ids of agents; "*" is every agent.
  agents TEXT NOT NULL,
  -- stopped or error, as somebody said; NULL: nobody did.
  held TEXT,
  held_reason TEXT,
  -- When its first list of tools was taken as approved; NULL: not yet.
  pinned_at TEXT,
  -- Sealed JSON: what an authorization server gave us; NULL: nothing.
  sealed_tokens TEXT,
  -- Sealed JSON: the client registered by hand with that authorization server; NULL: none.
  sealed_oauth TEXT,
  -- off or defaults: how a form that it asks for during a call is answered.
  elicitation TEXT NOT NULL DEFAULT 'off',
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE mcp_tools (
  server_id TEXT NOT NULL REFERENCES mcp_servers (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  -- JSON: description, input_schema, … as last listed.
  offered TEXT NOT NULL,
  offered_hash TEXT NOT NULL,
  -- As approved; NULL: never.
  approved TEXT,
  approved_hash TEXT,
  -- Why it cannot be used; NULL: it can.
  problem TEXT,
  -- Whether the server's last list had it.
  listed INTEGER NOT NULL,
  seen_at TEXT NOT NULL,
  PRIMARY KEY (server_id, name)
) STRICT, WITHOUT ROWID;
