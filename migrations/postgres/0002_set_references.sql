-- The references of the three tables that every order writes, checked once for all rows of a statement instead of by a
-- foreign key's trigger for each row: those took half of the database's processor time of an order.
-- docs/decisions/0051-references-checked-by-statement.md
-- Only inserts are checked: none of these columns can be updated (orders_keep_terms, transfers_append_only,
-- idempotency_keeps_its_effect). Values that many rows share are looked up once; each look-up is a scalar subquery, which is
-- always a search of the index: a join could
-- be planned as a scan of the whole table, and a plan is kept.

ALTER TABLE orders
  DROP CONSTRAINT orders_reseller_account_fkey,
  DROP CONSTRAINT orders_service_id_fkey,
  DROP CONSTRAINT orders_provider_id_fkey;

CREATE FUNCTION orders_refer_to_rows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM (SELECT DISTINCT reseller_account AS account FROM added) AS used
      WHERE used.account IS NOT NULL AND (SELECT 1 FROM users WHERE users.account = used.account) IS NULL)
    OR EXISTS (SELECT FROM (SELECT DISTINCT service_id AS id FROM added) AS used
      WHERE used.id IS NOT NULL AND (SELECT 1 FROM services WHERE services.id = used.id) IS NULL)
    OR EXISTS (SELECT FROM (SELECT DISTINCT provider_id FROM added) AS used
      WHERE used.provider_id IS NOT NULL AND (SELECT 1 FROM providers WHERE providers.provider_id = used.provider_id) IS NULL)
  THEN
    RAISE EXCEPTION 'an order refers to a missing row' USING ERRCODE = 'foreign_key_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER orders_refer_to_rows AFTER INSERT ON orders REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION orders_refer_to_rows();

ALTER TABLE transfers
  DROP CONSTRAINT transfers_debit_account_fkey,
  DROP CONSTRAINT transfers_credit_account_fkey,
  DROP CONSTRAINT transfers_order_id_fkey,
  DROP CONSTRAINT transfers_key_id_fkey;

CREATE FUNCTION transfers_refer_to_rows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM (SELECT debit_account AS account FROM added UNION SELECT credit_account AS account FROM added) AS used
      WHERE used.account IS NOT NULL AND (SELECT 1 FROM accounts WHERE accounts.account = used.account) IS NULL)
    OR EXISTS (SELECT FROM added
      WHERE order_id IS NOT NULL AND (SELECT 1 FROM orders WHERE orders.order_id = added.order_id) IS NULL)
    OR EXISTS (SELECT FROM (SELECT DISTINCT key_id AS id FROM added) AS used
      WHERE used.id IS NOT NULL AND (SELECT 1 FROM keys WHERE keys.id = used.id) IS NULL)
  THEN
    RAISE EXCEPTION 'a transfer refers to a missing row' USING ERRCODE = 'foreign_key_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER transfers_refer_to_rows AFTER INSERT ON transfers REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION transfers_refer_to_rows();

ALTER TABLE idempotency
  DROP CONSTRAINT idempotency_reseller_account_fkey,
  DROP CONSTRAINT idempotency_order_id_fkey,
  DROP CONSTRAINT idempotency_transfer_seq_fkey;

CREATE FUNCTION idempotency_refers_to_rows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM (SELECT DISTINCT reseller_account AS account FROM added) AS used
      WHERE used.account IS NOT NULL AND (SELECT 1 FROM users WHERE users.account = used.account) IS NULL)
    OR EXISTS (SELECT FROM added
      WHERE order_id IS NOT NULL AND (SELECT 1 FROM orders WHERE orders.order_id = added.order_id) IS NULL)
    OR EXISTS (SELECT FROM added
      WHERE transfer_seq IS NOT NULL AND (SELECT 1 FROM transfers WHERE transfers.seq = added.transfer_seq) IS NULL)
  THEN
    RAISE EXCEPTION 'an idempotency record refers to a missing row' USING ERRCODE = 'foreign_key_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER idempotency_refers_to_rows AFTER INSERT ON idempotency REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION idempotency_refers_to_rows();

-- The other side: a row that is referred to stays, and keeps its key. Users, orders and transfers do so by triggers of
-- their own. The lock waits for inserts in flight, whose rows no other transaction sees, and keeps out later ones.
CREATE FUNCTION services_stay_referred_to() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  LOCK TABLE orders IN SHARE ROW EXCLUSIVE MODE;
  IF EXISTS (SELECT FROM orders WHERE service_id = OLD.id) THEN
    RAISE EXCEPTION 'orders refer to a row of services' USING ERRCODE = 'foreign_key_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER services_deleted AFTER DELETE ON services FOR EACH ROW
EXECUTE FUNCTION services_stay_referred_to();
CREATE TRIGGER services_renumbered AFTER UPDATE OF id ON services FOR EACH ROW
WHEN (NEW.id <> OLD.id) EXECUTE FUNCTION services_stay_referred_to();

CREATE FUNCTION providers_stay_referred_to() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  LOCK TABLE orders IN SHARE ROW EXCLUSIVE MODE;
  IF EXISTS (SELECT FROM orders WHERE provider_id = OLD.provider_id) THEN
    RAISE EXCEPTION 'orders refer to a row of providers' USING ERRCODE = 'foreign_key_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER providers_deleted AFTER DELETE ON providers FOR EACH ROW
EXECUTE FUNCTION providers_stay_referred_to();
CREATE TRIGGER providers_renumbered AFTER UPDATE OF provider_id ON providers FOR EACH ROW
WHEN (NEW.provider_id <> OLD.provider_id) EXECUTE FUNCTION providers_stay_referred_to();

CREATE FUNCTION keys_stay_referred_to() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  LOCK TABLE transfers IN SHARE ROW EXCLUSIVE MODE;
  IF EXISTS (SELECT FROM transfers WHERE key_id = OLD.id) THEN
    RAISE EXCEPTION 'transfers refer to a row of keys' USING ERRCODE = 'foreign_key_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER keys_deleted AFTER DELETE ON keys FOR EACH ROW
EXECUTE FUNCTION keys_stay_referred_to();
CREATE TRIGGER keys_renumbered AFTER UPDATE OF id ON keys FOR EACH ROW
WHEN (NEW.id <> OLD.id) EXECUTE FUNCTION keys_stay_referred_to();

CREATE FUNCTION accounts_stay_referred_to() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  LOCK TABLE transfers IN SHARE ROW EXCLUSIVE MODE;
  IF EXISTS (SELECT FROM transfers WHERE OLD.account IN (debit_account, credit_account)) THEN
    RAISE EXCEPTION 'transfers refer to a row of accounts' USING ERRCODE = 'foreign_key_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER accounts_deleted AFTER DELETE ON accounts FOR EACH ROW
EXECUTE FUNCTION accounts_stay_referred_to();
CREATE TRIGGER accounts_renumbered AFTER UPDATE OF account ON accounts FOR EACH ROW
WHEN (NEW.account <> OLD.account) EXECUTE FUNCTION accounts_stay_referred_to();
