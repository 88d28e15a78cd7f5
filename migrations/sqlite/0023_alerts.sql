-- Alerts for the operator. They go through the queue of webhooks, to endpoints that belong to no reseller: so a reseller of
-- an endpoint, and of an event, may be missing.
CREATE TABLE new_webhooks (
  webhook_id INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE CHECK (length(id) = 24),
  -- Null: the operator's, for alerts.
  reseller_account INTEGER REFERENCES users (account),
  -- Of the operator's: a chat of Telegram, whose bot's token is the secret. Null: the URL.
  telegram_chat TEXT CHECK (telegram_chat IS NULL OR (length(telegram_chat) BETWEEN 1 AND 64 AND reseller_account IS NULL)),
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

INSERT INTO new_webhooks (webhook_id, id, reseller_account, url, events, balance_low_below, secret, previous_secret,
  previous_until, active, disabled_reason, disabled_at, failures, failing_since, created_at, deleted_at)
SELECT webhook_id, id, reseller_account, url, events, balance_low_below, secret, previous_secret,
  previous_until, active, disabled_reason, disabled_at, failures, failing_since, created_at, deleted_at
FROM webhooks;

-- Its triggers and indexes go with it.
DROP TABLE webhooks;

ALTER TABLE new_webhooks RENAME TO webhooks;

CREATE INDEX webhooks_by_reseller ON webhooks (reseller_account, webhook_id) WHERE deleted_at IS NULL;
CREATE INDEX webhooks_deleted ON webhooks (webhook_id) WHERE deleted_at IS NOT NULL;

CREATE TRIGGER webhooks_keep_identity BEFORE UPDATE OF webhook_id, id, reseller_account, telegram_chat, created_at ON webhooks
BEGIN SELECT RAISE(ABORT, 'a webhook keeps its id and its reseller'); END;

CREATE TRIGGER webhooks_belong_to_resellers BEFORE INSERT ON webhooks
WHEN (SELECT parent_account IS NOT NULL FROM users WHERE account = NEW.reseller_account)
BEGIN SELECT RAISE(ABORT, 'a webhook belongs to a reseller, never to a child user'); END;

CREATE TABLE new_webhook_events (
  event_id INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE CHECK (length(id) = 28),
  -- Null: an alert.
  reseller_account INTEGER REFERENCES users (account),
  type TEXT NOT NULL CHECK (length(type) >= 1),
  order_id INTEGER REFERENCES orders (order_id),
  -- Which of the order's events it is.
  sequence INTEGER CHECK ((sequence IS NULL) = (order_id IS NULL) AND sequence >= 1),
  body TEXT NOT NULL CHECK (length(body) >= 2),
  created_at INTEGER NOT NULL,
  CHECK (reseller_account IS NOT NULL OR order_id IS NULL)
) STRICT;

INSERT INTO new_webhook_events (event_id, id, reseller_account, type, order_id, sequence, body, created_at)
SELECT event_id, id, reseller_account, type, order_id, sequence, body, created_at FROM webhook_events;

DROP TABLE webhook_events;

ALTER TABLE new_webhook_events RENAME TO webhook_events;

CREATE UNIQUE INDEX webhook_events_by_order ON webhook_events (order_id, sequence) WHERE order_id IS NOT NULL;
CREATE INDEX webhook_events_by_time ON webhook_events (created_at);

CREATE TRIGGER webhook_events_are_kept BEFORE UPDATE ON webhook_events
BEGIN SELECT RAISE(ABORT, 'an event is never changed'); END;

-- What was wrong, and from when to when. Each row is one message at its beginning and one at its end.
CREATE TABLE alerts (
  seq INTEGER PRIMARY KEY,
  kind TEXT NOT NULL CHECK (length(kind) BETWEEN 1 AND 64),
  subject TEXT NOT NULL CHECK (length(subject) >= 1),
  message TEXT NOT NULL CHECK (length(message) >= 1),
  raised_at INTEGER NOT NULL,
  -- Null: it goes on.
  resolved_at INTEGER
) STRICT;

CREATE UNIQUE INDEX alerts_open ON alerts (kind, subject) WHERE resolved_at IS NULL;
CREATE INDEX alerts_resolved ON alerts (resolved_at) WHERE resolved_at IS NOT NULL;

CREATE TRIGGER alerts_end_once BEFORE UPDATE ON alerts
WHEN OLD.resolved_at IS NOT NULL OR NEW.kind <> OLD.kind OR NEW.subject <> OLD.subject OR NEW.message <> OLD.message
  OR NEW.raised_at <> OLD.raised_at
BEGIN SELECT RAISE(ABORT, 'an alert ends once, and nothing else of it changes'); END;

-- Below which balance the operator is alerted, in the provider's currency.
ALTER TABLE providers ADD COLUMN low_balance_micros INTEGER CHECK (low_balance_micros > 0);
-- Our balance there as it was last asked for.
ALTER TABLE providers ADD COLUMN balance_micros INTEGER;
ALTER TABLE providers ADD COLUMN balance_currency TEXT;
ALTER TABLE providers ADD COLUMN balance_at INTEGER CHECK ((balance_at IS NULL) = (balance_micros IS NULL));
-- When it was asked for, whether the provider answered or not.
ALTER TABLE providers ADD COLUMN balance_asked_at INTEGER;
