-- The import from another panel that is running, and until when it counts as running: it renews this time while it works.
-- Null: none is running.
ALTER TABLE panel_import ADD COLUMN run_id text COLLATE "C" CHECK (length(run_id) BETWEEN 1 AND 64);
ALTER TABLE panel_import ADD COLUMN run_until bigint;

-- Keeps numbers of orders and services for an import: new ones get higher numbers. Runs as the owner, because the role of a
-- server may not change sequences; it can only raise these two. ALTER SEQUENCE waits until everyone who took a number has
-- committed, and lets nobody take one until this transaction ends.
CREATE FUNCTION reserve_numbers(orders_floor bigint, services_floor bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  next bigint;
BEGIN
  IF greatest(orders_floor, services_floor) > 4503599627370496 THEN
    RAISE EXCEPTION 'number too large';
  END IF;
  ALTER SEQUENCE orders_number NO CYCLE;
  SELECT last_value + is_called::int INTO next FROM orders_number;
  IF next <= orders_floor THEN
    EXECUTE format('ALTER SEQUENCE orders_number RESTART WITH %s', orders_floor + 1);
  END IF;
  ALTER SEQUENCE services_number NO CYCLE;
  SELECT last_value + is_called::int INTO next FROM services_number;
  IF next <= services_floor THEN
    EXECUTE format('ALTER SEQUENCE services_number RESTART WITH %s', services_floor + 1);
  END IF;
END $$;

REVOKE EXECUTE ON FUNCTION reserve_numbers(bigint, bigint) FROM PUBLIC;
