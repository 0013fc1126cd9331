CREATE TABLE cookie_sets (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  -- User whose cookies they are; NULL is the local administrator.
  owner_id TEXT,
  -- JSON array, in order.
  domains TEXT NOT NULL,
  cookie_count INTEGER NOT NULL,
  -- Latest expiry of a cookie, RFC 3339; NULL when one lasts as long as its session.
  expires_at TEXT,
  -- The cookies as JSON, sealed.
  sealed TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX cookie_sets_name ON cookie_sets (ifnull(owner_id, ''), name);

CREATE TABLE cookie_grants (
  cookie_set_id TEXT NOT NULL REFERENCES cookie_sets (id) ON DELETE CASCADE,
  agent_id TEXT NOT NULL,
  granted_at TEXT NOT NULL,
  PRIMARY KEY (cookie_set_id, agent_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX cookie_grants_agent ON cookie_grants (agent_id);
