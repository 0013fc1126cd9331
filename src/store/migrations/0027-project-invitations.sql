-- Invitations to projects. Of a token only its digest is kept. They go with the project, and with the account that made them.
CREATE TABLE project_invitations (
  id TEXT NOT NULL PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  role TEXT NOT NULL CHECK (role IN ('viewer', 'contributor', 'maintainer', 'owner')),
  hash TEXT NOT NULL UNIQUE,
  uses INTEGER NOT NULL DEFAULT 0,
  max_uses INTEGER NOT NULL,
  created_by TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  created_at TEXT NOT NULL,
  expires_at TEXT NOT NULL,
  revoked_at TEXT
) STRICT;
CREATE INDEX project_invitations_project ON project_invitations (project_id, id);
CREATE INDEX project_invitations_user ON project_invitations (created_by);
CREATE INDEX project_invitations_expiry ON project_invitations (expires_at);
