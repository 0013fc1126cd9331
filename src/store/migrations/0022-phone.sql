-- Bots of messengers, through which people are asked and answer.
CREATE TABLE messengers (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  -- Where it is, as it may be shown.
  target TEXT NOT NULL,
  -- Address and tokens as JSON, sealed.
  sealed TEXT NOT NULL,
  -- Digest of kind and token: a bot is read by one poller.
  token_hash TEXT NOT NULL,
  -- The bot's name in the messenger, once it was asked.
  account TEXT,
  enabled INTEGER NOT NULL,
  -- Where reading continues. Written with the effects of what was read.
  cursor TEXT,
  last_error TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX messengers_token ON messengers (token_hash);
CREATE UNIQUE INDEX messengers_name ON messengers (name);

-- What was read already: what a messenger sends again has no effect.
CREATE TABLE messenger_updates (
  -- The messenger's id, a colon, and the id of what it sent.
  id TEXT PRIMARY KEY,
  messenger_id TEXT NOT NULL REFERENCES messengers (id) ON DELETE CASCADE,
  at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX messenger_updates_messenger ON messenger_updates (messenger_id);
CREATE INDEX messenger_updates_at ON messenger_updates (at);

-- Channels of the kind 'messenger', and ntfy topics with buttons: the person who may answer there.
CREATE TABLE notification_links (
  channel_id TEXT PRIMARY KEY REFERENCES notification_channels (id) ON DELETE CASCADE,
  -- NULL: an ntfy topic.
  messenger_id TEXT REFERENCES messengers (id) ON DELETE CASCADE,
  -- Digest of the code that links a chat, until it is used.
  code_hash TEXT,
  code_expires_at TEXT,
  chat TEXT,
  sender TEXT,
  sender_name TEXT,
  linked_at TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX notification_links_chat ON notification_links (messenger_id, chat, sender);
CREATE UNIQUE INDEX notification_links_code ON notification_links (code_hash) WHERE code_hash IS NOT NULL;

-- Questions that messages ask.
CREATE TABLE notification_questions (
  id TEXT PRIMARY KEY,
  channel_id TEXT NOT NULL REFERENCES notification_channels (id) ON DELETE CASCADE,
  delivery_id TEXT NOT NULL REFERENCES notification_deliveries (id) ON DELETE CASCADE,
  -- 'step' or 'permission', with the id of what waits.
  kind TEXT NOT NULL,
  subject_id TEXT NOT NULL,
  run_id TEXT,
  -- The message's id in the messenger, once it was sent.
  message TEXT,
  -- What became of it; NULL while it waits.
  outcome TEXT,
  expires_at TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX notification_questions_delivery ON notification_questions (delivery_id);
CREATE INDEX notification_questions_message ON notification_questions (channel_id, message);
CREATE INDEX notification_questions_subject ON notification_questions (subject_id) WHERE outcome IS NULL;
CREATE INDEX notification_questions_run ON notification_questions (run_id) WHERE outcome IS NULL;

-- Buttons of such a message. Only digests of their tokens are kept.
CREATE TABLE notification_buttons (
  token_hash TEXT PRIMARY KEY,
  question_id TEXT NOT NULL REFERENCES notification_questions (id) ON DELETE CASCADE,
  answer TEXT NOT NULL,
  used_at TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX notification_buttons_question ON notification_buttons (question_id);
