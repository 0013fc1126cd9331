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

-- Logins. A revoked one is deleted, with its refresh tokens. Times are ms since the epoch.
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
  -- A login key stands for a log-in, as the command line's does, and ends when the password changes.
  kind TEXT NOT NULL DEFAULT 'key' CHECK (kind IN ('key', 'login')),
  hash TEXT NOT NULL UNIQUE,
  preview TEXT NOT NULL,
  scopes TEXT,
  expires_at TEXT,
  last_used_at TEXT,
  created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX api_keys_user ON api_keys (user_id);

-- Wrong passwords by account, whether there is such an account or not. Times are ms since the epoch.
CREATE TABLE login_failures (
  key TEXT PRIMARY KEY,
  failures INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  locked_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX login_failures_age ON login_failures (last_at);

CREATE TABLE oidc_providers (
  slug TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  issuer TEXT NOT NULL,
  client_id TEXT NOT NULL,
  client_secret_sealed TEXT,
  scopes TEXT NOT NULL,
  auto_create INTEGER NOT NULL CHECK (auto_create IN (0, 1)),
  allowed_domains TEXT NOT NULL,
  role_claim TEXT,
  admin_values TEXT NOT NULL,
  button TEXT NOT NULL,
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Accounts at providers, by issuer and subject: the slug of a provider may be given to another issuer later.
CREATE TABLE identities (
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  created_at TEXT NOT NULL,
  PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX identities_user ON identities (user_id);

CREATE TABLE waitlist (
  email TEXT PRIMARY KEY,
  created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX waitlist_age ON waitlist (created_at, email);
