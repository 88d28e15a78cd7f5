-- What was imported from another panel. The row exists from the first import on. Orders with numbers up to
-- orders_through were imported; orders that are placed here have higher numbers.
CREATE TABLE panel_import (
  id bigint PRIMARY KEY CHECK (id = 1),
  orders_through bigint NOT NULL CHECK (orders_through BETWEEN 0 AND 9007199254740991),
  started_at bigint NOT NULL,
  -- When an import last ran to its end. Null: none has.
  finished_at bigint
);

CREATE TRIGGER panel_import_only_grows BEFORE UPDATE ON panel_import FOR EACH ROW
WHEN (NEW.orders_through < OLD.orders_through)
EXECUTE FUNCTION refuse('the numbers of imported orders only grow');

CREATE TRIGGER panel_import_stays BEFORE DELETE ON panel_import FOR EACH ROW
EXECUTE FUNCTION refuse('an import stays recorded');

-- Users by their id in the other panel, each with the balance that it brought along.
CREATE TABLE imported_users (
  source text COLLATE "C" PRIMARY KEY CHECK (length(source) BETWEEN 1 AND 64),
  account bigint NOT NULL UNIQUE REFERENCES users (account),
  balance_micros bigint NOT NULL CHECK (balance_micros BETWEEN 0 AND 9007199254740991)
);

CREATE TRIGGER imported_users_are_kept BEFORE UPDATE ON imported_users FOR EACH ROW
EXECUTE FUNCTION refuse('an import stays recorded');

CREATE TRIGGER imported_users_stay BEFORE DELETE ON imported_users FOR EACH ROW
EXECUTE FUNCTION refuse('an import stays recorded');

-- Numbers of services that were imported.
CREATE TABLE imported_services (
  number bigint PRIMARY KEY CHECK (number BETWEEN 1 AND 9007199254740991)
);

-- Orders that ended in the other panel, under their numbers there. They moved no money here.
CREATE TABLE past_orders (
  order_id bigint PRIMARY KEY CHECK (order_id BETWEEN 1 AND 9007199254740991),
  reseller_account bigint NOT NULL REFERENCES users (account),
  service_number bigint NOT NULL CHECK (service_number >= 1),
  service_name text COLLATE "C" NOT NULL CHECK (length(service_name) >= 1),
  link text COLLATE "C" NOT NULL CHECK (length(link) >= 1),
  quantity bigint NOT NULL CHECK (quantity BETWEEN 1 AND 1000000000),
  -- What it cost there in the end.
  charge_micros bigint NOT NULL CHECK (charge_micros BETWEEN 0 AND 9007199254740991),
  status text COLLATE "C" NOT NULL CHECK (status IN ('COMPLETED', 'PARTIAL', 'FAILED', 'CANCELLED', 'REFUNDED')),
  start_count bigint NOT NULL CHECK (start_count >= 0),
  remains bigint NOT NULL CHECK (remains BETWEEN 0 AND quantity),
  created_at bigint NOT NULL CHECK (created_at >= 0),
  -- The other panel's id of the provider, and the provider's number for the order.
  provider text COLLATE "C" CHECK (length(provider) >= 1),
  provider_order text COLLATE "C" CHECK (length(provider_order) >= 1)
);

CREATE INDEX past_orders_by_reseller ON past_orders (reseller_account, order_id);

CREATE FUNCTION past_orders_are_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.link <> 'erased' OR NEW.order_id <> OLD.order_id OR NEW.reseller_account <> OLD.reseller_account
    OR NEW.service_number <> OLD.service_number OR NEW.service_name <> OLD.service_name OR NEW.quantity <> OLD.quantity
    OR NEW.charge_micros <> OLD.charge_micros OR NEW.status <> OLD.status OR NEW.start_count <> OLD.start_count
    OR NEW.remains <> OLD.remains OR NEW.created_at <> OLD.created_at OR NEW.provider IS DISTINCT FROM OLD.provider
    OR NEW.provider_order IS DISTINCT FROM OLD.provider_order OR NOT is_erased(OLD.reseller_account) THEN
    RAISE EXCEPTION 'past orders are never changed' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER past_orders_are_kept BEFORE UPDATE ON past_orders FOR EACH ROW
EXECUTE FUNCTION past_orders_are_kept();

CREATE TRIGGER past_orders_stay BEFORE DELETE ON past_orders FOR EACH ROW
EXECUTE FUNCTION refuse('past orders are never deleted');

-- Keys of another panel have no checksum and may be known to it. Their users should rotate them.
ALTER TABLE keys ADD COLUMN imported smallint NOT NULL DEFAULT 0 CHECK (imported IN (0, 1));
