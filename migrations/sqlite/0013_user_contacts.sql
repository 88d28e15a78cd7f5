-- What only the operator sees of a user: its e-mail address, and notes about it. No row: neither.
CREATE TABLE user_contacts (
  account INTEGER PRIMARY KEY REFERENCES users (account),
  email TEXT CHECK (length(email) BETWEEN 3 AND 254),
  note TEXT CHECK (length(note) BETWEEN 1 AND 2000)
) STRICT;

CREATE INDEX user_contacts_by_email ON user_contacts (lower(email)) WHERE email IS NOT NULL;

CREATE TRIGGER user_contacts_stay_erased BEFORE INSERT ON user_contacts
WHEN (SELECT erased_at FROM users WHERE account = NEW.account) IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'an erased user has no e-mail address and no notes'); END;
