-- The test side: what test keys do goes to accounts of its own, beside the resellers'. Its cash and sales accounts mirror
-- 1 and 2, so that users' accounts stay the numbers above 2.
INSERT INTO accounts (account, kind) VALUES (-1, 'cash'), (-2, 'sales');

-- Delivers every test order, inside this process. No operator can name it: a provider's name has no colon.
INSERT INTO providers (provider_id, name, protocol, url, key, created_at)
VALUES (0, 'test:sandbox', 'sandbox', 'https://sandbox.invalid', 'none', 0);

-- Of a test account: the user's own account, beside which it is. Null: it is no test account.
ALTER TABLE users ADD COLUMN test_of bigint REFERENCES users (account);

CREATE UNIQUE INDEX users_by_test_of ON users (test_of) WHERE test_of IS NOT NULL;

CREATE FUNCTION users_test_of_a_user() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.parent_account IS NOT NULL OR (SELECT test_of IS NOT NULL FROM users WHERE account = NEW.test_of) THEN
    RAISE EXCEPTION 'a test account is that of a user, and has no parent' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER users_test_of_a_user BEFORE INSERT ON users FOR EACH ROW
WHEN (NEW.test_of IS NOT NULL) EXECUTE FUNCTION users_test_of_a_user();

CREATE TRIGGER users_keep_side BEFORE UPDATE OF test_of ON users FOR EACH ROW
EXECUTE FUNCTION refuse('a test account stays one');

-- Of a test key: test_of of its account, so that a request needs no second row.
ALTER TABLE keys ADD COLUMN test_of bigint REFERENCES users (account);

CREATE FUNCTION keys_have_their_accounts_side() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.test_of IS DISTINCT FROM (SELECT test_of FROM users WHERE account = NEW.reseller_account) THEN
    RAISE EXCEPTION 'a test key belongs to a test account, any other to none' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER keys_have_their_accounts_side BEFORE INSERT ON keys FOR EACH ROW
EXECUTE FUNCTION keys_have_their_accounts_side();

CREATE TRIGGER keys_keep_side BEFORE UPDATE OF reseller_account, test_of ON keys FOR EACH ROW
EXECUTE FUNCTION refuse('a key keeps its account');
