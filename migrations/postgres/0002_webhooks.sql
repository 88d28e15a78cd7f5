-- Webhooks: the endpoints of resellers, the events they are sent, and each event's delivery to each endpoint.

-- The event types that the account's endpoints want, as bits, and the highest of their balance thresholds: what a command
-- looks at to write no event for a reseller that wants none.
ALTER TABLE users ADD COLUMN wanted_events bigint NOT NULL DEFAULT 0 CHECK (wanted_events >= 0);
ALTER TABLE users ADD COLUMN low_balance_micros bigint CHECK (low_balance_micros > 0);

-- How many events the order has had, sent to anyone or not.
ALTER TABLE orders ADD COLUMN sequence bigint NOT NULL DEFAULT 0;

-- The secret is in clear: signing needs it. A deleted endpoint has none, and its row stays until its deliveries are gone.
CREATE TABLE webhooks (
  webhook_id bigint PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE CHECK (length(id) = 24),
  reseller_account bigint NOT NULL REFERENCES users (account),
  url text COLLATE "C" NOT NULL
    CHECK (length(url) BETWEEN 1 AND 2048 AND (url ILIKE 'http://%' OR url ILIKE 'https://%')),
  -- Event types separated by commas.
  events text COLLATE "C" NOT NULL CHECK (length(events) >= 1),
  balance_low_below bigint CHECK (balance_low_below > 0),
  secret text COLLATE "C" NOT NULL,
  -- The one before, with which deliveries are signed too until then.
  previous_secret text COLLATE "C",
  previous_until bigint,
  active smallint NOT NULL CHECK (active IN (0, 1)),
  disabled_reason text COLLATE "C" CHECK (disabled_reason IN ('failures', 'gone', 'operator', 'owner')),
  disabled_at bigint,
  -- Since its last success: how many attempts failed, and when the first of them did.
  failures bigint NOT NULL DEFAULT 0 CHECK (failures >= 0),
  failing_since bigint,
  created_at bigint NOT NULL,
  deleted_at bigint,
  CHECK ((secret = '') = (deleted_at IS NOT NULL)),
  CHECK ((previous_secret IS NULL) = (previous_until IS NULL)),
  CHECK ((failing_since IS NULL) = (failures = 0)),
  CHECK ((disabled_reason IS NULL) = (active = 1) AND (disabled_at IS NULL) = (active = 1)),
  CHECK (deleted_at IS NULL OR active = 0)
);

CREATE SEQUENCE webhooks_number OWNED BY webhooks.webhook_id;
CREATE INDEX webhooks_by_reseller ON webhooks (reseller_account, webhook_id) WHERE deleted_at IS NULL;
CREATE INDEX webhooks_deleted ON webhooks (webhook_id) WHERE deleted_at IS NOT NULL;

CREATE TRIGGER webhooks_keep_identity BEFORE UPDATE OF webhook_id, id, reseller_account, created_at ON webhooks
FOR EACH ROW EXECUTE FUNCTION refuse('a webhook keeps its id and its reseller');

CREATE FUNCTION webhooks_belong_to_resellers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (SELECT parent_account IS NOT NULL FROM users WHERE account = NEW.reseller_account) THEN
    RAISE EXCEPTION 'a webhook belongs to a reseller, never to a child user' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER webhooks_belong_to_resellers BEFORE INSERT ON webhooks FOR EACH ROW
EXECUTE FUNCTION webhooks_belong_to_resellers();

-- Written in the transaction of the change. The body is what every attempt sends, byte for byte.
CREATE TABLE webhook_events (
  event_id bigint PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE CHECK (length(id) = 28),
  reseller_account bigint NOT NULL REFERENCES users (account),
  type text COLLATE "C" NOT NULL CHECK (length(type) >= 1),
  order_id bigint REFERENCES orders (order_id),
  -- Which of the order's events it is.
  sequence bigint CHECK (sequence >= 1),
  body text COLLATE "C" NOT NULL CHECK (length(body) >= 2),
  created_at bigint NOT NULL,
  CHECK ((sequence IS NULL) = (order_id IS NULL))
);

CREATE SEQUENCE webhook_events_number OWNED BY webhook_events.event_id;
CREATE UNIQUE INDEX webhook_events_by_order ON webhook_events (order_id, sequence) WHERE order_id IS NOT NULL;
CREATE INDEX webhook_events_by_time ON webhook_events (created_at);

CREATE TRIGGER webhook_events_are_kept BEFORE UPDATE ON webhook_events FOR EACH ROW
EXECUTE FUNCTION refuse('an event is never changed');

-- An event on its way to an endpoint. `waiting`: due at due_at. `sending`: a server has an attempt under way, and due_at is
-- when its lease ends and the delivery is due again.
CREATE TABLE webhook_deliveries (
  delivery_id bigint PRIMARY KEY,
  webhook_id bigint NOT NULL REFERENCES webhooks (webhook_id),
  event_id bigint NOT NULL REFERENCES webhook_events (event_id),
  state text COLLATE "C" NOT NULL CHECK (state IN ('waiting', 'sending', 'delivered', 'failed')),
  due_at bigint,
  server text COLLATE "C",
  -- Begun so far; a replay is one too.
  attempts bigint NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  -- Of those that the schedule made, which end at `tries`.
  failures bigint NOT NULL DEFAULT 0,
  tries bigint NOT NULL CHECK (tries >= 1),
  -- The next attempt was asked for: it is made for a disabled endpoint too, and does not count if it fails.
  replay smallint NOT NULL DEFAULT 0 CHECK (replay IN (0, 1)),
  UNIQUE (webhook_id, event_id),
  CHECK ((due_at IS NOT NULL) = (state IN ('waiting', 'sending'))),
  CHECK ((server IS NOT NULL) = (state = 'sending')),
  CHECK (failures BETWEEN 0 AND tries)
);

CREATE SEQUENCE webhook_deliveries_number OWNED BY webhook_deliveries.delivery_id;
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, due_at, delivery_id) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_replayed ON webhook_deliveries (webhook_id, due_at, delivery_id) WHERE due_at IS NOT NULL AND replay = 1;
CREATE INDEX webhook_deliveries_sending ON webhook_deliveries (webhook_id) WHERE state = 'sending';
CREATE INDEX webhook_deliveries_failed ON webhook_deliveries (webhook_id) WHERE state = 'failed';
CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries (event_id);

-- What came of each attempt. `error`: null for a success, else a word.
CREATE TABLE webhook_attempts (
  seq bigint PRIMARY KEY,
  delivery_id bigint NOT NULL REFERENCES webhook_deliveries (delivery_id),
  webhook_id bigint NOT NULL REFERENCES webhooks (webhook_id),
  attempt bigint NOT NULL CHECK (attempt >= 1),
  at bigint NOT NULL,
  duration_ms bigint NOT NULL CHECK (duration_ms >= 0),
  http_status bigint CHECK (http_status BETWEEN 100 AND 999),
  error text COLLATE "C" CHECK (length(error) >= 1),
  -- The beginning of the reply's body.
  response text COLLATE "C",
  UNIQUE (delivery_id, attempt)
);

CREATE SEQUENCE webhook_attempts_number OWNED BY webhook_attempts.seq;
CREATE INDEX webhook_attempts_by_webhook ON webhook_attempts (webhook_id, seq);
CREATE INDEX webhook_attempts_by_time ON webhook_attempts (at);

CREATE TRIGGER webhook_attempts_are_kept BEFORE UPDATE ON webhook_attempts FOR EACH ROW
EXECUTE FUNCTION refuse('what came of an attempt is never changed');
