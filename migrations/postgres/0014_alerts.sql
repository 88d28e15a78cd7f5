-- Alerts for the operator. They go through the queue of webhooks, to endpoints that belong to no reseller: so a reseller of
-- an endpoint, and of an event, may be missing.
ALTER TABLE webhooks ALTER COLUMN reseller_account DROP NOT NULL;
-- Of the operator's: a chat of Telegram, whose bot's token is the secret. Null: the URL.
ALTER TABLE webhooks ADD COLUMN telegram_chat text COLLATE "C"
  CHECK (telegram_chat IS NULL OR (length(telegram_chat) BETWEEN 1 AND 64 AND reseller_account IS NULL));

DROP TRIGGER webhooks_keep_identity ON webhooks;
CREATE TRIGGER webhooks_keep_identity BEFORE UPDATE OF webhook_id, id, reseller_account, telegram_chat, created_at ON webhooks
FOR EACH ROW EXECUTE FUNCTION refuse('a webhook keeps its id and its reseller');

ALTER TABLE webhook_events ALTER COLUMN reseller_account DROP NOT NULL;
ALTER TABLE webhook_events ADD CHECK (reseller_account IS NOT NULL OR order_id IS NULL);

-- What was wrong, and from when to when. Each row is one message at its beginning and one at its end.
CREATE TABLE alerts (
  seq bigint PRIMARY KEY,
  kind text COLLATE "C" NOT NULL CHECK (length(kind) BETWEEN 1 AND 64),
  subject text COLLATE "C" NOT NULL CHECK (length(subject) >= 1),
  message text COLLATE "C" NOT NULL CHECK (length(message) >= 1),
  raised_at bigint NOT NULL,
  -- Null: it goes on.
  resolved_at bigint
);

CREATE SEQUENCE alerts_number OWNED BY alerts.seq;
CREATE UNIQUE INDEX alerts_open ON alerts (kind, subject) WHERE resolved_at IS NULL;
CREATE INDEX alerts_resolved ON alerts (resolved_at) WHERE resolved_at IS NOT NULL;

CREATE TRIGGER alerts_end_once BEFORE UPDATE ON alerts FOR EACH ROW
WHEN (OLD.resolved_at IS NOT NULL OR NEW.kind <> OLD.kind OR NEW.subject <> OLD.subject OR NEW.message <> OLD.message
  OR NEW.raised_at <> OLD.raised_at)
EXECUTE FUNCTION refuse('an alert ends once, and nothing else of it changes');

-- Below which balance the operator is alerted, in the provider's currency.
ALTER TABLE providers ADD COLUMN low_balance_micros bigint CHECK (low_balance_micros > 0);
-- Our balance there as it was last asked for.
ALTER TABLE providers ADD COLUMN balance_micros bigint;
ALTER TABLE providers ADD COLUMN balance_currency text COLLATE "C";
ALTER TABLE providers ADD COLUMN balance_at bigint CHECK ((balance_at IS NULL) = (balance_micros IS NULL));
-- When it was asked for, whether the provider answered or not.
ALTER TABLE providers ADD COLUMN balance_asked_at bigint;
