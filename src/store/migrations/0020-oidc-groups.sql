-- Groups of a provider of single sign-on give roles in projects. A list of {group, project_id, role}.
ALTER TABLE oidc_providers ADD COLUMN group_claim TEXT NOT NULL DEFAULT 'groups';
ALTER TABLE oidc_providers ADD COLUMN group_roles TEXT NOT NULL DEFAULT '[]';
-- The provider whose group made somebody a member; null: somebody did by hand.
ALTER TABLE project_members ADD COLUMN provider TEXT;
