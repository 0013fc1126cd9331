-- A Dockerfile as it was accepted, and the images that the steps of its build left.
ALTER TABLE project_environments ADD COLUMN dockerfile TEXT;
ALTER TABLE project_setups ADD COLUMN steps TEXT NOT NULL DEFAULT '[]';
