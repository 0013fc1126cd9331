CREATE TABLE waitlist (
  email TEXT PRIMARY KEY,
  created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX waitlist_age ON waitlist (created_at, email);
