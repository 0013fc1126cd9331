-- What a project's check ran beside: another set of services is no reason to set up again, but one to check again.
ALTER TABLE project_setups ADD COLUMN check_beside TEXT;
