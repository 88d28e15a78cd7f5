-- Webhooks: the endpoints of resellers, the events they are sent, and each event's delivery to each endpoint.

-- The event types that the account's endpoints want, as bits, and the highest of their balance thresholds: what a command
-- looks at to write no event for a reseller that wants none.
ALTER TABLE users ADD COLUMN wanted_events INTEGER NOT NULL DEFAULT 0 CHECK (wanted_events >= 0);
ALTER TABLE users ADD COLUMN low_balance_micros INTEGER CHECK (low_balance_micros > 0);

-- How many events the order has had, sent to anyone or not.
ALTER TABLE orders ADD COLUMN sequence INTEGER NOT NULL DEFAULT 0;

-- The secret is in clear: signing needs it. A deleted endpoint has none, and its row stays until its deliveries are gone.
CREATE TABLE webhooks (
  webhook_id INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE CHECK (length(id) = 24),
  reseller_account INTEGER NOT NULL REFERENCES users (account),
  url TEXT NOT NULL CHECK (length(url) BETWEEN 1 AND 2048 AND (url LIKE 'http://%' OR url LIKE 'https://%')),
  -- Event types separated by commas.
  events TEXT NOT NULL CHECK (length(events) >= 1),
  balance_low_below INTEGER CHECK (balance_low_below > 0),
  secret TEXT NOT NULL CHECK ((secret = '') = (deleted_at IS NOT NULL)),
  -- The one before, with which deliveries are signed too until then.
  previous_secret TEXT CHECK ((previous_secret IS NULL) = (previous_until IS NULL)),
  previous_until INTEGER,
  active INTEGER NOT NULL CHECK (active IN (0, 1)),
  disabled_reason TEXT CHECK (
    disabled_reason = 'failures' OR disabled_reason = 'gone' OR disabled_reason = 'operator' OR disabled_reason = 'owner'
  ),
  disabled_at INTEGER,
  -- Since its last success: how many attempts failed, and when the first of them did.
  failures INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
  failing_since INTEGER CHECK ((failing_since IS NULL) = (failures = 0)),
  created_at INTEGER NOT NULL,
  deleted_at INTEGER,
  CHECK ((disabled_reason IS NULL) = (active = 1) AND (disabled_at IS NULL) = (active = 1)),
  CHECK (deleted_at IS NULL OR active = 0)
) STRICT;

CREATE INDEX webhooks_by_reseller ON webhooks (reseller_account, webhook_id) WHERE deleted_at IS NULL;
CREATE INDEX webhooks_deleted ON webhooks (webhook_id) WHERE deleted_at IS NOT NULL;

CREATE TRIGGER webhooks_keep_identity BEFORE UPDATE OF webhook_id, id, reseller_account, created_at ON webhooks
BEGIN SELECT RAISE(ABORT, 'a webhook keeps its id and its reseller'); END;

CREATE TRIGGER webhooks_belong_to_resellers BEFORE INSERT ON webhooks
WHEN (SELECT parent_account IS NOT NULL FROM users WHERE account = NEW.reseller_account)
BEGIN SELECT RAISE(ABORT, 'a webhook belongs to a reseller, never to a child user'); END;

-- Written in the transaction of the change. The body is what every attempt sends, byte for byte.
CREATE TABLE webhook_events (
  event_id INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE CHECK (length(id) = 28),
  reseller_account INTEGER NOT NULL REFERENCES users (account),
  type TEXT NOT NULL CHECK (length(type) >= 1),
  order_id INTEGER REFERENCES orders (order_id),
  -- Which of the order's events it is.
  sequence INTEGER CHECK ((sequence IS NULL) = (order_id IS NULL) AND sequence >= 1),
  body TEXT NOT NULL CHECK (length(body) >= 2),
  created_at INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX webhook_events_by_order ON webhook_events (order_id, sequence) WHERE order_id IS NOT NULL;
CREATE INDEX webhook_events_by_time ON webhook_events (created_at);

CREATE TRIGGER webhook_events_are_kept BEFORE UPDATE ON webhook_events
BEGIN SELECT RAISE(ABORT, 'an event is never changed'); END;

-- An event on its way to an endpoint. `waiting`: due at due_at. `sending`: a server has an attempt under way, and due_at is
-- when its lease ends and the delivery is due again.
CREATE TABLE webhook_deliveries (
  delivery_id INTEGER PRIMARY KEY,
  webhook_id INTEGER NOT NULL REFERENCES webhooks (webhook_id),
  event_id INTEGER NOT NULL REFERENCES webhook_events (event_id),
  state TEXT NOT NULL CHECK (state = 'waiting' OR state = 'sending' OR state = 'delivered' OR state = 'failed'),
  due_at INTEGER CHECK ((due_at IS NOT NULL) = (state = 'waiting' OR state = 'sending')),
  server TEXT CHECK ((server IS NOT NULL) = (state = 'sending')),
  -- Begun so far; a replay is one too.
  attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  -- Of those that the schedule made, which end at `tries`.
  failures INTEGER NOT NULL DEFAULT 0 CHECK (failures BETWEEN 0 AND tries),
  tries INTEGER NOT NULL CHECK (tries >= 1),
  -- The next attempt was asked for: it is made for a disabled endpoint too, and does not count if it fails.
  replay INTEGER NOT NULL DEFAULT 0 CHECK (replay IN (0, 1)),
  UNIQUE (webhook_id, event_id)
) STRICT;

CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_replayed ON webhook_deliveries (webhook_id, due_at) WHERE due_at IS NOT NULL AND replay = 1;
CREATE INDEX webhook_deliveries_sending ON webhook_deliveries (webhook_id) WHERE state = 'sending';
CREATE INDEX webhook_deliveries_failed ON webhook_deliveries (webhook_id) WHERE state = 'failed';
CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries (event_id);

-- What came of each attempt. `error`: null for a success, else a word.
CREATE TABLE webhook_attempts (
  seq INTEGER PRIMARY KEY,
  delivery_id INTEGER NOT NULL REFERENCES webhook_deliveries (delivery_id),
  webhook_id INTEGER NOT NULL REFERENCES webhooks (webhook_id),
  attempt INTEGER NOT NULL CHECK (attempt >= 1),
  at INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL CHECK (duration_ms >= 0),
  http_status INTEGER CHECK (http_status BETWEEN 100 AND 999),
  error TEXT CHECK (length(error) >= 1),
  -- The beginning of the reply's body.
  response TEXT,
  UNIQUE (delivery_id, attempt)
) STRICT;

CREATE INDEX webhook_attempts_by_webhook ON webhook_attempts (webhook_id, seq);
CREATE INDEX webhook_attempts_by_time ON webhook_attempts (at);

CREATE TRIGGER webhook_attempts_are_kept BEFORE UPDATE ON webhook_attempts
BEGIN SELECT RAISE(ABORT, 'what came of an attempt is never changed'); END;
