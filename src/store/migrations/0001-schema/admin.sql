CREATE TABLE notifications (
  id TEXT PRIMARY KEY,
  key TEXT NOT NULL,
  level TEXT NOT NULL CHECK (level IN ('info', 'warning', 'error')),
  title TEXT NOT NULL,
  detail TEXT,
  user_id TEXT,
  times INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  dismissed_at TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX notifications_key ON notifications (key, id);
CREATE INDEX notifications_open ON notifications (id) WHERE dismissed_at IS NULL;

CREATE TABLE api_usage (
  day TEXT NOT NULL,
  method TEXT NOT NULL,
  route TEXT NOT NULL,
  status INTEGER NOT NULL,
  caller TEXT NOT NULL,
  requests INTEGER NOT NULL,
  total_ms REAL NOT NULL,
  max_ms REAL NOT NULL,
  PRIMARY KEY (day, method, route, status, caller)
) STRICT, WITHOUT ROWID;
