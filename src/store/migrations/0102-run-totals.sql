-- Running totals of runs and agents, kept by the database itself in the transaction that changes what they count.
ALTER TABLE runs ADD COLUMN cost_nano INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN tokens INTEGER NOT NULL DEFAULT 0;
UPDATE runs SET
  cost_nano = (SELECT coalesce(sum(cost_nano), 0) FROM executions WHERE run_id = runs.id),
  tokens = (SELECT coalesce(sum(tokens), 0) FROM executions WHERE run_id = runs.id);
CREATE TRIGGER executions_spend AFTER UPDATE OF cost_nano, tokens ON executions WHEN NEW.run_id IS NOT NULL
BEGIN
  UPDATE runs SET cost_nano = cost_nano + NEW.cost_nano - OLD.cost_nano, tokens = tokens + NEW.tokens - OLD.tokens
  WHERE id = NEW.run_id;
END;

-- In which runs an agent took a step, and how many those are.
CREATE TABLE run_agents (
  agent_id TEXT NOT NULL,
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  PRIMARY KEY (agent_id, run_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_agents_run ON run_agents (run_id);
CREATE TABLE agent_totals (
  agent_id TEXT PRIMARY KEY,
  runs INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER run_agents_added AFTER INSERT ON run_agents
BEGIN
  INSERT INTO agent_totals (agent_id, runs) VALUES (NEW.agent_id, 1)
  ON CONFLICT (agent_id) DO UPDATE SET runs = runs + 1;
END;
CREATE TRIGGER run_agents_removed AFTER DELETE ON run_agents
BEGIN
  UPDATE agent_totals SET runs = runs - 1 WHERE agent_id = OLD.agent_id;
END;
INSERT INTO run_agents (agent_id, run_id) SELECT DISTINCT agent_id, run_id FROM steps WHERE agent_id IS NOT NULL;
CREATE TRIGGER steps_of_agents AFTER INSERT ON steps WHEN NEW.agent_id IS NOT NULL
BEGIN
  INSERT OR IGNORE INTO run_agents (agent_id, run_id) VALUES (NEW.agent_id, NEW.run_id);
END;

CREATE INDEX executions_unfinished ON executions (agent_id) WHERE finished_at IS NULL;
CREATE INDEX runs_created ON runs (created_at);
CREATE INDEX runs_owner ON runs (created_by, id);
