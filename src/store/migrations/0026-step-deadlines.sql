ALTER TABLE steps ADD COLUMN deadline INTEGER;
UPDATE steps SET deadline = json_extract(data, '$.deadline') WHERE status = 'waiting';
CREATE INDEX steps_deadline ON steps (deadline) WHERE deadline IS NOT NULL AND status = 'waiting';
