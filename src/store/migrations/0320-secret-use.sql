-- When and for whom a secret's value was last read.
ALTER TABLE secrets ADD COLUMN last_used_at TEXT;
-- As in the audit log: `agent:ID`, or the part of the server that read it.
ALTER TABLE secrets ADD COLUMN last_used_by TEXT;
