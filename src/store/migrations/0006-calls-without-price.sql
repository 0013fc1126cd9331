-- How many model calls cost something that nobody knows, beside the sums of what calls cost.
ALTER TABLE executions ADD COLUMN calls_without_price INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN calls_without_price INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN calls_without_price INTEGER NOT NULL DEFAULT 0;
DROP TRIGGER executions_spend;
CREATE TRIGGER executions_spend AFTER UPDATE OF cost_nano, tokens, calls_without_price ON executions
WHEN NEW.run_id IS NOT NULL
BEGIN
  UPDATE runs SET cost_nano = cost_nano + NEW.cost_nano - OLD.cost_nano, tokens = tokens + NEW.tokens - OLD.tokens,
    calls_without_price = calls_without_price + NEW.calls_without_price - OLD.calls_without_price
  WHERE id = NEW.run_id;
END;
