-- Keys that stand for a log-in, as the command line's do, end when the password changes.
ALTER TABLE api_keys ADD COLUMN kind TEXT NOT NULL DEFAULT 'key' CHECK (kind IN ('key', 'login'));
