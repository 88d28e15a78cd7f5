-- The tables as migrations/sqlite/ makes them, with the same rules. Amounts are integer micros; times are milliseconds;
-- booleans are 0 and 1, so that one text of a query serves both. Text is compared byte by byte, as SQLite does.

CREATE COLLATION "binary" FROM "C";

CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'check_violation'; END $$;

CREATE TABLE accounts (
  account bigint PRIMARY KEY,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('cash', 'sales', 'user'))
);

INSERT INTO accounts (account, kind) VALUES (1, 'cash'), (2, 'sales');

CREATE SEQUENCE accounts_number START 3 OWNED BY accounts.account;

-- A main user (reseller) has no parent; a child user's parent is a reseller.
-- The balance is a cache of the ledger: written only beside its transfer.
CREATE TABLE users (
  account bigint PRIMARY KEY REFERENCES accounts (account),
  id text COLLATE "C" NOT NULL UNIQUE CHECK (length(id) = 24),
  username text COLLATE "C" NOT NULL CHECK (length(username) BETWEEN 1 AND 64),
  name text COLLATE "C" NOT NULL,
  parent_account bigint REFERENCES users (account),
  balance_micros bigint NOT NULL DEFAULT 0,
  -- Credits from cash less debits to cash: a balance never exceeds it, so no refund can exceed 64 bits.
  deposited_micros bigint NOT NULL DEFAULT 0 CHECK (deposited_micros BETWEEN 0 AND 9000000000000000000),
  created_at bigint NOT NULL,
  CHECK (balance_micros BETWEEN 0 AND deposited_micros)
) WITH (fillfactor = 50);

CREATE UNIQUE INDEX users_by_username ON users (lower(username));
CREATE INDEX users_by_parent ON users (parent_account) WHERE parent_account IS NOT NULL;

CREATE FUNCTION users_parent_is_reseller() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (SELECT parent_account IS NOT NULL FROM users WHERE account = NEW.parent_account) THEN
    RAISE EXCEPTION 'the parent of a child user must be a reseller' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER users_parent_is_reseller BEFORE INSERT ON users FOR EACH ROW
WHEN (NEW.parent_account IS NOT NULL) EXECUTE FUNCTION users_parent_is_reseller();

CREATE TRIGGER users_keep_identity BEFORE UPDATE OF account, id, parent_account ON users FOR EACH ROW
EXECUTE FUNCTION refuse('a user keeps its account, id and parent');
CREATE TRIGGER users_are_kept BEFORE DELETE ON users FOR EACH ROW
EXECUTE FUNCTION refuse('users are never deleted');

-- Only the SHA-256 of a key is stored, and its first characters to recognise it by.
CREATE TABLE keys (
  id text COLLATE "C" PRIMARY KEY CHECK (length(id) = 24),
  reseller_account bigint NOT NULL REFERENCES users (account),
  hash text COLLATE "C" NOT NULL UNIQUE CHECK (length(hash) = 64),
  start text COLLATE "C" NOT NULL CHECK (length(start) <= 8),
  type text COLLATE "C" NOT NULL CHECK (type IN ('order', 'recharge', 'full')),
  reach text COLLATE "C" NOT NULL CHECK (reach IN ('all', 'children')),
  label text COLLATE "C" NOT NULL DEFAULT '',
  active smallint NOT NULL CHECK (active IN (0, 1)),
  created_at bigint NOT NULL,
  -- Null: never. From that time on the key is refused.
  expires_at bigint,
  -- Networks in CIDR notation, separated by commas; empty: every address.
  allow text COLLATE "C" NOT NULL DEFAULT '',
  -- Written at most once a minute.
  last_used_at bigint,
  -- The key that took this one's place; this one lives on until expires_at.
  replaced_by text COLLATE "C" REFERENCES keys (id),
  -- Its time has passed for certain: no clock that is put back revives it. Undone by activating it.
  ended smallint NOT NULL DEFAULT 0 CHECK (ended IN (0, 1)),
  CHECK (expires_at >= created_at)
);

CREATE INDEX keys_by_reseller ON keys (reseller_account);

CREATE FUNCTION keys_belong_to_resellers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (SELECT parent_account IS NOT NULL FROM users WHERE account = NEW.reseller_account) THEN
    RAISE EXCEPTION 'a key belongs to a reseller, never to a child user' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER keys_belong_to_resellers BEFORE INSERT ON keys FOR EACH ROW
EXECUTE FUNCTION keys_belong_to_resellers();

-- The key is in clear here and nowhere else: it has to be sent.
CREATE TABLE providers (
  provider_id bigint PRIMARY KEY,
  name text COLLATE "C" NOT NULL CHECK (length(name) BETWEEN 1 AND 64),
  protocol text COLLATE "C" NOT NULL,
  url text COLLATE "C" NOT NULL CHECK (url ILIKE 'http://%' OR url ILIKE 'https://%'),
  key text COLLATE "C" NOT NULL CHECK (length(key) >= 1),
  -- When a call last did what it was for.
  last_success_at bigint,
  -- Since when it refuses orders for lack of funds; null once it accepts one again.
  out_of_funds_at bigint,
  created_at bigint NOT NULL
);

CREATE SEQUENCE providers_number OWNED BY providers.provider_id;
CREATE UNIQUE INDEX providers_by_name ON providers (lower(name));

-- A service with a provider is passed on; one without is manual.
CREATE TABLE services (
  id text COLLATE "C" PRIMARY KEY CHECK (length(id) BETWEEN 1 AND 64),
  name text COLLATE "C" NOT NULL CHECK (length(name) >= 1),
  price_micros bigint NOT NULL CHECK (price_micros BETWEEN 0 AND 9007199254740991),
  per text COLLATE "C" NOT NULL CHECK (per IN ('1000', '1', 'order')),
  min bigint NOT NULL CHECK (min >= 1),
  max bigint NOT NULL CHECK (max <= 1000000000),
  active smallint NOT NULL CHECK (active IN (0, 1)),
  private smallint NOT NULL CHECK (private IN (0, 1)),
  created_at bigint NOT NULL,
  provider_id bigint REFERENCES providers (provider_id),
  provider_service text COLLATE "C" CHECK ((provider_service IS NULL) = (provider_id IS NULL)),
  -- Which fields the operator set: a sync leaves them alone.
  name_by_hand smallint NOT NULL DEFAULT 1 CHECK (name_by_hand IN (0, 1)),
  price_by_hand smallint NOT NULL DEFAULT 1 CHECK (price_by_hand IN (0, 1)),
  min_by_hand smallint NOT NULL DEFAULT 1 CHECK (min_by_hand IN (0, 1)),
  max_by_hand smallint NOT NULL DEFAULT 1 CHECK (max_by_hand IN (0, 1)),
  -- Deactivated by a sync because the provider no longer lists it: the sync that sees it again brings it back.
  vanished smallint NOT NULL DEFAULT 0 CHECK (vanished IN (0, 1) AND (vanished = 0 OR active = 0)),
  CHECK (min <= max)
);

CREATE INDEX services_by_name ON services (name, id);
CREATE INDEX services_by_provider ON services (provider_id, provider_service) WHERE provider_id IS NOT NULL;

-- A grant opens a private service to a reseller, gives it a price of its own, or both.
CREATE TABLE grants (
  service_id text COLLATE "C" NOT NULL REFERENCES services (id),
  reseller_account bigint NOT NULL REFERENCES users (account),
  price_micros bigint CHECK (price_micros BETWEEN 0 AND 9007199254740991),
  created_at bigint NOT NULL,
  PRIMARY KEY (service_id, reseller_account)
);

CREATE INDEX grants_by_reseller ON grants (reseller_account);

-- Grows with every change of what GET /services tells and whom it tells it, in the transaction of the change.
CREATE TABLE catalogue_version (
  id bigint PRIMARY KEY CHECK (id = 1),
  version bigint NOT NULL
);

INSERT INTO catalogue_version (id, version) VALUES (1, 1);

CREATE FUNCTION catalogue_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN UPDATE catalogue_version SET version = version + 1 WHERE id = 1; RETURN NULL; END $$;

CREATE TRIGGER services_added AFTER INSERT ON services FOR EACH STATEMENT EXECUTE FUNCTION catalogue_changed();
CREATE TRIGGER services_changed AFTER UPDATE OF id, name, price_micros, min, max, active, private ON services
FOR EACH STATEMENT EXECUTE FUNCTION catalogue_changed();
CREATE TRIGGER services_removed AFTER DELETE ON services FOR EACH STATEMENT EXECUTE FUNCTION catalogue_changed();
CREATE TRIGGER grants_added AFTER INSERT ON grants FOR EACH STATEMENT EXECUTE FUNCTION catalogue_changed();
CREATE TRIGGER grants_changed AFTER UPDATE OF service_id, reseller_account, price_micros ON grants
FOR EACH STATEMENT EXECUTE FUNCTION catalogue_changed();
CREATE TRIGGER grants_removed AFTER DELETE ON grants FOR EACH STATEMENT EXECUTE FUNCTION catalogue_changed();

-- An order keeps what it was sold as: a later edit of its service changes no past order.
CREATE TABLE orders (
  order_id bigint PRIMARY KEY CHECK (order_id > 0),
  id text COLLATE "C" NOT NULL UNIQUE CHECK (length(id) = 24),
  reseller_account bigint NOT NULL REFERENCES users (account),
  service_id text COLLATE "C" NOT NULL REFERENCES services (id),
  service_name text COLLATE "C" NOT NULL,
  price_micros bigint NOT NULL CHECK (price_micros >= 0),
  per text COLLATE "C" NOT NULL CHECK (per IN ('1000', '1', 'order')),
  link text COLLATE "C" NOT NULL CHECK (length(link) >= 1),
  quantity bigint NOT NULL CHECK (quantity BETWEEN 1 AND 1000000000),
  charge_micros bigint NOT NULL CHECK (charge_micros >= 0),
  refunded_micros bigint NOT NULL DEFAULT 0 CHECK (refunded_micros BETWEEN 0 AND charge_micros),
  status text COLLATE "C" NOT NULL CHECK (
    status IN ('PENDING', 'PROCESSING', 'COMPLETED', 'PARTIAL', 'FAILED', 'CANCELLED', 'REFUNDED')
  ),
  start_count bigint NOT NULL DEFAULT 0 CHECK (start_count >= 0),
  remains bigint NOT NULL CHECK (remains BETWEEN 0 AND quantity),
  created_at bigint NOT NULL,
  provider_id bigint REFERENCES providers (provider_id),
  provider_service text COLLATE "C" CHECK ((provider_service IS NULL) = (provider_id IS NULL)),
  placement text COLLATE "C" NOT NULL DEFAULT 'manual' CHECK (
    placement IN ('manual', 'queued', 'sending', 'placed', 'refused', 'expired', 'unknown')
    AND (placement = 'manual') = (provider_id IS NULL)
    AND (status <> 'PENDING' OR placement IN ('queued', 'sending', 'unknown'))
    AND (placement <> 'sending' OR status = 'PENDING')
    AND (placement NOT IN ('queued', 'unknown') OR status IN ('PENDING', 'CANCELLED'))
    AND (placement NOT IN ('refused', 'expired') OR status = 'FAILED')
  ),
  provider_order text COLLATE "C" CHECK ((provider_order IS NOT NULL) = (placement = 'placed')),
  -- The status that the provider reported last, as ours.
  reported text COLLATE "C" CHECK (reported IS NULL OR placement = 'placed'),
  next_place_at bigint CHECK ((next_place_at IS NOT NULL) = (placement = 'queued' AND status = 'PENDING')),
  next_check_at bigint CHECK (
    (next_check_at IS NULL OR placement = 'placed')
    AND (next_check_at IS NOT NULL OR placement <> 'placed' OR status <> 'PROCESSING')
  ),
  -- When the provider was last found to have answered for the order, and when that last said something new.
  checked_at bigint CHECK ((checked_at IS NOT NULL) = (placement = 'placed')),
  changed_at bigint CHECK ((changed_at IS NOT NULL) = (placement = 'placed')),
  -- The caller's own name for an order.
  reference text COLLATE "C" CHECK (length(reference) BETWEEN 1 AND 64),
  CHECK (status NOT IN ('FAILED', 'CANCELLED', 'REFUNDED') OR refunded_micros = charge_micros),
  CHECK (status NOT IN ('PENDING', 'PROCESSING', 'COMPLETED') OR refunded_micros = 0)
);

CREATE SEQUENCE orders_number OWNED BY orders.order_id;
CREATE UNIQUE INDEX orders_by_reference ON orders (reseller_account, reference) WHERE reference IS NOT NULL;
CREATE INDEX orders_by_status ON orders (reseller_account, status, order_id);
-- Numbers of several servers do not follow the clock: lists by time go by it.
CREATE INDEX orders_by_time ON orders (reseller_account, created_at);
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
FOR EACH ROW EXECUTE FUNCTION refuse('an order keeps the terms it was placed on');

-- Where a final order stands with its provider may still be noted; its status may not change.
CREATE TRIGGER orders_final BEFORE UPDATE OF status ON orders FOR EACH ROW
WHEN (NEW.status <> OLD.status AND OLD.status IN ('FAILED', 'CANCELLED', 'REFUNDED'))
EXECUTE FUNCTION refuse('FAILED, CANCELLED and REFUNDED are final');

-- What was sent, or may have been, is never queued again.
CREATE TRIGGER orders_placement_moves BEFORE UPDATE OF placement ON orders FOR EACH ROW
WHEN (OLD.placement <> NEW.placement AND NOT (
  (OLD.placement = 'queued' AND NEW.placement IN ('sending', 'expired'))
  OR (OLD.placement = 'sending' AND NEW.placement IN ('queued', 'placed', 'refused', 'unknown'))
  OR (OLD.placement = 'unknown' AND NEW.placement IN ('placed', 'refused'))
))
EXECUTE FUNCTION refuse('a placement cannot move that way');

CREATE TRIGGER orders_keep_provider_order BEFORE UPDATE OF provider_order ON orders FOR EACH ROW
WHEN (OLD.provider_order IS NOT NULL AND NEW.provider_order IS DISTINCT FROM OLD.provider_order)
EXECUTE FUNCTION refuse('an order keeps the number its provider gave it');

CREATE TRIGGER orders_keep_reference BEFORE UPDATE OF reference ON orders FOR EACH ROW
EXECUTE FUNCTION refuse('an order keeps its reference');
CREATE TRIGGER orders_are_kept BEFORE DELETE ON orders FOR EACH ROW
EXECUTE FUNCTION refuse('orders are never deleted');

-- One row for each time an order is sent: committed as `sending` before the call, finished by its outcome.
CREATE TABLE placement_attempts (
  attempt_id bigint PRIMARY KEY,
  order_id bigint NOT NULL REFERENCES orders (order_id),
  outcome text COLLATE "C" NOT NULL CHECK (outcome IN ('sending', 'accepted', 'refused', 'not_sent', 'unknown')),
  -- Why, with the provider's key masked. For the operator only.
  cause text COLLATE "C",
  started_at bigint NOT NULL,
  finished_at bigint,
  -- The server that makes the attempt; null: none. While it has no outcome and that server is gone, nobody knows whether
  -- the order was sent.
  server text COLLATE "C",
  CHECK ((outcome = 'sending') = (finished_at IS NULL))
);

CREATE SEQUENCE placement_attempts_number OWNED BY placement_attempts.attempt_id;
CREATE INDEX placement_attempts_by_order ON placement_attempts (order_id, attempt_id);
-- Placed at most once: a further attempt can only follow ones that were certainly not sent.
CREATE UNIQUE INDEX placement_attempts_sent_once ON placement_attempts (order_id) WHERE outcome <> 'not_sent';

CREATE TRIGGER placement_attempts_finish_once BEFORE UPDATE ON placement_attempts FOR EACH ROW
WHEN (OLD.outcome <> 'sending' OR NEW.order_id <> OLD.order_id OR NEW.started_at <> OLD.started_at)
EXECUTE FUNCTION refuse('an attempt is finished once and then kept');
CREATE TRIGGER placement_attempts_keep_server BEFORE UPDATE OF server ON placement_attempts FOR EACH ROW
EXECUTE FUNCTION refuse('an attempt keeps its server');
CREATE TRIGGER placement_attempts_are_kept BEFORE DELETE ON placement_attempts FOR EACH ROW
EXECUTE FUNCTION refuse('placement attempts are never deleted');

-- What a provider reported of an order that had ended here: listed for the operator, never applied.
CREATE TABLE late_reports (
  order_id bigint NOT NULL REFERENCES orders (order_id),
  reported text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  PRIMARY KEY (order_id, reported)
);

-- Every change of an order's status after its creation: when, from what, to what, by whom, why.
CREATE TABLE order_events (
  seq bigint PRIMARY KEY,
  order_id bigint NOT NULL REFERENCES orders (order_id),
  from_status text COLLATE "C" NOT NULL,
  to_status text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" REFERENCES keys (id),
  operator text COLLATE "C",
  note text COLLATE "C",
  created_at bigint NOT NULL,
  CHECK (key_id IS NULL OR operator IS NULL)
);

CREATE SEQUENCE order_events_number OWNED BY order_events.seq;
CREATE INDEX order_events_by_order ON order_events (order_id, seq);

CREATE TRIGGER order_events_append_only BEFORE UPDATE OR DELETE ON order_events FOR EACH ROW
EXECUTE FUNCTION refuse('order events are append-only');

-- The ledger. A transfer is never changed or deleted; an undo is a new, reversed one.
CREATE TABLE transfers (
  seq bigint PRIMARY KEY,
  debit_account bigint NOT NULL REFERENCES accounts (account),
  credit_account bigint NOT NULL REFERENCES accounts (account),
  amount_micros bigint NOT NULL CHECK (amount_micros BETWEEN 1 AND 9007199254740991),
  kind text COLLATE "C" NOT NULL,
  order_id bigint REFERENCES orders (order_id),
  key_id text COLLATE "C" REFERENCES keys (id),
  operator text COLLATE "C",
  note text COLLATE "C",
  created_at bigint NOT NULL,
  -- Of the user on one side of the transfer, once it was posted: every transfer has one such side.
  balance_after_micros bigint NOT NULL DEFAULT 0
    CHECK (balance_after_micros BETWEEN 0 AND 9000000000000000000),
  CHECK (debit_account <> credit_account),
  CHECK (key_id IS NULL OR operator IS NULL),
  CHECK (
    (order_id IS NOT NULL AND kind IN ('order', 'partial_refund', 'refund'))
    OR (order_id IS NULL AND kind IN ('recharge', 'adjustment'))
  )
);

CREATE SEQUENCE transfers_number OWNED BY transfers.seq;
-- One charge, at most one partial and one full refund an order.
CREATE UNIQUE INDEX transfers_once_an_order ON transfers (order_id, kind) WHERE order_id IS NOT NULL;
CREATE INDEX transfers_by_debit ON transfers (debit_account, seq) WHERE debit_account > 2;
CREATE INDEX transfers_by_credit ON transfers (credit_account, kind, seq) WHERE credit_account > 2;
CREATE INDEX transfers_by_adjustment ON transfers (debit_account, seq) WHERE debit_account > 2 AND kind = 'adjustment';
-- A query that does not say `created_at >= 0` cannot use these: lists by number must never be planned to sort by them.
CREATE INDEX transfers_by_debit_time ON transfers (debit_account, created_at) WHERE debit_account > 2 AND created_at >= 0;
CREATE INDEX transfers_by_credit_time ON transfers (credit_account, created_at) WHERE credit_account > 2 AND created_at >= 0;

CREATE TRIGGER transfers_append_only BEFORE UPDATE OR DELETE ON transfers FOR EACH ROW
EXECUTE FUNCTION refuse('transfers are append-only');

-- What a request with an Idempotency-Key did, so that its duplicates do nothing and get its answer.
-- Written in the transaction of the effect: an order, or the transfer of a recharge. No answer yet means
-- that the request still waits for the order's provider, or that the process died before it answered.
CREATE TABLE idempotency (
  seq bigint PRIMARY KEY,
  reseller_account bigint NOT NULL REFERENCES users (account),
  key text COLLATE "C" NOT NULL CHECK (length(key) BETWEEN 1 AND 255),
  request_hash text COLLATE "C" NOT NULL CHECK (length(request_hash) = 64),
  order_id bigint REFERENCES orders (order_id),
  transfer_seq bigint REFERENCES transfers (seq),
  answer_status bigint CHECK (answer_status BETWEEN 200 AND 599),
  answer_body text COLLATE "C",
  -- What a batch came to, order by order, for when its answer was never given.
  results text COLLATE "C",
  created_at bigint NOT NULL,
  -- The uptime when it was written: its age is an uptime too, so that a clock that is corrected does not end it.
  uptime bigint NOT NULL DEFAULT 0 CHECK (uptime >= 0),
  UNIQUE (reseller_account, key),
  CHECK ((order_id IS NULL) <> (transfer_seq IS NULL)),
  CHECK ((answer_status IS NULL) = (answer_body IS NULL)),
  CHECK (transfer_seq IS NULL OR answer_body IS NOT NULL),
  CHECK (results IS NULL OR order_id IS NOT NULL)
);

CREATE SEQUENCE idempotency_number OWNED BY idempotency.seq;
CREATE INDEX idempotency_by_age ON idempotency (uptime);

CREATE TRIGGER idempotency_keeps_its_effect
BEFORE UPDATE OF seq, reseller_account, key, request_hash, order_id, transfer_seq, results, created_at, uptime ON idempotency
FOR EACH ROW EXECUTE FUNCTION refuse('a used key keeps what it did');
CREATE TRIGGER idempotency_keeps_its_answer BEFORE UPDATE ON idempotency FOR EACH ROW
WHEN (OLD.answer_body IS NOT NULL) EXECUTE FUNCTION refuse('a given answer is never changed');

-- How long servers have run on this database, by a monotonic clock: it grows no faster than real time whatever the wall
-- clock is set to, and stands still while no server runs.
CREATE TABLE uptime (
  id bigint PRIMARY KEY CHECK (id = 1),
  milliseconds bigint NOT NULL CHECK (milliseconds >= 0)
);

INSERT INTO uptime (id, milliseconds) VALUES (1, 0);

CREATE TRIGGER uptime_only_grows BEFORE UPDATE ON uptime FOR EACH ROW
WHEN (NEW.milliseconds < OLD.milliseconds) EXECUTE FUNCTION refuse('uptime only grows');
CREATE TRIGGER uptime_stays BEFORE DELETE ON uptime FOR EACH ROW EXECUTE FUNCTION refuse('uptime only grows');

-- The processes that serve this database, from their start to their end; one that is killed loses its lease.
CREATE TABLE servers (
  id text COLLATE "C" PRIMARY KEY CHECK (length(id) = 24),
  name text COLLATE "C" NOT NULL CHECK (length(name) BETWEEN 1 AND 64),
  started_at bigint NOT NULL,
  lease_until bigint NOT NULL
);

-- Every change an operator or a key made, in the transaction of the change. `before` and `after` are JSON
-- objects of what differs; never a secret.
CREATE TABLE audit (
  seq bigint PRIMARY KEY,
  created_at bigint NOT NULL,
  key_id text COLLATE "C" REFERENCES keys (id),
  operator text COLLATE "C",
  action text COLLATE "C" NOT NULL CHECK (length(action) >= 1),
  subject text COLLATE "C" NOT NULL CHECK (length(subject) >= 1),
  -- The user whom the change concerns; null where it concerns all.
  account bigint REFERENCES users (account),
  before text COLLATE "C" CHECK (json_typeof(before::json) = 'object'),
  after text COLLATE "C" CHECK (json_typeof(after::json) = 'object'),
  CHECK ((key_id IS NULL) <> (operator IS NULL)),
  CHECK (before IS NOT NULL OR after IS NOT NULL)
);

CREATE SEQUENCE audit_number OWNED BY audit.seq;
CREATE INDEX audit_by_account ON audit (account, seq) WHERE account IS NOT NULL;

CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE ON audit FOR EACH ROW
EXECUTE FUNCTION refuse('the audit log is append-only');

-- One row for each transaction that was sent to be committed: whether it was can be asked after the connection was
-- lost. `void`: the one who asked was first, and it never will be. Ids grow with time, so old ones are easy to delete.
CREATE TABLE batches (
  id uuid PRIMARY KEY,
  void boolean NOT NULL DEFAULT false
);
