-- Providers, and the way of an order to one: queued, sent once, followed. Times are milliseconds.

-- The key is in clear here and nowhere else: it has to be sent. The file is for its owner alone.
CREATE TABLE providers (
  provider_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL COLLATE NOCASE UNIQUE CHECK (length(name) BETWEEN 1 AND 64),
  protocol TEXT NOT NULL,
  url TEXT NOT NULL CHECK (url LIKE 'http://%' OR url LIKE 'https://%'),
  key TEXT NOT NULL CHECK (length(key) >= 1),
  -- When a call last did what it was for.
  last_success_at INTEGER,
  -- Since when it refuses orders for lack of funds; null once it accepts one again.
  out_of_funds_at INTEGER,
  created_at INTEGER NOT NULL
) STRICT;

-- A service with a provider is passed on; one without is manual.
ALTER TABLE services ADD COLUMN provider_id INTEGER REFERENCES providers (provider_id);
ALTER TABLE services ADD COLUMN provider_service TEXT
  CHECK ((provider_service IS NULL) = (provider_id IS NULL));
-- Which fields the operator set: a sync leaves them alone.
ALTER TABLE services ADD COLUMN name_by_hand INTEGER NOT NULL DEFAULT 1 CHECK (name_by_hand IN (0, 1));
ALTER TABLE services ADD COLUMN price_by_hand INTEGER NOT NULL DEFAULT 1 CHECK (price_by_hand IN (0, 1));
ALTER TABLE services ADD COLUMN min_by_hand INTEGER NOT NULL DEFAULT 1 CHECK (min_by_hand IN (0, 1));
ALTER TABLE services ADD COLUMN max_by_hand INTEGER NOT NULL DEFAULT 1 CHECK (max_by_hand IN (0, 1));
-- Deactivated by a sync because the provider no longer lists it: the sync that sees it again brings it back.
ALTER TABLE services ADD COLUMN vanished INTEGER NOT NULL DEFAULT 0
  CHECK (vanished IN (0, 1) AND (vanished = 0 OR active = 0));

CREATE INDEX services_by_provider ON services (provider_id, provider_service) WHERE provider_id IS NOT NULL;

ALTER TABLE orders ADD COLUMN provider_id INTEGER REFERENCES providers (provider_id);
ALTER TABLE orders ADD COLUMN provider_service TEXT
  CHECK ((provider_service IS NULL) = (provider_id IS NULL));
ALTER TABLE orders ADD COLUMN placement TEXT NOT NULL DEFAULT 'manual'
  CHECK (
    placement IN ('manual', 'queued', 'sending', 'placed', 'refused', 'expired', 'unknown')
    AND (placement = 'manual') = (provider_id IS NULL)
    AND (status <> 'PENDING' OR placement IN ('queued', 'sending', 'unknown'))
    AND (placement <> 'sending' OR status = 'PENDING')
    AND (placement NOT IN ('queued', 'unknown') OR status IN ('PENDING', 'CANCELLED'))
    AND (placement NOT IN ('refused', 'expired') OR status = 'FAILED')
  );
ALTER TABLE orders ADD COLUMN provider_order TEXT
  CHECK ((provider_order IS NOT NULL) = (placement = 'placed'));
-- The status that the provider reported last, as ours.
ALTER TABLE orders ADD COLUMN reported TEXT CHECK (reported IS NULL OR placement = 'placed');
ALTER TABLE orders ADD COLUMN next_place_at INTEGER
  CHECK ((next_place_at IS NOT NULL) = (placement = 'queued' AND status = 'PENDING'));
ALTER TABLE orders ADD COLUMN next_check_at INTEGER
  CHECK (
    (next_check_at IS NULL OR placement = 'placed')
    AND (next_check_at IS NOT NULL OR placement <> 'placed' OR status <> 'PROCESSING')
  );
-- When the provider was last found to have answered for the order, and when that last said something new.
ALTER TABLE orders ADD COLUMN checked_at INTEGER CHECK ((checked_at IS NOT NULL) = (placement = 'placed'));
ALTER TABLE orders ADD COLUMN changed_at INTEGER CHECK ((changed_at IS NOT NULL) = (placement = 'placed'));

CREATE INDEX orders_queued ON orders (provider_id, next_place_at, order_id)
  WHERE placement = 'queued' AND status = 'PENDING';
CREATE INDEX orders_sending ON orders (order_id) WHERE placement = 'sending';
CREATE INDEX orders_unknown ON orders (order_id) WHERE placement = 'unknown' AND status = 'PENDING';
CREATE INDEX orders_followed ON orders (provider_id, next_check_at) WHERE next_check_at IS NOT NULL;
CREATE INDEX orders_by_provider_order ON orders (provider_id, provider_order) WHERE provider_order IS NOT NULL;
CREATE INDEX orders_open_by_provider ON orders (provider_id, placement, checked_at)
  WHERE provider_id IS NOT NULL AND status IN ('PENDING', 'PROCESSING');

DROP TRIGGER orders_keep_terms;

CREATE TRIGGER orders_keep_terms
BEFORE UPDATE OF order_id, id, reseller_account, service_id, service_name, price_micros, per, link, quantity,
  charge_micros, created_at, provider_id, provider_service ON orders
BEGIN SELECT RAISE(ABORT, 'an order keeps the terms it was placed on'); END;

-- Where a final order stands with its provider may still be noted; its status may not change.
DROP TRIGGER orders_final;

CREATE TRIGGER orders_final BEFORE UPDATE OF status ON orders
WHEN OLD.status IN ('FAILED', 'CANCELLED', 'REFUNDED') AND NEW.status <> OLD.status
BEGIN SELECT RAISE(ABORT, 'FAILED, CANCELLED and REFUNDED are final'); END;

-- What was sent, or may have been, is never queued again.
CREATE TRIGGER orders_placement_moves BEFORE UPDATE OF placement ON orders
WHEN OLD.placement <> NEW.placement AND NOT (
  (OLD.placement = 'queued' AND NEW.placement IN ('sending', 'expired'))
  OR (OLD.placement = 'sending' AND NEW.placement IN ('queued', 'placed', 'refused', 'unknown'))
  OR (OLD.placement = 'unknown' AND NEW.placement IN ('placed', 'refused'))
)
BEGIN SELECT RAISE(ABORT, 'a placement cannot move that way'); END;

CREATE TRIGGER orders_keep_provider_order BEFORE UPDATE OF provider_order ON orders
WHEN OLD.provider_order IS NOT NULL AND NEW.provider_order IS NOT OLD.provider_order
BEGIN SELECT RAISE(ABORT, 'an order keeps the number its provider gave it'); END;

-- One row for each time an order is sent: committed as `sending` before the call, finished by its outcome.
CREATE TABLE placement_attempts (
  attempt_id INTEGER PRIMARY KEY,
  order_id INTEGER NOT NULL REFERENCES orders (order_id),
  outcome TEXT NOT NULL CHECK (outcome IN ('sending', 'accepted', 'refused', 'not_sent', 'unknown')),
  -- Why, with the provider's key masked. For the operator only.
  cause TEXT,
  started_at INTEGER NOT NULL,
  finished_at INTEGER,
  CHECK ((outcome = 'sending') = (finished_at IS NULL))
) STRICT;

CREATE INDEX placement_attempts_by_order ON placement_attempts (order_id, attempt_id);

-- Placed at most once: a further attempt can only follow ones that were certainly not sent.
CREATE UNIQUE INDEX placement_attempts_sent_once ON placement_attempts (order_id) WHERE outcome <> 'not_sent';

CREATE TRIGGER placement_attempts_finish_once BEFORE UPDATE ON placement_attempts
WHEN OLD.outcome <> 'sending' OR NEW.order_id <> OLD.order_id OR NEW.started_at <> OLD.started_at
BEGIN SELECT RAISE(ABORT, 'an attempt is finished once and then kept'); END;

CREATE TRIGGER placement_attempts_are_kept BEFORE DELETE ON placement_attempts
BEGIN SELECT RAISE(ABORT, 'placement attempts are never deleted'); END;

-- What a provider reported of an order that had ended here: listed for the operator, never applied.
CREATE TABLE late_reports (
  order_id INTEGER NOT NULL REFERENCES orders (order_id),
  reported TEXT NOT NULL,
  status TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (order_id, reported)
) STRICT, WITHOUT ROWID;
