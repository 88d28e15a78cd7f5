-- E-mails: queued in the transaction of what they tell of. A row holds neither text nor link: both are made when it is
-- sent.
CREATE TABLE mails (
  mail_id INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE CHECK (length(id) = 28),
  kind TEXT NOT NULL CHECK (length(kind) BETWEEN 1 AND 40),
  -- The reseller and its member. Null: the operator, or a visitor without an account.
  account INTEGER REFERENCES users (account),
  member TEXT REFERENCES members (id),
  -- The address at the last attempt; before it, when the mail was queued.
  email TEXT NOT NULL CHECK (length(email) BETWEEN 3 AND 254),
  -- What the text tells, as a JSON object.
  data TEXT NOT NULL CHECK (json_type(data) = 'object'),
  -- `dropped`: no longer wanted when it was due.
  state TEXT NOT NULL CHECK (state IN ('waiting', 'sending', 'sent', 'failed', 'dropped')),
  -- When the next attempt is due; while sending, when the lease ends.
  due_at INTEGER,
  -- The server that is sending it.
  server TEXT,
  attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  tried_at INTEGER,
  -- Why the last attempt failed: a word, and what the mail server answered.
  error TEXT CHECK (length(error) BETWEEN 1 AND 40),
  reply TEXT CHECK (length(reply) <= 300),
  created_at INTEGER NOT NULL,
  ended_at INTEGER,
  CHECK ((account IS NULL) = (member IS NULL)),
  CHECK ((due_at IS NOT NULL) = (state = 'waiting' OR state = 'sending')),
  CHECK ((server IS NOT NULL) = (state = 'sending')),
  CHECK ((ended_at IS NULL) = (state = 'waiting' OR state = 'sending'))
) STRICT;

CREATE INDEX mails_due ON mails (due_at, mail_id) WHERE due_at IS NOT NULL;
CREATE INDEX mails_failed ON mails (mail_id) WHERE state = 'failed';
CREATE INDEX mails_by_email ON mails (email, tried_at) WHERE tried_at IS NOT NULL;
CREATE INDEX mails_by_member ON mails (member, kind, created_at) WHERE member IS NOT NULL;
CREATE INDEX mails_by_account ON mails (account) WHERE account IS NOT NULL;
CREATE INDEX mails_ended ON mails (ended_at) WHERE ended_at IS NOT NULL;

CREATE TRIGGER mails_are_sent_once BEFORE UPDATE ON mails WHEN OLD.state = 'sent'
BEGIN SELECT RAISE(ABORT, 'a mail that was sent is not changed'); END;

CREATE TRIGGER mails_keep_identity BEFORE UPDATE OF mail_id, id, kind, account, member, data, created_at ON mails
BEGIN SELECT RAISE(ABORT, 'a mail keeps what it tells'); END;

-- Whether servers send e-mails, and the address of the operator. Written when a server starts.
CREATE TABLE mail_settings (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  active INTEGER NOT NULL CHECK (active IN (0, 1)),
  operator TEXT CHECK (length(operator) BETWEEN 3 AND 254)
) STRICT;

INSERT INTO mail_settings VALUES (1, 0, NULL);

-- Visitors whose account is opened once they have proved their address by a link. Null: the operator decides.
ALTER TABLE registrations ADD COLUMN confirm_hash TEXT CHECK (length(confirm_hash) = 64);
ALTER TABLE registrations ADD COLUMN confirm_until INTEGER CHECK (confirm_until IS NOT NULL OR confirm_hash IS NULL);
CREATE UNIQUE INDEX registrations_by_confirmation ON registrations (confirm_hash);
CREATE INDEX registrations_confirmable ON registrations (confirm_until) WHERE confirm_until IS NOT NULL;
