-- Several providers for a service: the one in the service's row is tried first, the others in the order of their priority.

-- Of the provider in the row. A route is tried before all of a greater priority.
ALTER TABLE services ADD COLUMN provider_priority bigint NOT NULL DEFAULT 0 CHECK (provider_priority BETWEEN 0 AND 1000000);

-- The routes of a service after its first. They go with it; a provider that has some stays.
CREATE TABLE service_routes (
  service_id text COLLATE "C" NOT NULL REFERENCES services (id) ON DELETE CASCADE,
  provider_id bigint NOT NULL REFERENCES providers (provider_id) CHECK (provider_id > 0),
  -- The id of the service at this provider.
  provider_service text COLLATE "C" NOT NULL CHECK (length(provider_service) >= 1),
  priority bigint NOT NULL CHECK (priority BETWEEN 0 AND 1000000),
  -- Counts from 1: the order in which they are tried.
  place bigint NOT NULL CHECK (place >= 1),
  PRIMARY KEY (service_id, provider_id, provider_service)
);

CREATE INDEX service_routes_by_provider ON service_routes (provider_id, provider_service);

-- The provider that each attempt went to: until now it was the order's, which could not change. No foreign key:
-- providers_attempted holds it at no cost for an attempt.
ALTER TABLE placement_attempts ADD COLUMN provider_id bigint, ADD COLUMN provider_service text COLLATE "C";

ALTER TABLE placement_attempts DISABLE TRIGGER placement_attempts_finish_once;

UPDATE placement_attempts SET provider_id = orders.provider_id, provider_service = orders.provider_service
FROM orders WHERE orders.order_id = placement_attempts.order_id;

ALTER TABLE placement_attempts ENABLE TRIGGER placement_attempts_finish_once;

ALTER TABLE placement_attempts ALTER COLUMN provider_id SET NOT NULL, ALTER COLUMN provider_service SET NOT NULL;

-- A server of the version before goes on while the others are upgraded, and names no provider.
CREATE FUNCTION placement_attempts_name_provider() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  SELECT orders.provider_id, orders.provider_service INTO NEW.provider_id, NEW.provider_service
  FROM orders WHERE orders.order_id = NEW.order_id;
  RETURN NEW;
END $$;
CREATE TRIGGER placement_attempts_name_provider BEFORE INSERT ON placement_attempts FOR EACH ROW
WHEN (NEW.provider_id IS NULL) EXECUTE FUNCTION placement_attempts_name_provider();

CREATE TRIGGER placement_attempts_keep_route BEFORE UPDATE OF provider_id, provider_service ON placement_attempts FOR EACH ROW
EXECUTE FUNCTION refuse('an attempt keeps its provider');

DROP INDEX placement_attempts_sent_once;
-- Placed at most once: a further attempt can only follow ones that were refused or certainly not sent.
CREATE UNIQUE INDEX placement_attempts_sent_once ON placement_attempts (order_id)
  WHERE outcome <> 'not_sent' AND outcome <> 'refused';
-- What refused an order is not asked for it again.
CREATE UNIQUE INDEX placement_attempts_refused_once ON placement_attempts (order_id, provider_id, provider_service)
  WHERE outcome = 'refused';

-- The lock waits for attempts in flight, whose rows no other transaction sees, and keeps out later ones.
CREATE FUNCTION providers_attempted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  LOCK TABLE placement_attempts IN SHARE ROW EXCLUSIVE MODE;
  IF EXISTS (SELECT FROM placement_attempts WHERE provider_id = OLD.provider_id) THEN
    RAISE EXCEPTION 'attempts refer to a row of providers' USING ERRCODE = 'foreign_key_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER providers_attempted AFTER DELETE ON providers FOR EACH ROW EXECUTE FUNCTION providers_attempted();

-- An order goes on to another provider while it waits to be sent, or once an attempt has ended that did not place it. Never
-- to or from the sandbox, which is provider 0.
DROP TRIGGER orders_keep_terms ON orders;
CREATE TRIGGER orders_keep_terms
BEFORE UPDATE OF order_id, id, reseller_account, service_id, service_name, price_micros, per, quantity,
  charge_micros, created_at ON orders
FOR EACH ROW EXECUTE FUNCTION refuse('an order keeps the terms it was placed on');

CREATE TRIGGER orders_change_provider_unsent BEFORE UPDATE OF provider_id, provider_service ON orders FOR EACH ROW
WHEN ((NEW.provider_id IS DISTINCT FROM OLD.provider_id OR NEW.provider_service IS DISTINCT FROM OLD.provider_service)
  AND NOT (
    OLD.status = 'PENDING' AND NEW.placement = 'queued' AND (OLD.placement = 'sending' OR OLD.placement = 'queued')
    AND coalesce(OLD.provider_id, 0) > 0 AND coalesce(NEW.provider_id, 0) > 0
  ))
EXECUTE FUNCTION refuse('an order changes its provider only while it is not sent');

-- As orders_refer_to_rows does for new orders.
CREATE FUNCTION orders_refer_to_providers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (SELECT 1 FROM providers WHERE providers.provider_id = NEW.provider_id) IS NULL THEN
    RAISE EXCEPTION 'an order refers to a missing row' USING ERRCODE = 'foreign_key_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER orders_change_provider AFTER UPDATE OF provider_id ON orders FOR EACH ROW
WHEN (NEW.provider_id IS DISTINCT FROM OLD.provider_id) EXECUTE FUNCTION orders_refer_to_providers();
