-- What was imported from another panel. The row exists from the first import on. Orders with numbers up to
-- orders_through were imported; orders that are placed here have higher numbers.
CREATE TABLE panel_import (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  orders_through INTEGER NOT NULL CHECK (orders_through BETWEEN 0 AND 9007199254740991),
  started_at INTEGER NOT NULL,
  -- When an import last ran to its end. Null: none has.
  finished_at INTEGER
) STRICT;

CREATE TRIGGER panel_import_only_grows BEFORE UPDATE ON panel_import WHEN NEW.orders_through < OLD.orders_through
BEGIN SELECT RAISE(ABORT, 'the numbers of imported orders only grow'); END;

CREATE TRIGGER panel_import_stays BEFORE DELETE ON panel_import
BEGIN SELECT RAISE(ABORT, 'an import stays recorded'); END;

-- Users by their id in the other panel, each with the balance that it brought along.
CREATE TABLE imported_users (
  source TEXT PRIMARY KEY NOT NULL CHECK (length(source) BETWEEN 1 AND 64),
  account INTEGER NOT NULL UNIQUE REFERENCES users (account),
  balance_micros INTEGER NOT NULL CHECK (balance_micros BETWEEN 0 AND 9007199254740991)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER imported_users_are_kept BEFORE UPDATE ON imported_users
BEGIN SELECT RAISE(ABORT, 'an import stays recorded'); END;

CREATE TRIGGER imported_users_stay BEFORE DELETE ON imported_users
BEGIN SELECT RAISE(ABORT, 'an import stays recorded'); END;

-- Numbers of services that were imported.
CREATE TABLE imported_services (
  number INTEGER PRIMARY KEY CHECK (number BETWEEN 1 AND 9007199254740991)
) STRICT;

-- Orders that ended in the other panel, under their numbers there. They moved no money here.
CREATE TABLE past_orders (
  order_id INTEGER PRIMARY KEY CHECK (order_id BETWEEN 1 AND 9007199254740991),
  reseller_account INTEGER NOT NULL REFERENCES users (account),
  service_number INTEGER NOT NULL CHECK (service_number >= 1),
  service_name TEXT NOT NULL CHECK (length(service_name) >= 1),
  link TEXT NOT NULL CHECK (length(link) >= 1),
  quantity INTEGER NOT NULL CHECK (quantity BETWEEN 1 AND 1000000000),
  -- What it cost there in the end.
  charge_micros INTEGER NOT NULL CHECK (charge_micros BETWEEN 0 AND 9007199254740991),
  status TEXT NOT NULL CHECK (status IN ('COMPLETED', 'PARTIAL', 'FAILED', 'CANCELLED', 'REFUNDED')),
  start_count INTEGER NOT NULL CHECK (start_count >= 0),
  remains INTEGER NOT NULL CHECK (remains BETWEEN 0 AND quantity),
  created_at INTEGER NOT NULL CHECK (created_at >= 0),
  -- The other panel's id of the provider, and the provider's number for the order.
  provider TEXT CHECK (length(provider) >= 1),
  provider_order TEXT CHECK (length(provider_order) >= 1)
) STRICT;

CREATE INDEX past_orders_by_reseller ON past_orders (reseller_account, order_id);

CREATE TRIGGER past_orders_are_kept BEFORE UPDATE ON past_orders
WHEN NEW.link <> 'erased' OR NEW.order_id <> OLD.order_id OR NEW.reseller_account <> OLD.reseller_account
  OR NEW.service_number <> OLD.service_number OR NEW.service_name <> OLD.service_name OR NEW.quantity <> OLD.quantity
  OR NEW.charge_micros <> OLD.charge_micros OR NEW.status <> OLD.status OR NEW.start_count <> OLD.start_count
  OR NEW.remains <> OLD.remains OR NEW.created_at <> OLD.created_at OR NEW.provider IS NOT OLD.provider
  OR NEW.provider_order IS NOT OLD.provider_order
  OR (SELECT erased_at FROM users WHERE account = OLD.reseller_account) IS NULL
BEGIN SELECT RAISE(ABORT, 'past orders are never changed'); END;

CREATE TRIGGER past_orders_stay BEFORE DELETE ON past_orders
BEGIN SELECT RAISE(ABORT, 'past orders are never deleted'); END;

-- Keys of another panel have no checksum and may be known to it. Their users should rotate them.
ALTER TABLE keys ADD COLUMN imported INTEGER NOT NULL DEFAULT 0 CHECK (imported IN (0, 1));
