-- A SCIP index in the repository, which the code graph of a project takes in.
ALTER TABLE projects ADD COLUMN scip_path TEXT;
