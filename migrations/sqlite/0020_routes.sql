-- Several providers for a service: the one in the service's row is tried first, the others in the order of their priority.

-- Of the provider in the row. A route is tried before all of a greater priority.
ALTER TABLE services ADD COLUMN provider_priority INTEGER NOT NULL DEFAULT 0 CHECK (provider_priority BETWEEN 0 AND 1000000);

-- The routes of a service after its first. They go with it; a provider that has some stays.
CREATE TABLE service_routes (
  service_id TEXT NOT NULL REFERENCES services (id) ON DELETE CASCADE,
  provider_id INTEGER NOT NULL REFERENCES providers (provider_id) CHECK (provider_id > 0),
  -- The id of the service at this provider.
  provider_service TEXT NOT NULL CHECK (length(provider_service) >= 1),
  priority INTEGER NOT NULL CHECK (priority BETWEEN 0 AND 1000000),
  -- Counts from 1: the order in which they are tried.
  place INTEGER NOT NULL CHECK (place >= 1),
  PRIMARY KEY (service_id, provider_id, provider_service)
) STRICT, WITHOUT ROWID;

CREATE INDEX service_routes_by_provider ON service_routes (provider_id, provider_service);

-- Made again with the provider that each attempt went to: until now it was the order's, which could not change. No foreign
-- key: providers_attempted holds it at no cost for an attempt.
CREATE TABLE new_placement_attempts (
  attempt_id INTEGER PRIMARY KEY,
  order_id INTEGER NOT NULL REFERENCES orders (order_id),
  outcome TEXT NOT NULL CHECK (outcome IN ('sending', 'accepted', 'refused', 'not_sent', 'unknown')),
  -- Why, with the provider's key masked. For the operator only.
  cause TEXT,
  started_at INTEGER NOT NULL,
  finished_at INTEGER,
  -- The server that makes it; null: one of an earlier version, or none. While it has no outcome and that server is gone,
  -- nobody knows whether the order was sent.
  server TEXT,
  provider_id INTEGER NOT NULL,
  provider_service TEXT NOT NULL,
  CHECK ((outcome = 'sending') = (finished_at IS NULL))
) STRICT;

INSERT INTO new_placement_attempts
SELECT attempt_id, order_id, outcome, cause, started_at, finished_at, server, provider_id, provider_service
FROM placement_attempts JOIN orders USING (order_id) ORDER BY attempt_id;

-- With it go its triggers and indexes.
DROP TABLE placement_attempts;

ALTER TABLE new_placement_attempts RENAME TO placement_attempts;

CREATE INDEX placement_attempts_by_order ON placement_attempts (order_id, attempt_id);

-- Placed at most once: a further attempt can only follow ones that were refused or certainly not sent.
CREATE UNIQUE INDEX placement_attempts_sent_once ON placement_attempts (order_id)
  WHERE outcome <> 'not_sent' AND outcome <> 'refused';
-- What refused an order is not asked for it again.
CREATE UNIQUE INDEX placement_attempts_refused_once ON placement_attempts (order_id, provider_id, provider_service)
  WHERE outcome = 'refused';

CREATE TRIGGER placement_attempts_finish_once BEFORE UPDATE ON placement_attempts
WHEN (OLD.outcome <> 'sending' OR NEW.order_id <> OLD.order_id OR NEW.started_at <> OLD.started_at)
  AND NOT (NEW.cause IS NULL AND NEW.attempt_id = OLD.attempt_id AND NEW.order_id = OLD.order_id
    AND NEW.outcome = OLD.outcome AND NEW.started_at = OLD.started_at AND NEW.finished_at IS OLD.finished_at
    AND (SELECT erased_at FROM orders JOIN users ON account = reseller_account WHERE order_id = OLD.order_id) IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'an attempt is finished once and then kept'); END;

CREATE TRIGGER placement_attempts_keep_server BEFORE UPDATE OF server ON placement_attempts
BEGIN SELECT RAISE(ABORT, 'an attempt keeps its server'); END;

CREATE TRIGGER placement_attempts_keep_route BEFORE UPDATE OF provider_id, provider_service ON placement_attempts
BEGIN SELECT RAISE(ABORT, 'an attempt keeps its provider'); END;

CREATE TRIGGER placement_attempts_are_kept BEFORE DELETE ON placement_attempts
BEGIN SELECT RAISE(ABORT, 'placement attempts are never deleted'); END;

CREATE TRIGGER providers_attempted BEFORE DELETE ON providers
WHEN EXISTS (SELECT 1 FROM placement_attempts WHERE provider_id = OLD.provider_id)
BEGIN SELECT RAISE(ABORT, 'attempts refer to the provider'); END;

-- An order goes on to another provider while it waits to be sent, or once an attempt has ended that did not place it. Never
-- to or from the sandbox, which is provider 0.
DROP TRIGGER orders_keep_terms;

CREATE TRIGGER orders_keep_terms
BEFORE UPDATE OF order_id, id, reseller_account, service_id, service_name, price_micros, per, quantity,
  charge_micros, created_at ON orders
BEGIN SELECT RAISE(ABORT, 'an order keeps the terms it was placed on'); END;

CREATE TRIGGER orders_change_provider_unsent BEFORE UPDATE OF provider_id, provider_service ON orders
WHEN (NEW.provider_id IS NOT OLD.provider_id OR NEW.provider_service IS NOT OLD.provider_service) AND NOT (
  OLD.status = 'PENDING' AND NEW.placement = 'queued' AND (OLD.placement = 'sending' OR OLD.placement = 'queued')
  AND coalesce(OLD.provider_id, 0) > 0 AND coalesce(NEW.provider_id, 0) > 0
)
BEGIN SELECT RAISE(ABORT, 'an order changes its provider only while it is not sent'); END;
