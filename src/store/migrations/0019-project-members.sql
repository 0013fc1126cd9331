-- Who may see a project that is not everybody's, and who may do what there. A project without a row here is open to all
-- accounts. Rows outlive their project until its history is deleted: what ran in it stays as closed as it was.
CREATE TABLE project_access (
  project_id TEXT NOT NULL PRIMARY KEY,
  access TEXT NOT NULL CHECK (access IN ('members', 'personal'))
) STRICT, WITHOUT ROWID;

CREATE TABLE project_members (
  project_id TEXT NOT NULL,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  role TEXT NOT NULL CHECK (role IN ('viewer', 'contributor', 'maintainer', 'owner')),
  -- 'hand': somebody added them; 'oidc': a group of theirs at single sign-on did, and its end takes it away.
  source TEXT NOT NULL DEFAULT 'hand' CHECK (source IN ('hand', 'oidc')),
  added_by TEXT,
  created_at TEXT NOT NULL,
  PRIMARY KEY (project_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX project_members_user ON project_members (user_id, project_id);
