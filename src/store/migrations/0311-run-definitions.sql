-- Definitions of pipelines as runs began with them, each text once. Those of older runs are called after the first of them.
CREATE TABLE run_definitions (
  id TEXT PRIMARY KEY,
  definition TEXT NOT NULL
) STRICT;
INSERT INTO run_definitions (id, definition) SELECT min(id), definition FROM runs GROUP BY definition;
CREATE UNIQUE INDEX run_definitions_text ON run_definitions (definition);
ALTER TABLE runs ADD COLUMN definition_id TEXT NOT NULL DEFAULT '';
UPDATE runs SET definition_id = (SELECT id FROM run_definitions WHERE definition = runs.definition);
DROP INDEX run_definitions_text;
ALTER TABLE runs DROP COLUMN definition;
