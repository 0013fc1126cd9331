CREATE TABLE users (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL UNIQUE,
  display_name TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('admin', 'user')),
  active INTEGER NOT NULL CHECK (active IN (0, 1)),
  password_hash TEXT,
  totp_sealed TEXT,
  totp_enabled INTEGER NOT NULL CHECK (totp_enabled IN (0, 1)),
  totp_last_step INTEGER NOT NULL,
  last_login_at TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE recovery_codes (
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  hash TEXT NOT NULL,
  PRIMARY KEY (user_id, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE auth_sessions (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('bearer', 'cookie')),
  cookie_hash TEXT UNIQUE,
  address TEXT,
  user_agent TEXT,
  oidc_slug TEXT,
  id_token_sealed TEXT,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX auth_sessions_user ON auth_sessions (user_id);
CREATE INDEX auth_sessions_expiry ON auth_sessions (expires_at);

CREATE TABLE refresh_tokens (
  hash TEXT PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES auth_sessions (id) ON DELETE CASCADE,
  used_at INTEGER,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX refresh_tokens_session ON refresh_tokens (session_id);

CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  preview TEXT NOT NULL,
  scopes TEXT,
  expires_at TEXT,
  last_used_at TEXT,
  created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX api_keys_user ON api_keys (user_id);

CREATE TABLE login_failures (
  key TEXT PRIMARY KEY,
  failures INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  locked_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX login_failures_age ON login_failures (last_at);
