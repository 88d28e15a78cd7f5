-- What lists and statements need: a caller's own reference, the balance after each transfer, orders by
-- status, what a batch came to, and where the clock went back.

-- The caller's own name for an order.
ALTER TABLE orders ADD COLUMN reference TEXT CHECK (length(reference) BETWEEN 1 AND 64);

CREATE UNIQUE INDEX orders_by_reference ON orders (reseller_account, reference) WHERE reference IS NOT NULL;

CREATE TRIGGER orders_keep_reference BEFORE UPDATE OF reference ON orders
BEGIN SELECT RAISE(ABORT, 'an order keeps its reference'); END;

-- One index serves a reseller's orders with and without a status: all of them are the seven statuses merged.
-- A second one would cost every order a write.
DROP INDEX orders_by_reseller;

CREATE INDEX orders_by_status ON orders (reseller_account, status, order_id);

-- The balance of the user on one side of a transfer once it was posted: every transfer has one such side.
ALTER TABLE transfers ADD COLUMN balance_after_micros INTEGER NOT NULL DEFAULT 0
  CHECK (balance_after_micros BETWEEN 0 AND 9007199254740991);

DROP TRIGGER transfers_append_only_update;

UPDATE transfers SET balance_after_micros = total
FROM (
  SELECT seq AS transfer,
    sum(CASE WHEN credit_account > 2 THEN amount_micros ELSE -amount_micros END)
      OVER (PARTITION BY max(debit_account, credit_account) ORDER BY seq) AS total
  FROM transfers
) WHERE seq = transfer;

CREATE TRIGGER transfers_append_only_update BEFORE UPDATE ON transfers
BEGIN SELECT RAISE(ABORT, 'transfers are append-only'); END;

DROP INDEX transfers_by_credit;

CREATE INDEX transfers_by_credit ON transfers (credit_account, kind, seq) WHERE credit_account > 2;

CREATE INDEX transfers_by_adjustment ON transfers (debit_account, seq)
  WHERE debit_account > 2 AND kind = 'adjustment';

-- Rows are numbered in order; their times are too, except where the clock was put back. Each such place is
-- noted: between two of them a time is found by halving, whatever the clock did.
CREATE TABLE clock_steps (
  ledger TEXT NOT NULL CHECK (ledger IN ('orders', 'transfers')),
  -- The first row of the earlier time, that time, and the later time of the row before it.
  first INTEGER NOT NULL,
  time INTEGER NOT NULL,
  time_before INTEGER NOT NULL,
  PRIMARY KEY (ledger, first),
  CHECK (time < time_before)
) STRICT, WITHOUT ROWID;

INSERT INTO clock_steps
SELECT 'orders', order_id, created_at, before FROM (
  SELECT order_id, created_at, lag(created_at) OVER (ORDER BY order_id) AS before FROM orders
) WHERE created_at < before;

INSERT INTO clock_steps
SELECT 'transfers', seq, created_at, before FROM (
  SELECT seq, created_at, lag(created_at) OVER (ORDER BY seq) AS before FROM transfers
) WHERE created_at < before;

CREATE TRIGGER orders_note_clock_step AFTER INSERT ON orders
WHEN NEW.created_at < (SELECT created_at FROM orders WHERE order_id < NEW.order_id ORDER BY order_id DESC LIMIT 1)
BEGIN
  INSERT INTO clock_steps SELECT 'orders', NEW.order_id, NEW.created_at, created_at
  FROM orders WHERE order_id < NEW.order_id ORDER BY order_id DESC LIMIT 1;
END;

CREATE TRIGGER transfers_note_clock_step AFTER INSERT ON transfers
WHEN NEW.created_at < (SELECT created_at FROM transfers WHERE seq < NEW.seq ORDER BY seq DESC LIMIT 1)
BEGIN
  INSERT INTO clock_steps SELECT 'transfers', NEW.seq, NEW.created_at, created_at
  FROM transfers WHERE seq < NEW.seq ORDER BY seq DESC LIMIT 1;
END;

-- What a batch with an Idempotency-Key came to, order by order, for when its answer was never given.
ALTER TABLE idempotency ADD COLUMN results TEXT CHECK (results IS NULL OR order_id IS NOT NULL);

CREATE TRIGGER idempotency_keeps_its_results BEFORE UPDATE OF results ON idempotency
BEGIN SELECT RAISE(ABORT, 'a used key keeps what it did'); END;
