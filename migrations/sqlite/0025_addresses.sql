-- An e-mail address belongs to the member who has accepted its invitation, and so has proved it. Several resellers may
-- invite one address. For this the table is made anew.
CREATE TABLE members_new (
  id TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 24),
  account INTEGER NOT NULL REFERENCES users (account),
  email TEXT NOT NULL COLLATE NOCASE CHECK (length(email) BETWEEN 3 AND 254),
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
  -- An address that the member wants instead, until a link proves it.
  new_email TEXT CHECK (length(new_email) BETWEEN 3 AND 254),
  -- SHA-256 of the token of that link. Null: it was not sent yet.
  new_email_hash TEXT UNIQUE CHECK (length(new_email_hash) = 64),
  new_email_until INTEGER,
  CHECK ((invitation_hash IS NULL) = (invited_until IS NULL)),
  CHECK ((new_email IS NULL) = (new_email_until IS NULL) AND (new_email IS NOT NULL OR new_email_hash IS NULL))
) STRICT, WITHOUT ROWID;
INSERT INTO members_new SELECT *, NULL, NULL, NULL FROM members;
DROP TABLE members;
ALTER TABLE members_new RENAME TO members;

CREATE UNIQUE INDEX members_by_email ON members (email) WHERE password_hash IS NOT NULL;
CREATE INDEX members_by_invited_email ON members (lower(email)) WHERE password_hash IS NULL;
CREATE INDEX members_by_account ON members (account);
CREATE INDEX members_by_age ON members (created_at);

CREATE TRIGGER members_stay BEFORE DELETE ON members
BEGIN SELECT RAISE(ABORT, 'members are disabled, not deleted'); END;

CREATE TRIGGER members_keep_identity BEFORE UPDATE OF id, account, created_at ON members
BEGIN SELECT RAISE(ABORT, 'a member stays with its reseller'); END;

-- Where the visitor came from, so that one network cannot take all places.
ALTER TABLE registrations ADD COLUMN network TEXT CHECK (length(network) BETWEEN 1 AND 100);
