-- People of resellers, who use the portal. Rows stay, because audit log and orders name them. A member without a password
-- has not accepted the invitation yet.
CREATE TABLE members (
  id TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 24),
  account INTEGER NOT NULL REFERENCES users (account),
  email TEXT NOT NULL COLLATE NOCASE UNIQUE CHECK (length(email) BETWEEN 3 AND 254),
  name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  role TEXT NOT NULL CHECK (role IN ('viewer', 'developer', 'buyer', 'owner')),
  language TEXT NOT NULL CHECK (length(language) BETWEEN 2 AND 10),
  -- IANA name, such as Europe/Madrid.
  time_zone TEXT NOT NULL CHECK (length(time_zone) BETWEEN 1 AND 64),
  -- The kinds of e-mails that the member wants, separated by commas.
  mails TEXT NOT NULL CHECK (length(mails) <= 200),
  active INTEGER NOT NULL CHECK (active IN (0, 1)),
  -- The columns below as in administrators.
  password_hash TEXT,
  invitation_hash TEXT UNIQUE CHECK (length(invitation_hash) = 64),
  invited_until INTEGER,
  totp_secret TEXT,
  offered_secret TEXT,
  totp_step INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  signed_in_at INTEGER,
  CHECK ((invitation_hash IS NULL) = (invited_until IS NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX members_by_account ON members (account);

CREATE TRIGGER members_stay BEFORE DELETE ON members
BEGIN SELECT RAISE(ABORT, 'members are disabled, not deleted'); END;

CREATE TRIGGER members_keep_identity BEFORE UPDATE OF id, account, created_at ON members
BEGIN SELECT RAISE(ABORT, 'a member stays with its reseller'); END;

CREATE TABLE member_recovery_codes (
  member TEXT NOT NULL REFERENCES members (id),
  hash TEXT NOT NULL CHECK (length(hash) = 64),
  PRIMARY KEY (member, hash)
) STRICT, WITHOUT ROWID;

-- Sessions of the portal, as in panel_sessions.
CREATE TABLE member_sessions (
  id TEXT PRIMARY KEY NOT NULL CHECK (length(id) >= 16),
  hash TEXT NOT NULL CHECK (length(hash) = 64),
  member TEXT NOT NULL REFERENCES members (id),
  awaits_code INTEGER NOT NULL CHECK (awaits_code IN (0, 1)),
  created_at INTEGER NOT NULL,
  seen_at INTEGER NOT NULL,
  proved_at INTEGER NOT NULL,
  address TEXT NOT NULL,
  user_agent TEXT NOT NULL CHECK (length(user_agent) <= 200),
  failures INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0)
) STRICT, WITHOUT ROWID;

CREATE INDEX member_sessions_by_member ON member_sessions (member);

CREATE TABLE member_networks (
  member TEXT NOT NULL REFERENCES members (id),
  network TEXT NOT NULL,
  signed_in_at INTEGER NOT NULL,
  PRIMARY KEY (member, network)
) STRICT, WITHOUT ROWID;

-- As in sign_in_attempts.
CREATE TABLE member_attempts (
  seq INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  address TEXT NOT NULL,
  network TEXT NOT NULL,
  name_tag INTEGER NOT NULL,
  member TEXT REFERENCES members (id),
  user_agent TEXT NOT NULL CHECK (length(user_agent) <= 200)
) STRICT;

CREATE INDEX member_attempts_by_network ON member_attempts (network, at);
CREATE INDEX member_attempts_by_name ON member_attempts (name_tag, at);

-- Visitors who asked for an account and wait for the operator. A row is deleted once it is decided.
CREATE TABLE registrations (
  id TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 24),
  email TEXT NOT NULL COLLATE NOCASE UNIQUE CHECK (length(email) BETWEEN 3 AND 254),
  name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  language TEXT NOT NULL CHECK (length(language) BETWEEN 2 AND 10),
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX registrations_by_age ON registrations (created_at);

-- What the portal allows to a reseller, where it differs from the defaults.
CREATE TABLE portal_settings (
  account INTEGER PRIMARY KEY REFERENCES users (account),
  active INTEGER NOT NULL DEFAULT 1 CHECK (active IN (0, 1)),
  -- The most powerful keys that members may create.
  keys TEXT NOT NULL DEFAULT 'order' CHECK (keys IN ('order', 'recharge', 'full')),
  -- Members are told of a balance below this. Null: never.
  low_balance_micros INTEGER CHECK (low_balance_micros > 0)
) STRICT;

-- Requests are also made by members, who have no key. The check of key_id changes, for which the table is made anew.
CREATE TABLE order_requests_new (
  request_id INTEGER PRIMARY KEY CHECK (request_id BETWEEN 1 AND 9007199254740991),
  id TEXT NOT NULL UNIQUE CHECK (length(id) = 24),
  order_id INTEGER NOT NULL REFERENCES orders (order_id),
  reseller_account INTEGER NOT NULL REFERENCES users (account),
  kind TEXT NOT NULL CHECK (kind = 'cancel' OR kind = 'refill'),
  -- `sent` is committed before the call to the provider.
  state TEXT NOT NULL CHECK (
    state = 'requested' OR state = 'sent' OR state = 'accepted' OR state = 'declined' OR state = 'done'
  ),
  -- Who decides. Null: the operator.
  provider_id INTEGER REFERENCES providers (provider_id),
  -- Sent with an unknown outcome. It is never sent again, and the operator settles it.
  unknown INTEGER NOT NULL DEFAULT 0 CHECK (unknown IN (0, 1) AND (unknown = 0 OR state = 'sent')),
  -- The server that is sending it.
  server TEXT CHECK (server IS NULL OR (state = 'sent' AND unknown = 0)),
  -- The provider's number for the refill.
  provider_refill TEXT CHECK (provider_refill IS NULL OR kind = 'refill'),
  -- When it is sent, or when the provider is asked for the state of the refill.
  next_at INTEGER CHECK (
    next_at IS NULL
    OR (provider_id IS NOT NULL AND (state = 'requested' OR (state = 'accepted' AND provider_refill IS NOT NULL)))
  ),
  -- How often it was certainly not sent.
  tries INTEGER NOT NULL DEFAULT 0 CHECK (tries >= 0),
  -- The reason, for the operator, with the provider's key masked.
  note TEXT,
  key_id TEXT REFERENCES keys (id),
  created_at INTEGER NOT NULL,
  -- When it may have been sent.
  sent_at INTEGER CHECK (sent_at IS NULL OR provider_id IS NOT NULL),
  changed_at INTEGER NOT NULL,
  -- The member that made it, if no key did.
  operator TEXT,
  CHECK (state <> 'requested' OR (sent_at IS NULL AND (provider_id IS NULL) = (next_at IS NULL))),
  CHECK (state <> 'sent' OR sent_at IS NOT NULL),
  CHECK ((key_id IS NULL) <> (operator IS NULL))
) STRICT;
INSERT INTO order_requests_new SELECT *, NULL FROM order_requests;
DROP TABLE order_requests;
ALTER TABLE order_requests_new RENAME TO order_requests;

-- One open request of each kind for an order.
CREATE UNIQUE INDEX order_requests_open ON order_requests (order_id, kind)
  WHERE state = 'requested' OR state = 'sent' OR state = 'accepted';
CREATE INDEX order_requests_by_order ON order_requests (order_id, request_id);
CREATE INDEX order_requests_due ON order_requests (provider_id, next_at) WHERE next_at IS NOT NULL;
CREATE INDEX order_requests_listed ON order_requests (request_id)
  WHERE state = 'requested' OR state = 'sent' OR state = 'accepted';

CREATE TRIGGER order_requests_keep_identity
BEFORE UPDATE OF request_id, id, order_id, reseller_account, kind, key_id, operator, created_at ON order_requests
BEGIN SELECT RAISE(ABORT, 'a request keeps what it asks for'); END;

CREATE TRIGGER order_requests_are_kept BEFORE DELETE ON order_requests
BEGIN SELECT RAISE(ABORT, 'requests are never deleted'); END;

-- Only what was certainly not sent is sent again.
CREATE TRIGGER order_requests_go_forward BEFORE UPDATE ON order_requests
WHEN (OLD.state = 'declined' OR OLD.state = 'done'
    OR (OLD.state = 'accepted' AND (NEW.state = 'requested' OR NEW.state = 'sent'))
    OR (OLD.unknown = 1 AND (NEW.state = 'requested' OR (NEW.state = 'sent' AND NEW.unknown = 0))))
  AND NOT (NEW.note IS NULL AND NEW.state = OLD.state AND NEW.provider_id IS OLD.provider_id AND NEW.unknown = OLD.unknown
    AND NEW.server IS OLD.server AND NEW.provider_refill IS OLD.provider_refill AND NEW.next_at IS OLD.next_at
    AND NEW.tries = OLD.tries AND NEW.sent_at IS OLD.sent_at AND NEW.changed_at = OLD.changed_at
    AND (SELECT erased_at FROM users WHERE account = OLD.reseller_account) IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'a request is sent once, and what became of it is kept'); END;
