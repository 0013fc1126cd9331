-- What the calls of a day and of an hour add up to, kept with each call. user_id is nobody where they belong to no user.
CREATE TABLE usage_days (
  day TEXT NOT NULL,
  user_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  calls INTEGER NOT NULL,
  errors INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cache_read_tokens INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  reasoning_tokens INTEGER NOT NULL,
  cost_nano INTEGER NOT NULL,
  calls_without_price INTEGER NOT NULL,
  PRIMARY KEY (day, user_id, agent_id, provider, model)
) STRICT, WITHOUT ROWID;
CREATE TABLE usage_hours (
  hour TEXT NOT NULL,
  user_id TEXT NOT NULL,
  calls INTEGER NOT NULL,
  errors INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cache_read_tokens INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  reasoning_tokens INTEGER NOT NULL,
  cost_nano INTEGER NOT NULL,
  calls_without_price INTEGER NOT NULL,
  PRIMARY KEY (hour, user_id)
) STRICT, WITHOUT ROWID;
INSERT INTO usage_days
  SELECT substr(created_at, 1, 10), coalesce(user_id, 'nobody'), agent_id, provider, model, count(*), count(error_code), sum(input_tokens), sum(output_tokens), sum(cache_read_tokens),
    sum(cache_write_tokens), sum(reasoning_tokens), coalesce(sum(cost_nano), 0), count(*) - count(cost_nano)
  FROM llm_calls GROUP BY 1, 2, 3, 4, 5;
INSERT INTO usage_hours
  SELECT substr(created_at, 1, 13), coalesce(user_id, 'nobody'), count(*), count(error_code), sum(input_tokens), sum(output_tokens), sum(cache_read_tokens),
    sum(cache_write_tokens), sum(reasoning_tokens), coalesce(sum(cost_nano), 0), count(*) - count(cost_nano)
  FROM llm_calls GROUP BY 1, 2;
CREATE INDEX llm_calls_errors ON llm_calls (id) WHERE error_code IS NOT NULL;
