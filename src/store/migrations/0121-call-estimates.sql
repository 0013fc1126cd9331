ALTER TABLE llm_calls ADD COLUMN estimated INTEGER NOT NULL DEFAULT 0;
-- Counts that cannot be were taken as providers gave them.
UPDATE llm_calls SET estimated = 1,
    input_tokens = min(max(input_tokens, 0), 1000000000000), output_tokens = min(max(output_tokens, 0), 1000000000000),
    cache_read_tokens = min(max(cache_read_tokens, 0), 1000000000000),
    cache_write_tokens = min(max(cache_write_tokens, 0), 1000000000000),
    reasoning_tokens = min(max(reasoning_tokens, 0), 1000000000000), cost_nano = max(cost_nano, 0)
  WHERE min(input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, coalesce(cost_nano, 0)) < 0
    OR max(input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens) > 1000000000000;
UPDATE usage_days SET input_tokens = max(input_tokens, 0), output_tokens = max(output_tokens, 0),
  cache_read_tokens = max(cache_read_tokens, 0), cache_write_tokens = max(cache_write_tokens, 0),
  reasoning_tokens = max(reasoning_tokens, 0), cost_nano = max(cost_nano, 0);
UPDATE usage_hours SET input_tokens = max(input_tokens, 0), output_tokens = max(output_tokens, 0),
  cache_read_tokens = max(cache_read_tokens, 0), cache_write_tokens = max(cache_write_tokens, 0),
  reasoning_tokens = max(reasoning_tokens, 0), cost_nano = max(cost_nano, 0);
