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

-- Who signed on is identified by issuer and subject; a slug may come to mean another issuer.
CREATE TABLE identities (
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  created_at TEXT NOT NULL,
  PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX identities_user ON identities (user_id);
