-- Payments: how resellers add funds, and what was received.

-- Payments have kinds of transfers of their own.
ALTER TABLE transfers DROP CONSTRAINT transfers_check2;
ALTER TABLE transfers ADD CONSTRAINT transfers_check2 CHECK (
  (order_id IS NOT NULL AND kind IN ('order', 'partial_refund', 'refund'))
  OR (order_id IS NULL AND kind IN ('recharge', 'adjustment', 'payment', 'payment_bonus', 'payment_reversal'))
);

CREATE INDEX transfers_by_reversal ON transfers (debit_account, seq)
  WHERE debit_account > 2 AND kind = 'payment_reversal';

-- Ways to pay. Texts are JSON by language. Settings are a JSON object and hold the secrets, in clear, because they sign.
CREATE TABLE payment_methods (
  method_id text COLLATE "C" PRIMARY KEY CHECK (length(method_id) BETWEEN 1 AND 40),
  kind text COLLATE "C" NOT NULL CHECK (length(kind) BETWEEN 1 AND 40),
  names text COLLATE "C" NOT NULL CHECK (json_typeof(names::json) = 'object'),
  instructions text COLLATE "C" NOT NULL CHECK (json_typeof(instructions::json) = 'object'),
  -- In millionths of the currency.
  min_micros bigint NOT NULL CHECK (min_micros >= 1),
  max_micros bigint NOT NULL CHECK (max_micros BETWEEN min_micros AND 1000000000000000),
  fee_ppm bigint NOT NULL CHECK (fee_ppm BETWEEN 0 AND 1000000),
  fee_fixed_micros bigint NOT NULL CHECK (fee_fixed_micros BETWEEN 0 AND 1000000000000000),
  fee_payer text COLLATE "C" NOT NULL CHECK (fee_payer IN ('customer', 'operator')),
  -- A list of {fromMicros, ppm}.
  bonus_steps text COLLATE "C" NOT NULL CHECK (json_typeof(bonus_steps::json) = 'array'),
  currency text COLLATE "C" NOT NULL CHECK (length(currency) = 3),
  rate_to_usd text COLLATE "C" NOT NULL CHECK (length(rate_to_usd) BETWEEN 1 AND 40),
  settings text COLLATE "C" NOT NULL CHECK (json_typeof(settings::json) = 'object'),
  -- Which resellers may use it: all, or those in payment_method_resellers.
  resellers text COLLATE "C" NOT NULL CHECK (resellers IN ('all', 'listed')),
  active smallint NOT NULL CHECK (active IN (0, 1)),
  created_at bigint NOT NULL,
  removed_at bigint CHECK (removed_at IS NULL OR (active = 0 AND settings = '{}'))
);

CREATE TRIGGER payment_methods_stay BEFORE DELETE ON payment_methods FOR EACH ROW
EXECUTE FUNCTION refuse('payments refer to methods');

CREATE TRIGGER payment_methods_keep_identity BEFORE UPDATE ON payment_methods FOR EACH ROW
WHEN (NEW.method_id <> OLD.method_id OR NEW.kind <> OLD.kind OR NEW.currency <> OLD.currency OR NEW.created_at <> OLD.created_at
  OR OLD.removed_at IS NOT NULL)
EXECUTE FUNCTION refuse('a method keeps its kind and currency');

CREATE TABLE payment_method_resellers (
  method_id text COLLATE "C" NOT NULL REFERENCES payment_methods (method_id),
  account bigint NOT NULL REFERENCES users (account),
  PRIMARY KEY (method_id, account)
);

CREATE TABLE payments (
  payment_id bigint PRIMARY KEY CHECK (payment_id BETWEEN 1 AND 9007199254740991),
  id text COLLATE "C" NOT NULL UNIQUE CHECK (length(id) = 24),
  account bigint NOT NULL REFERENCES users (account),
  method_id text COLLATE "C" NOT NULL REFERENCES payment_methods (method_id),
  -- Who asked for it. Null: the member of an erased reseller.
  member_id text COLLATE "C" REFERENCES members (id),
  -- The token of the form. The same form sent again is the same payment.
  request_key text COLLATE "C" NOT NULL CHECK (length(request_key) BETWEEN 1 AND 64),
  state text COLLATE "C" NOT NULL CHECK (
    state IN ('created', 'pending', 'paid', 'refunded', 'disputed', 'failed', 'expired', 'rejected')
  ),
  -- What the operator is to decide. Null: nothing.
  awaits text COLLATE "C" CHECK (
    awaits IS NULL OR (state = 'pending' AND awaits IN ('claim', 'currency', 'amount', 'limit', 'disputed', 'rejected'))
  ),
  -- In millionths of the currency: what was asked for, the fee, and what the customer is to pay.
  asked_micros bigint NOT NULL CHECK (asked_micros BETWEEN 1 AND 1000000000000000),
  fee_micros bigint NOT NULL CHECK (fee_micros BETWEEN 0 AND 3000000000000000),
  due_micros bigint NOT NULL CHECK (due_micros BETWEEN asked_micros AND asked_micros + fee_micros),
  currency text COLLATE "C" NOT NULL CHECK (length(currency) = 3),
  -- The terms of the method when it was asked for.
  terms text COLLATE "C" NOT NULL CHECK (json_typeof(terms::json) = 'object'),
  -- In millionths of a US dollar: what is credited for what was asked, and once it is paid, what was credited.
  credit_micros bigint NOT NULL CHECK (credit_micros BETWEEN 0 AND 9007199254740991),
  bonus_micros bigint NOT NULL CHECK (bonus_micros BETWEEN 0 AND credit_micros),
  -- The method's own id, the page to pay on, and when that page ends.
  method_reference text COLLATE "C" CHECK (length(method_reference) BETWEEN 1 AND 255),
  url text COLLATE "C" CHECK (length(url) BETWEEN 1 AND 4096),
  expires_at bigint,
  customer_reference text COLLATE "C" CHECK (length(customer_reference) BETWEEN 1 AND 200),
  received_micros bigint CHECK (received_micros BETWEEN 0 AND 9007199254740991),
  received_currency text COLLATE "C" CHECK (
    (received_currency IS NULL) = (received_micros IS NULL) AND (received_currency IS NULL OR length(received_currency) = 3)
  ),
  -- Parts of what was received: given back, disputed, and how much of both the operator has decided on.
  refunded_micros bigint NOT NULL DEFAULT 0 CHECK (refunded_micros BETWEEN 0 AND 9007199254740991),
  disputed_micros bigint NOT NULL DEFAULT 0 CHECK (disputed_micros BETWEEN 0 AND 9007199254740991),
  settled_micros bigint NOT NULL DEFAULT 0 CHECK (settled_micros BETWEEN 0 AND 9007199254740991),
  -- What was debited for it, in millionths of a US dollar.
  reversed_micros bigint NOT NULL DEFAULT 0 CHECK (reversed_micros BETWEEN 0 AND credit_micros + bonus_micros),
  -- Why it was rejected, for the customer, and why it failed or waits, for the operator.
  reason text COLLATE "C" CHECK (length(reason) >= 1),
  cause text COLLATE "C" CHECK (length(cause) >= 1),
  created_at bigint NOT NULL,
  changed_at bigint NOT NULL,
  paid_at bigint CHECK ((paid_at IS NOT NULL) = (state IN ('paid', 'refunded', 'disputed'))),
  -- When it is looked at again: read from the provider of the payment, or ended. Null: never.
  next_read_at bigint,
  reads bigint NOT NULL DEFAULT 0 CHECK (reads >= 0),
  CHECK (paid_at IS NULL OR (received_micros IS NOT NULL AND credit_micros >= 1))
);

CREATE SEQUENCE payments_number OWNED BY payments.payment_id;
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

CREATE TRIGGER payments_stay BEFORE DELETE ON payments FOR EACH ROW
EXECUTE FUNCTION refuse('payments are kept');

CREATE TRIGGER payments_keep_identity BEFORE UPDATE ON payments FOR EACH ROW
WHEN (NEW.payment_id <> OLD.payment_id OR NEW.id <> OLD.id OR NEW.account <> OLD.account OR NEW.method_id <> OLD.method_id
  OR NEW.request_key <> OLD.request_key OR NEW.asked_micros <> OLD.asked_micros OR NEW.fee_micros <> OLD.fee_micros
  OR NEW.due_micros <> OLD.due_micros OR NEW.currency <> OLD.currency OR NEW.terms <> OLD.terms
  OR NEW.created_at <> OLD.created_at
  OR (OLD.paid_at IS NOT NULL AND (NEW.paid_at IS DISTINCT FROM OLD.paid_at OR NEW.credit_micros <> OLD.credit_micros
    OR NEW.bonus_micros <> OLD.bonus_micros OR NEW.received_micros IS DISTINCT FROM OLD.received_micros)))
EXECUTE FUNCTION refuse('a payment keeps what was asked and credited');

-- docs/specification/payments.md#payment-states
CREATE TRIGGER payments_transition BEFORE UPDATE OF state ON payments FOR EACH ROW
WHEN (NEW.state <> OLD.state AND (OLD.state || ' ' || NEW.state) NOT IN (
  'created pending', 'created paid', 'created failed', 'created expired', 'created rejected',
  'pending paid', 'pending failed', 'pending expired', 'pending rejected',
  'failed pending', 'failed paid', 'expired pending', 'expired paid', 'rejected pending', 'rejected paid',
  'paid refunded', 'paid disputed', 'refunded disputed', 'disputed paid', 'disputed refunded'
))
EXECUTE FUNCTION refuse('a payment cannot change to that state');

-- Each change of a payment, with who made it. Null: a server.
CREATE TABLE payment_events (
  seq bigint PRIMARY KEY,
  payment_id bigint NOT NULL REFERENCES payments (payment_id),
  account bigint NOT NULL REFERENCES users (account),
  event text COLLATE "C" NOT NULL CHECK (length(event) BETWEEN 1 AND 40),
  from_state text COLLATE "C" NOT NULL,
  to_state text COLLATE "C" NOT NULL,
  operator text COLLATE "C",
  detail text COLLATE "C" CHECK (length(detail) >= 1),
  created_at bigint NOT NULL
);

CREATE SEQUENCE payment_events_number OWNED BY payment_events.seq;
CREATE INDEX payment_events_by_payment ON payment_events (payment_id, seq);

CREATE TRIGGER payment_events_are_kept BEFORE UPDATE ON payment_events FOR EACH ROW
EXECUTE FUNCTION refuse('events of payments are append-only');

CREATE TRIGGER payment_events_stay BEFORE DELETE ON payment_events FOR EACH ROW
EXECUTE FUNCTION refuse('events of payments are append-only');

-- The transfers of a payment. It is credited once, with at most one bonus.
CREATE TABLE payment_transfers (
  seq bigint PRIMARY KEY REFERENCES transfers (seq),
  payment_id bigint NOT NULL REFERENCES payments (payment_id),
  account bigint NOT NULL REFERENCES users (account),
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('payment', 'payment_bonus', 'payment_reversal'))
);

CREATE UNIQUE INDEX payment_transfers_once ON payment_transfers (payment_id, kind) WHERE kind <> 'payment_reversal';
CREATE INDEX payment_transfers_by_payment ON payment_transfers (payment_id, seq);

CREATE TRIGGER payment_transfers_are_kept BEFORE UPDATE ON payment_transfers FOR EACH ROW
EXECUTE FUNCTION refuse('transfers are append-only');

CREATE TRIGGER payment_transfers_stay BEFORE DELETE ON payment_transfers FOR EACH ROW
EXECUTE FUNCTION refuse('transfers are append-only');

-- A file that the customer sent with what it paid. `data` is in base64.
CREATE TABLE payment_attachments (
  payment_id bigint PRIMARY KEY REFERENCES payments (payment_id),
  account bigint NOT NULL REFERENCES users (account),
  type text COLLATE "C" NOT NULL CHECK (type IN ('image/png', 'image/jpeg', 'application/pdf')),
  bytes bigint NOT NULL CHECK (bytes BETWEEN 1 AND 1048576),
  sha256 text COLLATE "C" NOT NULL CHECK (length(sha256) = 64),
  data text COLLATE "C" NOT NULL CHECK (length(data) BETWEEN 4 AND 1398104),
  created_at bigint NOT NULL
);
