-- What only the operator sees of a user: its e-mail address, and notes about it. No row: neither.
CREATE TABLE user_contacts (
  account bigint PRIMARY KEY REFERENCES users (account),
  email text COLLATE "C" CHECK (length(email) BETWEEN 3 AND 254),
  note text COLLATE "C" CHECK (length(note) BETWEEN 1 AND 2000)
);

CREATE INDEX user_contacts_by_email ON user_contacts (lower(email)) WHERE email IS NOT NULL;

CREATE FUNCTION user_contacts_stay_erased() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (SELECT erased_at FROM users WHERE account = NEW.account) IS NOT NULL THEN
    RAISE EXCEPTION 'an erased user has no e-mail address and no notes' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER user_contacts_stay_erased BEFORE INSERT ON user_contacts FOR EACH ROW
EXECUTE FUNCTION user_contacts_stay_erased();
