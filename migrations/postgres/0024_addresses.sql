-- An e-mail address belongs to the member who has accepted its invitation, and so has proved it. Several resellers may
-- invite one address.
DROP INDEX members_by_email;
CREATE UNIQUE INDEX members_by_email ON members (lower(email)) WHERE password_hash IS NOT NULL;
CREATE INDEX members_by_invited_email ON members (lower(email)) WHERE password_hash IS NULL;

-- An address that the member wants instead, until a link proves it.
ALTER TABLE members ADD COLUMN new_email text COLLATE "C" CHECK (length(new_email) BETWEEN 3 AND 254);
-- SHA-256 of the token of that link. Null: it was not sent yet.
ALTER TABLE members ADD COLUMN new_email_hash text COLLATE "C" UNIQUE CHECK (length(new_email_hash) = 64);
ALTER TABLE members ADD COLUMN new_email_until bigint;
ALTER TABLE members ADD CHECK (
  (new_email IS NULL) = (new_email_until IS NULL) AND (new_email IS NOT NULL OR new_email_hash IS NULL)
);

-- Where the visitor came from, so that one network cannot take all places.
ALTER TABLE registrations ADD COLUMN network text COLLATE "C" CHECK (length(network) BETWEEN 1 AND 100);
