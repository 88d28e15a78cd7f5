-- Payments: how resellers add funds, and what was received.

-- Payments have kinds of transfers of their own. The check of the kind changes, for which the table is made anew.
CREATE TABLE transfers_new (
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
  -- The balance of the user on one side of the transfer. Every transfer has exactly one such side.
  balance_after_micros INTEGER NOT NULL DEFAULT 0
    CHECK (balance_after_micros BETWEEN 0 AND 9000000000000000000),
  CHECK (debit_account <> credit_account),
  CHECK (key_id IS NULL OR operator IS NULL),
  CHECK (
    (order_id IS NOT NULL AND (kind = 'order' OR kind = 'partial_refund' OR kind = 'refund'))
    OR (order_id IS NULL AND (
      kind = 'recharge' OR kind = 'adjustment' OR kind = 'payment' OR kind = 'payment_bonus' OR kind = 'payment_reversal'
    ))
  )
) STRICT;
INSERT INTO transfers_new SELECT * FROM transfers;
DROP TABLE transfers;
ALTER TABLE transfers_new RENAME TO transfers;

-- One charge, at most one partial refund and one full refund for each order.
CREATE UNIQUE INDEX transfers_once_an_order ON transfers (order_id, kind) WHERE order_id IS NOT NULL;
CREATE INDEX transfers_by_debit ON transfers (debit_account, seq) WHERE debit_account > 2;
CREATE INDEX transfers_by_credit ON transfers (credit_account, kind, seq) WHERE credit_account > 2;
CREATE INDEX transfers_by_adjustment ON transfers (debit_account, seq)
  WHERE debit_account > 2 AND kind = 'adjustment';
CREATE INDEX transfers_by_reversal ON transfers (debit_account, seq)
  WHERE debit_account > 2 AND kind = 'payment_reversal';

CREATE TRIGGER transfers_append_only_delete BEFORE DELETE ON transfers
BEGIN SELECT RAISE(ABORT, 'transfers are append-only'); END;

CREATE TRIGGER transfers_append_only_update BEFORE UPDATE ON transfers
WHEN NEW.note IS NOT NULL OR NEW.seq <> OLD.seq OR NEW.debit_account <> OLD.debit_account
  OR NEW.credit_account <> OLD.credit_account OR NEW.amount_micros <> OLD.amount_micros OR NEW.kind <> OLD.kind
  OR NEW.order_id IS NOT OLD.order_id OR NEW.key_id IS NOT OLD.key_id OR NEW.operator IS NOT OLD.operator
  OR NEW.created_at <> OLD.created_at OR NEW.balance_after_micros <> OLD.balance_after_micros
  OR NOT EXISTS (SELECT 1 FROM users
    WHERE account IN (OLD.debit_account, OLD.credit_account) AND erased_at IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'transfers are append-only'); END;

-- Ways to pay. Texts are JSON by language. Settings are a JSON object and hold the secrets, in clear, because they sign.
CREATE TABLE payment_methods (
  method_id TEXT PRIMARY KEY NOT NULL CHECK (length(method_id) BETWEEN 1 AND 40),
  kind TEXT NOT NULL CHECK (length(kind) BETWEEN 1 AND 40),
  names TEXT NOT NULL CHECK (json_type(names) = 'object'),
  instructions TEXT NOT NULL CHECK (json_type(instructions) = 'object'),
  -- In millionths of the currency.
  min_micros INTEGER NOT NULL CHECK (min_micros >= 1),
  max_micros INTEGER NOT NULL CHECK (max_micros BETWEEN min_micros AND 1000000000000000),
  fee_ppm INTEGER NOT NULL CHECK (fee_ppm BETWEEN 0 AND 1000000),
  fee_fixed_micros INTEGER NOT NULL CHECK (fee_fixed_micros BETWEEN 0 AND 1000000000000000),
  fee_payer TEXT NOT NULL CHECK (fee_payer IN ('customer', 'operator')),
  -- A list of {fromMicros, ppm}.
  bonus_steps TEXT NOT NULL CHECK (json_type(bonus_steps) = 'array'),
  currency TEXT NOT NULL CHECK (length(currency) = 3),
  rate_to_usd TEXT NOT NULL CHECK (length(rate_to_usd) BETWEEN 1 AND 40),
  settings TEXT NOT NULL CHECK (json_type(settings) = 'object'),
  -- Which resellers may use it: all, or those in payment_method_resellers.
  resellers TEXT NOT NULL CHECK (resellers IN ('all', 'listed')),
  active INTEGER NOT NULL CHECK (active IN (0, 1)),
  created_at INTEGER NOT NULL,
  removed_at INTEGER CHECK (removed_at IS NULL OR (active = 0 AND settings = '{}'))
) STRICT, WITHOUT ROWID;

CREATE TRIGGER payment_methods_stay BEFORE DELETE ON payment_methods
BEGIN SELECT RAISE(ABORT, 'payments refer to methods'); END;

CREATE TRIGGER payment_methods_keep_identity BEFORE UPDATE ON payment_methods
WHEN NEW.method_id <> OLD.method_id OR NEW.kind <> OLD.kind OR NEW.currency <> OLD.currency OR NEW.created_at <> OLD.created_at
  OR OLD.removed_at IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a method keeps its kind and currency'); END;

CREATE TABLE payment_method_resellers (
  method_id TEXT NOT NULL REFERENCES payment_methods (method_id),
  account INTEGER NOT NULL REFERENCES users (account),
  PRIMARY KEY (method_id, account)
) STRICT, WITHOUT ROWID;

CREATE TABLE payments (
  payment_id INTEGER PRIMARY KEY CHECK (payment_id BETWEEN 1 AND 9007199254740991),
  id TEXT NOT NULL UNIQUE CHECK (length(id) = 24),
  account INTEGER NOT NULL REFERENCES users (account),
  method_id TEXT NOT NULL REFERENCES payment_methods (method_id),
  -- Who asked for it. Null: the member of an erased reseller.
  member_id TEXT REFERENCES members (id),
  -- The token of the form. The same form sent again is the same payment.
  request_key TEXT NOT NULL CHECK (length(request_key) BETWEEN 1 AND 64),
  state TEXT NOT NULL CHECK (
    state IN ('created', 'pending', 'paid', 'refunded', 'disputed', 'failed', 'expired', 'rejected')
  ),
  -- What the operator is to decide. Null: nothing.
  awaits TEXT CHECK (
    awaits IS NULL OR (state = 'pending' AND awaits IN ('claim', 'currency', 'amount', 'limit', 'disputed', 'rejected'))
  ),
  -- In millionths of the currency: what was asked for, the fee, and what the customer is to pay.
  asked_micros INTEGER NOT NULL CHECK (asked_micros BETWEEN 1 AND 1000000000000000),
  fee_micros INTEGER NOT NULL CHECK (fee_micros BETWEEN 0 AND 3000000000000000),
  due_micros INTEGER NOT NULL CHECK (due_micros BETWEEN asked_micros AND asked_micros + fee_micros),
  currency TEXT NOT NULL CHECK (length(currency) = 3),
  -- The terms of the method when it was asked for.
  terms TEXT NOT NULL CHECK (json_type(terms) = 'object'),
  -- In millionths of a US dollar: what is credited for what was asked, and once it is paid, what was credited.
  credit_micros INTEGER NOT NULL CHECK (credit_micros BETWEEN 0 AND 9007199254740991),
  bonus_micros INTEGER NOT NULL CHECK (bonus_micros BETWEEN 0 AND credit_micros),
  -- The method's own id, the page to pay on, and when that page ends.
  method_reference TEXT CHECK (length(method_reference) BETWEEN 1 AND 255),
  url TEXT CHECK (length(url) BETWEEN 1 AND 4096),
  expires_at INTEGER,
  customer_reference TEXT CHECK (length(customer_reference) BETWEEN 1 AND 200),
  received_micros INTEGER CHECK (received_micros BETWEEN 0 AND 9007199254740991),
  received_currency TEXT CHECK (
    (received_currency IS NULL) = (received_micros IS NULL) AND (received_currency IS NULL OR length(received_currency) = 3)
  ),
  -- Parts of what was received: given back, disputed, and how much of both the operator has decided on.
  refunded_micros INTEGER NOT NULL DEFAULT 0 CHECK (refunded_micros BETWEEN 0 AND 9007199254740991),
  disputed_micros INTEGER NOT NULL DEFAULT 0 CHECK (disputed_micros BETWEEN 0 AND 9007199254740991),
  settled_micros INTEGER NOT NULL DEFAULT 0 CHECK (settled_micros BETWEEN 0 AND 9007199254740991),
  -- What was debited for it, in millionths of a US dollar.
  reversed_micros INTEGER NOT NULL DEFAULT 0 CHECK (reversed_micros BETWEEN 0 AND credit_micros + bonus_micros),
  -- Why it was rejected, for the customer, and why it failed or waits, for the operator.
  reason TEXT CHECK (length(reason) >= 1),
  cause TEXT CHECK (length(cause) >= 1),
  created_at INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  paid_at INTEGER CHECK ((paid_at IS NOT NULL) = (state IN ('paid', 'refunded', 'disputed'))),
  -- When it is looked at again: read from the provider of the payment, or ended. Null: never.
  next_read_at INTEGER,
  reads INTEGER NOT NULL DEFAULT 0 CHECK (reads >= 0),
  CHECK (paid_at IS NULL OR (received_micros IS NOT NULL AND credit_micros >= 1))
) STRICT;

CREATE UNIQUE INDEX payments_by_request ON payments (account, request_key);
CREATE UNIQUE INDEX payments_by_reference ON payments (method_id, method_reference) WHERE method_reference IS NOT NULL;
CREATE INDEX payments_by_account ON payments (account, payment_id);
CREATE INDEX payments_by_state ON payments (state, payment_id);
CREATE INDEX payments_by_paid_time ON payments (paid_at) WHERE paid_at IS NOT NULL;
CREATE INDEX payments_due ON payments (next_read_at, payment_id) WHERE next_read_at IS NOT NULL;
CREATE INDEX payments_open ON payments (account, state) WHERE state IN ('created', 'pending');
CREATE INDEX payments_waiting ON payments (payment_id) WHERE awaits IS NOT NULL;
CREATE INDEX payments_reversed ON payments (payment_id)
  WHERE paid_at IS NOT NULL AND refunded_micros + disputed_micros > settled_micros;

CREATE TRIGGER payments_stay BEFORE DELETE ON payments
BEGIN SELECT RAISE(ABORT, 'payments are kept'); END;

CREATE TRIGGER payments_keep_identity BEFORE UPDATE ON payments
WHEN NEW.payment_id <> OLD.payment_id OR NEW.id <> OLD.id OR NEW.account <> OLD.account OR NEW.method_id <> OLD.method_id
  OR NEW.request_key <> OLD.request_key OR NEW.asked_micros <> OLD.asked_micros OR NEW.fee_micros <> OLD.fee_micros
  OR NEW.due_micros <> OLD.due_micros OR NEW.currency <> OLD.currency OR NEW.terms <> OLD.terms
  OR NEW.created_at <> OLD.created_at
  OR (OLD.paid_at IS NOT NULL AND (NEW.paid_at IS NOT OLD.paid_at OR NEW.credit_micros <> OLD.credit_micros
    OR NEW.bonus_micros <> OLD.bonus_micros OR NEW.received_micros IS NOT OLD.received_micros))
BEGIN SELECT RAISE(ABORT, 'a payment keeps what was asked and credited'); END;

-- docs/specification/payments.md#payment-states
CREATE TRIGGER payments_transition BEFORE UPDATE OF state ON payments
WHEN NEW.state <> OLD.state AND (OLD.state || ' ' || NEW.state) NOT IN (
  'created pending', 'created paid', 'created failed', 'created expired', 'created rejected',
  'pending paid', 'pending failed', 'pending expired', 'pending rejected',
  'failed pending', 'failed paid', 'expired pending', 'expired paid', 'rejected pending', 'rejected paid',
  'paid refunded', 'paid disputed', 'refunded disputed', 'disputed paid', 'disputed refunded'
)
BEGIN SELECT RAISE(ABORT, 'a payment cannot change to that state'); END;

-- Each change of a payment, with who made it. Null: a server.
CREATE TABLE payment_events (
  seq INTEGER PRIMARY KEY,
  payment_id INTEGER NOT NULL REFERENCES payments (payment_id),
  account INTEGER NOT NULL REFERENCES users (account),
  event TEXT NOT NULL CHECK (length(event) BETWEEN 1 AND 40),
  from_state TEXT NOT NULL,
  to_state TEXT NOT NULL,
  operator TEXT,
  detail TEXT CHECK (length(detail) >= 1),
  created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX payment_events_by_payment ON payment_events (payment_id, seq);

CREATE TRIGGER payment_events_are_kept BEFORE UPDATE ON payment_events
BEGIN SELECT RAISE(ABORT, 'events of payments are append-only'); END;

CREATE TRIGGER payment_events_stay BEFORE DELETE ON payment_events
BEGIN SELECT RAISE(ABORT, 'events of payments are append-only'); END;

-- The transfers of a payment. It is credited once, with at most one bonus.
CREATE TABLE payment_transfers (
  seq INTEGER PRIMARY KEY REFERENCES transfers (seq),
  payment_id INTEGER NOT NULL REFERENCES payments (payment_id),
  account INTEGER NOT NULL REFERENCES users (account),
  kind TEXT NOT NULL CHECK (kind IN ('payment', 'payment_bonus', 'payment_reversal'))
) STRICT;

CREATE UNIQUE INDEX payment_transfers_once ON payment_transfers (payment_id, kind) WHERE kind <> 'payment_reversal';
CREATE INDEX payment_transfers_by_payment ON payment_transfers (payment_id, seq);

CREATE TRIGGER payment_transfers_are_kept BEFORE UPDATE ON payment_transfers
BEGIN SELECT RAISE(ABORT, 'transfers are append-only'); END;

CREATE TRIGGER payment_transfers_stay BEFORE DELETE ON payment_transfers
BEGIN SELECT RAISE(ABORT, 'transfers are append-only'); END;

-- A file that the customer sent with what it paid. `data` is in base64.
CREATE TABLE payment_attachments (
  payment_id INTEGER PRIMARY KEY REFERENCES payments (payment_id),
  account INTEGER NOT NULL REFERENCES users (account),
  type TEXT NOT NULL CHECK (type IN ('image/png', 'image/jpeg', 'application/pdf')),
  bytes INTEGER NOT NULL CHECK (bytes BETWEEN 1 AND 1048576),
  sha256 TEXT NOT NULL CHECK (length(sha256) = 64),
  data TEXT NOT NULL CHECK (length(data) BETWEEN 4 AND 1398104),
  created_at INTEGER NOT NULL
) STRICT;
