-- In which work an entry was recalled, newest first.
CREATE INDEX memory_recalls_entry ON memory_recalls (vault, entry, at, execution_id);
