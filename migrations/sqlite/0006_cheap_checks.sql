-- Orders and transfers made again with the same rules in words that cost less: SQLite builds a table of its own
-- for each IN list of more than two values, at every row it checks. That was a third of what an order costs to write.

CREATE TABLE new_orders (
  order_id INTEGER PRIMARY KEY CHECK (order_id > 0),
  id TEXT NOT NULL UNIQUE CHECK (length(id) = 24),
  reseller_account INTEGER NOT NULL REFERENCES users (account),
  service_id TEXT NOT NULL REFERENCES services (id),
  service_name TEXT NOT NULL,
  price_micros INTEGER NOT NULL CHECK (price_micros >= 0),
  per TEXT NOT NULL CHECK (per = '1000' OR per = '1' OR per = 'order'),
  link TEXT NOT NULL CHECK (length(link) >= 1),
  quantity INTEGER NOT NULL CHECK (quantity BETWEEN 1 AND 1000000000),
  charge_micros INTEGER NOT NULL CHECK (charge_micros >= 0),
  refunded_micros INTEGER NOT NULL DEFAULT 0 CHECK (refunded_micros BETWEEN 0 AND charge_micros),
  status TEXT NOT NULL CHECK (
    status = 'PROCESSING' OR status = 'PENDING' OR status = 'COMPLETED' OR status = 'PARTIAL'
    OR status = 'FAILED' OR status = 'CANCELLED' OR status = 'REFUNDED'
  ),
  start_count INTEGER NOT NULL DEFAULT 0 CHECK (start_count >= 0),
  remains INTEGER NOT NULL CHECK (remains BETWEEN 0 AND quantity),
  created_at INTEGER NOT NULL,
  provider_id INTEGER REFERENCES providers (provider_id),
  provider_service TEXT CHECK ((provider_service IS NULL) = (provider_id IS NULL)),
  placement TEXT NOT NULL DEFAULT 'manual' CHECK (
    (
      placement = 'manual' OR placement = 'queued' OR placement = 'sending' OR placement = 'placed'
      OR placement = 'refused' OR placement = 'expired' OR placement = 'unknown'
    )
    AND (placement = 'manual') = (provider_id IS NULL)
    AND (status <> 'PENDING' OR placement = 'queued' OR placement = 'sending' OR placement = 'unknown')
    AND (placement <> 'sending' OR status = 'PENDING')
    AND (placement NOT IN ('queued', 'unknown') OR status IN ('PENDING', 'CANCELLED'))
    AND (placement NOT IN ('refused', 'expired') OR status = 'FAILED')
  ),
  provider_order TEXT CHECK ((provider_order IS NOT NULL) = (placement = 'placed')),
  -- The status that the provider reported last, as ours.
  reported TEXT CHECK (reported IS NULL OR placement = 'placed'),
  next_place_at INTEGER CHECK ((next_place_at IS NOT NULL) = (placement = 'queued' AND status = 'PENDING')),
  next_check_at INTEGER CHECK (
    (next_check_at IS NULL OR placement = 'placed')
    AND (next_check_at IS NOT NULL OR placement <> 'placed' OR status <> 'PROCESSING')
  ),
  -- When the provider was last found to have answered for the order, and when that last said something new.
  checked_at INTEGER CHECK ((checked_at IS NOT NULL) = (placement = 'placed')),
  changed_at INTEGER CHECK ((changed_at IS NOT NULL) = (placement = 'placed')),
  -- The caller's own name for an order.
  reference TEXT CHECK (length(reference) BETWEEN 1 AND 64),
  CHECK (refunded_micros = charge_micros OR (status <> 'FAILED' AND status <> 'CANCELLED' AND status <> 'REFUNDED')),
  CHECK (refunded_micros = 0 OR (status <> 'PENDING' AND status <> 'PROCESSING' AND status <> 'COMPLETED'))
) STRICT;

INSERT INTO new_orders SELECT * FROM orders ORDER BY order_id;

-- With it go its triggers and indexes; orders_open, which no query used, stays away.
DROP TABLE orders;

ALTER TABLE new_orders RENAME TO orders;

CREATE UNIQUE INDEX orders_by_reference ON orders (reseller_account, reference) WHERE reference IS NOT NULL;
CREATE INDEX orders_by_status ON orders (reseller_account, status, order_id);
CREATE INDEX orders_queued ON orders (provider_id, next_place_at, order_id)
  WHERE placement = 'queued' AND status = 'PENDING';
CREATE INDEX orders_sending ON orders (order_id) WHERE placement = 'sending';
CREATE INDEX orders_unknown ON orders (order_id) WHERE placement = 'unknown' AND status = 'PENDING';
CREATE INDEX orders_followed ON orders (provider_id, next_check_at) WHERE next_check_at IS NOT NULL;
CREATE INDEX orders_by_provider_order ON orders (provider_id, provider_order) WHERE provider_order IS NOT NULL;
CREATE INDEX orders_open_by_provider ON orders (provider_id, placement, checked_at)
  WHERE provider_id IS NOT NULL AND status IN ('PENDING', 'PROCESSING');

CREATE TRIGGER orders_keep_terms
BEFORE UPDATE OF order_id, id, reseller_account, service_id, service_name, price_micros, per, link, quantity,
  charge_micros, created_at, provider_id, provider_service ON orders
BEGIN SELECT RAISE(ABORT, 'an order keeps the terms it was placed on'); END;

-- Where a final order stands with its provider may still be noted; its status may not change.
CREATE TRIGGER orders_final BEFORE UPDATE OF status ON orders
WHEN NEW.status <> OLD.status AND (OLD.status = 'FAILED' OR OLD.status = 'CANCELLED' OR OLD.status = 'REFUNDED')
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

CREATE TRIGGER orders_keep_reference BEFORE UPDATE OF reference ON orders
BEGIN SELECT RAISE(ABORT, 'an order keeps its reference'); END;

CREATE TRIGGER orders_are_kept BEFORE DELETE ON orders
BEGIN SELECT RAISE(ABORT, 'orders are never deleted'); END;

CREATE TRIGGER orders_note_clock_step AFTER INSERT ON orders
WHEN NEW.created_at < (SELECT created_at FROM orders WHERE order_id < NEW.order_id ORDER BY order_id DESC LIMIT 1)
BEGIN
  INSERT INTO clock_steps SELECT 'orders', NEW.order_id, NEW.created_at, created_at
  FROM orders WHERE order_id < NEW.order_id ORDER BY order_id DESC LIMIT 1;
END;

CREATE TABLE new_transfers (
  seq INTEGER PRIMARY KEY,
  debit_account INTEGER NOT NULL REFERENCES accounts (account),
  credit_account INTEGER NOT NULL REFERENCES accounts (account),
  amount_micros INTEGER NOT NULL CHECK (amount_micros BETWEEN 1 AND 9007199254740991),
  kind TEXT NOT NULL,
  order_id INTEGER REFERENCES orders (order_id),
  key_id TEXT REFERENCES keys (id),
  operator TEXT,
  note TEXT,
  created_at INTEGER NOT NULL,
  -- Of the user on one side of the transfer, once it was posted: every transfer has one such side.
  balance_after_micros INTEGER NOT NULL DEFAULT 0
    CHECK (balance_after_micros BETWEEN 0 AND 9007199254740991),
  CHECK (debit_account <> credit_account),
  CHECK (key_id IS NULL OR operator IS NULL),
  CHECK (
    (order_id IS NOT NULL AND (kind = 'order' OR kind = 'partial_refund' OR kind = 'refund'))
    OR (order_id IS NULL AND (kind = 'recharge' OR kind = 'adjustment'))
  )
) STRICT;

INSERT INTO new_transfers SELECT * FROM transfers ORDER BY seq;

DROP TABLE transfers;

ALTER TABLE new_transfers RENAME TO transfers;

-- One charge, at most one partial and one full refund an order.
CREATE UNIQUE INDEX transfers_once_an_order ON transfers (order_id, kind) WHERE order_id IS NOT NULL;
CREATE INDEX transfers_by_debit ON transfers (debit_account, seq) WHERE debit_account > 2;
CREATE INDEX transfers_by_credit ON transfers (credit_account, kind, seq) WHERE credit_account > 2;
CREATE INDEX transfers_by_adjustment ON transfers (debit_account, seq)
  WHERE debit_account > 2 AND kind = 'adjustment';

CREATE TRIGGER transfers_append_only_update BEFORE UPDATE ON transfers
BEGIN SELECT RAISE(ABORT, 'transfers are append-only'); END;

CREATE TRIGGER transfers_append_only_delete BEFORE DELETE ON transfers
BEGIN SELECT RAISE(ABORT, 'transfers are append-only'); END;

CREATE TRIGGER transfers_note_clock_step AFTER INSERT ON transfers
WHEN NEW.created_at < (SELECT created_at FROM transfers WHERE seq < NEW.seq ORDER BY seq DESC LIMIT 1)
BEGIN
  INSERT INTO clock_steps SELECT 'transfers', NEW.seq, NEW.created_at, created_at
  FROM transfers WHERE seq < NEW.seq ORDER BY seq DESC LIMIT 1;
END;
