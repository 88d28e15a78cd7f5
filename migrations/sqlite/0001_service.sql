-- Users, keys, the catalogue, orders and the ledger. Amounts are integer micros; times are milliseconds.

CREATE TABLE accounts (
  account INTEGER PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('cash', 'sales', 'user'))
) STRICT;

INSERT INTO accounts (account, kind) VALUES (1, 'cash'), (2, 'sales');

-- A main user (reseller) has no parent; a child user's parent is a reseller.
-- The balance is a cache of the ledger: written only beside its transfer.
CREATE TABLE users (
  account INTEGER PRIMARY KEY REFERENCES accounts (account),
  id TEXT NOT NULL UNIQUE CHECK (length(id) = 24),
  username TEXT NOT NULL COLLATE NOCASE UNIQUE CHECK (length(username) BETWEEN 1 AND 64),
  name TEXT NOT NULL,
  parent_account INTEGER REFERENCES users (account),
  balance_micros INTEGER NOT NULL DEFAULT 0 CHECK (balance_micros BETWEEN 0 AND 9007199254740991),
  created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX users_by_parent ON users (parent_account) WHERE parent_account IS NOT NULL;

CREATE TRIGGER users_parent_is_reseller BEFORE INSERT ON users
WHEN NEW.parent_account IS NOT NULL
  AND (SELECT parent_account IS NOT NULL FROM users WHERE account = NEW.parent_account)
BEGIN SELECT RAISE(ABORT, 'the parent of a child user must be a reseller'); END;

CREATE TRIGGER users_keep_identity BEFORE UPDATE OF account, id, parent_account ON users
BEGIN SELECT RAISE(ABORT, 'a user keeps its account, id and parent'); END;

CREATE TRIGGER users_are_kept BEFORE DELETE ON users
BEGIN SELECT RAISE(ABORT, 'users are never deleted'); END;

-- Only the SHA-256 of a key is stored, and its first characters to recognise it by.
CREATE TABLE keys (
  id TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 24),
  reseller_account INTEGER NOT NULL REFERENCES users (account),
  hash TEXT NOT NULL UNIQUE CHECK (length(hash) = 64),
  start TEXT NOT NULL CHECK (length(start) <= 8),
  type TEXT NOT NULL CHECK (type IN ('order', 'recharge', 'full')),
  reach TEXT NOT NULL CHECK (reach IN ('all', 'children')),
  label TEXT NOT NULL DEFAULT '',
  active INTEGER NOT NULL CHECK (active IN (0, 1)),
  created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX keys_by_reseller ON keys (reseller_account);

CREATE TRIGGER keys_belong_to_resellers BEFORE INSERT ON keys
WHEN (SELECT parent_account IS NOT NULL FROM users WHERE account = NEW.reseller_account)
BEGIN SELECT RAISE(ABORT, 'a key belongs to a reseller, never to a child user'); END;

CREATE TABLE services (
  id TEXT PRIMARY KEY NOT NULL CHECK (length(id) BETWEEN 1 AND 64),
  name TEXT NOT NULL CHECK (length(name) >= 1),
  price_micros INTEGER NOT NULL CHECK (price_micros BETWEEN 0 AND 9007199254740991),
  per TEXT NOT NULL CHECK (per IN ('1000', '1', 'order')),
  min INTEGER NOT NULL CHECK (min >= 1),
  max INTEGER NOT NULL CHECK (max <= 1000000000),
  active INTEGER NOT NULL CHECK (active IN (0, 1)),
  private INTEGER NOT NULL CHECK (private IN (0, 1)),
  created_at INTEGER NOT NULL,
  CHECK (min <= max)
) STRICT;

CREATE INDEX services_by_name ON services (name, id);

-- A grant opens a private service to a reseller, gives it a price of its own, or both.
CREATE TABLE grants (
  service_id TEXT NOT NULL REFERENCES services (id),
  reseller_account INTEGER NOT NULL REFERENCES users (account),
  price_micros INTEGER CHECK (price_micros BETWEEN 0 AND 9007199254740991),
  created_at INTEGER NOT NULL,
  PRIMARY KEY (service_id, reseller_account)
) STRICT, WITHOUT ROWID;

CREATE INDEX grants_by_reseller ON grants (reseller_account);

-- An order keeps what it was sold as: a later edit of its service changes no past order.
CREATE TABLE orders (
  order_id INTEGER PRIMARY KEY CHECK (order_id > 0),
  id TEXT NOT NULL UNIQUE CHECK (length(id) = 24),
  reseller_account INTEGER NOT NULL REFERENCES users (account),
  service_id TEXT NOT NULL REFERENCES services (id),
  service_name TEXT NOT NULL,
  price_micros INTEGER NOT NULL CHECK (price_micros >= 0),
  per TEXT NOT NULL CHECK (per IN ('1000', '1', 'order')),
  link TEXT NOT NULL CHECK (length(link) >= 1),
  quantity INTEGER NOT NULL CHECK (quantity BETWEEN 1 AND 1000000000),
  charge_micros INTEGER NOT NULL CHECK (charge_micros >= 0),
  refunded_micros INTEGER NOT NULL DEFAULT 0 CHECK (refunded_micros BETWEEN 0 AND charge_micros),
  status TEXT NOT NULL CHECK (
    status IN ('PENDING', 'PROCESSING', 'COMPLETED', 'PARTIAL', 'FAILED', 'CANCELLED', 'REFUNDED')
  ),
  start_count INTEGER NOT NULL DEFAULT 0 CHECK (start_count >= 0),
  remains INTEGER NOT NULL CHECK (remains BETWEEN 0 AND quantity),
  created_at INTEGER NOT NULL,
  CHECK (status NOT IN ('FAILED', 'CANCELLED', 'REFUNDED') OR refunded_micros = charge_micros),
  CHECK (status NOT IN ('PENDING', 'PROCESSING', 'COMPLETED') OR refunded_micros = 0)
) STRICT;

CREATE INDEX orders_by_reseller ON orders (reseller_account, order_id);

CREATE INDEX orders_open ON orders (order_id) WHERE status IN ('PENDING', 'PROCESSING');

CREATE TRIGGER orders_keep_terms
BEFORE UPDATE OF order_id, id, reseller_account, service_id, service_name, price_micros, per, link, quantity,
  charge_micros, created_at ON orders
BEGIN SELECT RAISE(ABORT, 'an order keeps the terms it was placed on'); END;

CREATE TRIGGER orders_final BEFORE UPDATE OF status ON orders
WHEN OLD.status IN ('FAILED', 'CANCELLED', 'REFUNDED')
BEGIN SELECT RAISE(ABORT, 'FAILED, CANCELLED and REFUNDED are final'); END;

CREATE TRIGGER orders_are_kept BEFORE DELETE ON orders
BEGIN SELECT RAISE(ABORT, 'orders are never deleted'); END;

-- Every change of an order's status after its creation: when, from what, to what, by whom, why.
CREATE TABLE order_events (
  seq INTEGER PRIMARY KEY,
  order_id INTEGER NOT NULL REFERENCES orders (order_id),
  from_status TEXT NOT NULL,
  to_status TEXT NOT NULL,
  key_id TEXT REFERENCES keys (id),
  operator TEXT,
  note TEXT,
  created_at INTEGER NOT NULL,
  CHECK (key_id IS NULL OR operator IS NULL)
) STRICT;

CREATE INDEX order_events_by_order ON order_events (order_id, seq);

CREATE TRIGGER order_events_append_only_update BEFORE UPDATE ON order_events
BEGIN SELECT RAISE(ABORT, 'order events are append-only'); END;

CREATE TRIGGER order_events_append_only_delete BEFORE DELETE ON order_events
BEGIN SELECT RAISE(ABORT, 'order events are append-only'); END;

-- The ledger. A transfer is never changed or deleted; an undo is a new, reversed one.
CREATE TABLE transfers (
  seq INTEGER PRIMARY KEY,
  debit_account INTEGER NOT NULL REFERENCES accounts (account),
  credit_account INTEGER NOT NULL REFERENCES accounts (account),
  amount_micros INTEGER NOT NULL CHECK (amount_micros BETWEEN 1 AND 9007199254740991),
  kind TEXT NOT NULL CHECK (kind IN ('recharge', 'order', 'partial_refund', 'refund', 'adjustment')),
  order_id INTEGER REFERENCES orders (order_id),
  key_id TEXT REFERENCES keys (id),
  operator TEXT,
  note TEXT,
  created_at INTEGER NOT NULL,
  CHECK (debit_account <> credit_account),
  CHECK (key_id IS NULL OR operator IS NULL),
  CHECK ((kind IN ('order', 'partial_refund', 'refund')) = (order_id IS NOT NULL))
) STRICT;

-- One charge, at most one partial and one full refund an order.
CREATE UNIQUE INDEX transfers_once_an_order ON transfers (order_id, kind) WHERE order_id IS NOT NULL;

CREATE INDEX transfers_by_debit ON transfers (debit_account, seq) WHERE debit_account > 2;

CREATE INDEX transfers_by_credit ON transfers (credit_account, seq) WHERE credit_account > 2;

CREATE TRIGGER transfers_append_only_update BEFORE UPDATE ON transfers
BEGIN SELECT RAISE(ABORT, 'transfers are append-only'); END;

CREATE TRIGGER transfers_append_only_delete BEFORE DELETE ON transfers
BEGIN SELECT RAISE(ABORT, 'transfers are append-only'); END;
