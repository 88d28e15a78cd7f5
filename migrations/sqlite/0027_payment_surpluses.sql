-- Money that was received for a payment and that the payment does not credit: paid once more, or back after it was reversed.

-- Whether the provider of the payment, or its program, has reported what was received. The operator may have approved the
-- payment without a report: what is reported then is other money.
ALTER TABLE payments ADD COLUMN reported INTEGER NOT NULL DEFAULT 0 CHECK (reported IN (0, 1));
-- The refunds that the provider last reported; and those before the credit, which were not credited.
ALTER TABLE payments ADD COLUMN reported_refund_micros INTEGER NOT NULL DEFAULT 0
  CHECK (reported_refund_micros BETWEEN 0 AND 9007199254740991);
ALTER TABLE payments ADD COLUMN netted_micros INTEGER NOT NULL DEFAULT 0 CHECK (netted_micros BETWEEN 0 AND 9007199254740991);

UPDATE payments SET reported = 1 WHERE received_micros IS NOT NULL AND (paid_at IS NULL
  OR EXISTS (SELECT 1 FROM payment_events e WHERE e.payment_id = payments.payment_id AND e.event IN ('paid', 'paid_unclear')));
UPDATE payments SET reported_refund_micros = refunded_micros
  WHERE NOT EXISTS (SELECT 1 FROM payment_events e WHERE e.payment_id = payments.payment_id AND e.event = 'settled');
UPDATE payments SET netted_micros = min(settled_micros, refunded_micros) WHERE paid_at IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM payment_events e WHERE e.payment_id = payments.payment_id AND e.event = 'settled');

-- Money that was received and not credited: it waits, or its payment was rejected.
CREATE INDEX payments_uncredited ON payments (payment_id) WHERE paid_at IS NULL AND received_micros IS NOT NULL;

-- A refund may fail, so a refunded payment may be paid again. docs/specification/payments.md#payment-states
DROP TRIGGER payments_transition;
CREATE TRIGGER payments_transition BEFORE UPDATE OF state ON payments
WHEN NEW.state <> OLD.state AND (OLD.state || ' ' || NEW.state) NOT IN (
  'created pending', 'created paid', 'created failed', 'created expired', 'created rejected',
  'pending paid', 'pending failed', 'pending expired', 'pending rejected',
  'failed pending', 'failed paid', 'expired pending', 'expired paid', 'rejected pending', 'rejected paid',
  'paid refunded', 'paid disputed', 'refunded paid', 'refunded disputed', 'disputed paid', 'disputed refunded'
)
BEGIN SELECT RAISE(ABORT, 'a payment cannot change to that state'); END;

-- Why it came: paid_again, by another id or after an approval without a report; a won dispute; a refund that failed.
CREATE TABLE payment_surpluses (
  surplus_id INTEGER PRIMARY KEY CHECK (surplus_id BETWEEN 1 AND 9007199254740991),
  payment_id INTEGER NOT NULL REFERENCES payments (payment_id),
  account INTEGER NOT NULL REFERENCES users (account),
  method_id TEXT NOT NULL REFERENCES payment_methods (method_id),
  cause TEXT NOT NULL CHECK (cause IN ('paid_again', 'dispute_won', 'refund_failed')),
  -- The method's own id of money that was paid again.
  reference TEXT CHECK (length(reference) BETWEEN 1 AND 255),
  currency TEXT NOT NULL CHECK (length(currency) = 3),
  -- In millionths of the currency: what was received, and what of it was not given back, disputed or reversed again.
  amount_micros INTEGER NOT NULL CHECK (amount_micros BETWEEN 1 AND 9007199254740991),
  left_micros INTEGER NOT NULL CHECK (left_micros BETWEEN 0 AND amount_micros),
  created_at INTEGER NOT NULL,
  -- When the operator decided on it. Null: not yet.
  settled_at INTEGER,
  CHECK ((cause = 'paid_again') = (reference IS NOT NULL))
) STRICT;

CREATE UNIQUE INDEX payment_surpluses_by_reference ON payment_surpluses (method_id, reference) WHERE reference IS NOT NULL;
CREATE INDEX payment_surpluses_by_payment ON payment_surpluses (payment_id, surplus_id);
CREATE INDEX payment_surpluses_open ON payment_surpluses (payment_id) WHERE left_micros > 0 AND settled_at IS NULL;

CREATE TRIGGER payment_surpluses_stay BEFORE DELETE ON payment_surpluses
BEGIN SELECT RAISE(ABORT, 'surpluses of payments are kept'); END;

CREATE TRIGGER payment_surpluses_keep_identity BEFORE UPDATE ON payment_surpluses
WHEN NEW.surplus_id <> OLD.surplus_id OR NEW.payment_id <> OLD.payment_id OR NEW.account <> OLD.account
  OR NEW.method_id <> OLD.method_id OR NEW.cause <> OLD.cause OR NEW.reference IS NOT OLD.reference
  OR NEW.currency <> OLD.currency OR NEW.amount_micros < OLD.amount_micros OR NEW.created_at <> OLD.created_at
  OR (OLD.settled_at IS NOT NULL AND (NEW.settled_at IS NOT OLD.settled_at OR NEW.left_micros <> OLD.left_micros))
BEGIN SELECT RAISE(ABORT, 'a surplus keeps what was received and decided'); END;
