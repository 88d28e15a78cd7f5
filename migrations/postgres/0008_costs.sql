-- What orders cost at their providers, and totals per day for reports. Amounts of a provider are decimals in text, exactly as
-- it tells them; micros are of US dollars.

-- How many US dollars one unit of the provider's currency is. Currency: null where nobody has said it. Foreign: what it
-- charged in although that is not its currency; null once the operator has settled it.
ALTER TABLE providers ADD COLUMN rate_to_usd text COLLATE "C" NOT NULL DEFAULT '1' CHECK (length(rate_to_usd) BETWEEN 1 AND 40);
ALTER TABLE providers ADD COLUMN currency text COLLATE "C" CHECK (length(currency) BETWEEN 2 AND 8);
ALTER TABLE providers ADD COLUMN foreign_currency text COLLATE "C" CHECK (length(foreign_currency) BETWEEN 2 AND 8);

-- A provider's rate of a service, from a sync. It holds for orders with numbers above after_order, up to those of the next
-- row: numbers, unlike times, only grow.
CREATE TABLE provider_rates (
  provider_id bigint NOT NULL REFERENCES providers (provider_id) ON DELETE CASCADE,
  provider_service text COLLATE "C" NOT NULL CHECK (length(provider_service) BETWEEN 1 AND 64),
  after_order bigint NOT NULL CHECK (after_order >= 0),
  rate text COLLATE "C" NOT NULL CHECK (length(rate) >= 1),
  unit text COLLATE "C" NOT NULL CHECK (unit IN ('1000', 'order')),
  created_at bigint NOT NULL,
  PRIMARY KEY (provider_id, provider_service, after_order)
);

-- Each time that an order's cost was first known or changed. Basis: its provider's charge; the rate, where it tells no
-- charge; foreign, a charge in a currency without a known rate, which costs 0 until that is settled.
CREATE TABLE order_costs (
  seq bigint PRIMARY KEY,
  order_id bigint NOT NULL REFERENCES orders (order_id),
  -- Of the order's costs: 1, 2, 3 ….
  number bigint NOT NULL CHECK (number >= 1),
  basis text COLLATE "C" NOT NULL CHECK (basis IN ('charge', 'rate', 'foreign')),
  amount text COLLATE "C" NOT NULL CHECK (length(amount) >= 1),
  currency text COLLATE "C",
  rate_to_usd text COLLATE "C" NOT NULL CHECK (length(rate_to_usd) >= 1),
  -- What the order costs from now on, and by how much that is more than before.
  cost_micros bigint NOT NULL CHECK (cost_micros BETWEEN 0 AND 9007199254740991),
  change_micros bigint NOT NULL CHECK (change_micros BETWEEN -9007199254740991 AND cost_micros),
  created_at bigint NOT NULL,
  CHECK (basis <> 'foreign' OR cost_micros = 0),
  CHECK (number > 1 OR change_micros = cost_micros)
);

CREATE SEQUENCE order_costs_number OWNED BY order_costs.seq;
CREATE UNIQUE INDEX order_costs_by_order ON order_costs (order_id, number);
CREATE INDEX order_costs_by_time ON order_costs (created_at);
CREATE INDEX order_costs_foreign ON order_costs (order_id) WHERE basis = 'foreign';

CREATE TRIGGER order_costs_append_only BEFORE UPDATE OR DELETE ON order_costs FOR EACH ROW
EXECUTE FUNCTION refuse('costs of orders are append-only');

-- What the rows up to totals_position come to, by day (days since 1970 in UTC) and service, reseller or provider ('': by
-- hand). Without test orders.
CREATE TABLE daily_totals (
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('service', 'reseller', 'provider')),
  day bigint NOT NULL,
  key text COLLATE "C" NOT NULL,
  orders bigint NOT NULL,
  revenue_micros bigint NOT NULL,
  refunds_micros bigint NOT NULL,
  cost_micros bigint NOT NULL,
  PRIMARY KEY (kind, day, key)
);

-- The last rows that are counted in daily_totals, and the goal: those up to which they are counted next, on PostgreSQL once no
-- transaction before goal_transaction is open any more (0: it has not been set yet; SQLite has one writer).
CREATE TABLE totals_position (
  id bigint PRIMARY KEY CHECK (id = 1),
  orders bigint NOT NULL DEFAULT 0,
  transfers bigint NOT NULL DEFAULT 0,
  costs bigint NOT NULL DEFAULT 0,
  goal_orders bigint NOT NULL DEFAULT 0 CHECK (goal_orders >= orders),
  goal_transfers bigint NOT NULL DEFAULT 0 CHECK (goal_transfers >= transfers),
  goal_costs bigint NOT NULL DEFAULT 0 CHECK (goal_costs >= costs),
  goal_transaction bigint NOT NULL DEFAULT 0
);

INSERT INTO totals_position (id) VALUES (1);

-- An order that goes on to another provider takes its revenue along. It is not placed, so it has neither refund nor cost. Who
-- counts has locked the position: the trigger waits for it.
CREATE FUNCTION orders_keep_totals() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  counted bigint;
BEGIN
  SELECT orders INTO counted FROM totals_position WHERE id = 1 FOR SHARE;
  IF NEW.order_id <= counted THEN
    UPDATE daily_totals SET orders = orders - 1, revenue_micros = revenue_micros - NEW.charge_micros
    WHERE kind = 'provider' AND day = NEW.created_at / 86400000 AND key = coalesce(OLD.provider_id::text, '');
    INSERT INTO daily_totals AS totals (kind, day, key, orders, revenue_micros, refunds_micros, cost_micros)
    VALUES ('provider', NEW.created_at / 86400000, coalesce(NEW.provider_id::text, ''), 1, NEW.charge_micros, 0, 0)
    ON CONFLICT (kind, day, key) DO UPDATE
    SET orders = totals.orders + 1, revenue_micros = totals.revenue_micros + excluded.revenue_micros;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER orders_keep_totals AFTER UPDATE OF provider_id ON orders FOR EACH ROW
WHEN (NEW.provider_id IS DISTINCT FROM OLD.provider_id) EXECUTE FUNCTION orders_keep_totals();
