-- A deactivated user's keys are inactive; the user, its balance and its orders stay.
ALTER TABLE users ADD COLUMN active INTEGER NOT NULL DEFAULT 1 CHECK (active IN (0, 1));

-- Inactive because its user is: it is active again once the user is.
ALTER TABLE keys ADD COLUMN suspended INTEGER NOT NULL DEFAULT 0
  CHECK (suspended IN (0, 1) AND (suspended = 0 OR active = 0));

-- What happened to one thing (the price history of a service), and what one operator did. Entries of keys are in the first
-- alone.
CREATE INDEX audit_by_subject ON audit (subject, seq);
CREATE INDEX audit_by_operator ON audit (operator, seq) WHERE operator IS NOT NULL;

-- Those who use the panel. A name stays with its person: it is in the audit log. Without a password an administrator has
-- been invited and has not answered yet.
CREATE TABLE administrators (
  name TEXT PRIMARY KEY NOT NULL CHECK (length(name) BETWEEN 1 AND 32),
  role TEXT NOT NULL CHECK (role IN ('support', 'operator', 'owner')),
  active INTEGER NOT NULL CHECK (active IN (0, 1)),
  -- argon2id with its parameters and its salt.
  password_hash TEXT,
  -- SHA-256 of the token of an open invitation.
  invitation_hash TEXT UNIQUE CHECK (length(invitation_hash) = 64),
  invited_until INTEGER,
  -- Base32. Offered: shown to its owner, who has not proved yet that an authenticator has it.
  totp_secret TEXT,
  offered_secret TEXT,
  -- The step of the last code that was taken: no code is taken twice.
  totp_step INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  signed_in_at INTEGER,
  CHECK ((invitation_hash IS NULL) = (invited_until IS NULL))
) STRICT, WITHOUT ROWID;

CREATE TRIGGER administrators_stay BEFORE DELETE ON administrators
BEGIN SELECT RAISE(ABORT, 'administrators are disabled, not deleted'); END;

-- Of the second factor: each works once.
CREATE TABLE recovery_codes (
  administrator TEXT NOT NULL REFERENCES administrators (name),
  -- SHA-256 of the code.
  hash TEXT NOT NULL CHECK (length(hash) = 64),
  PRIMARY KEY (administrator, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE panel_sessions (
  id TEXT PRIMARY KEY NOT NULL CHECK (length(id) >= 16),
  -- SHA-256 of the secret, which the browser alone has.
  hash TEXT NOT NULL CHECK (length(hash) = 64),
  administrator TEXT NOT NULL REFERENCES administrators (name),
  -- The password was right, the second factor is missing.
  awaits_code INTEGER NOT NULL CHECK (awaits_code IN (0, 1)),
  created_at INTEGER NOT NULL,
  -- Written at most once a minute.
  seen_at INTEGER NOT NULL,
  -- The last password or code.
  proved_at INTEGER NOT NULL,
  address TEXT NOT NULL,
  user_agent TEXT NOT NULL CHECK (length(user_agent) <= 200)
) STRICT, WITHOUT ROWID;

CREATE INDEX panel_sessions_by_administrator ON panel_sessions (administrator);

-- Each try with a password, a code or an invitation, from before it is judged; one that succeeds is deleted. So the rows
-- are the failures, and tries at the same time cannot pass the limit together.
CREATE TABLE sign_in_attempts (
  seq INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  address TEXT NOT NULL,
  -- The address, or the network of an IPv6 address.
  network TEXT NOT NULL,
  -- 32 bits of the hash of the name that was typed, for names that nobody has too: someone may type a password there.
  name_tag INTEGER NOT NULL,
  administrator TEXT REFERENCES administrators (name),
  user_agent TEXT NOT NULL CHECK (length(user_agent) <= 200)
) STRICT;

CREATE INDEX sign_in_attempts_by_network ON sign_in_attempts (network, at);
CREATE INDEX sign_in_attempts_by_name ON sign_in_attempts (name_tag, at);

-- What was confirmed, for a while: a form that is sent twice counts once.
CREATE TABLE confirmations (
  id TEXT PRIMARY KEY NOT NULL CHECK (length(id) BETWEEN 16 AND 64),
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
