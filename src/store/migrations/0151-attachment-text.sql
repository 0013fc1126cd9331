-- The text that was read out of a file, in the background.
ALTER TABLE attachments ADD COLUMN status TEXT NOT NULL DEFAULT 'ready';
ALTER TABLE attachments ADD COLUMN error TEXT;
-- Of the text in the store of contents; NULL: the file is text itself, or there is none.
ALTER TABLE attachments ADD COLUMN text_sha256 TEXT;
CREATE INDEX attachments_text ON attachments (text_sha256) WHERE text_sha256 IS NOT NULL;
