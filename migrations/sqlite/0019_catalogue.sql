-- How a provider's list comes into the catalogue, by hand and on schedule, and whether the provider gets orders.
ALTER TABLE providers ADD COLUMN active INTEGER NOT NULL DEFAULT 1 CHECK (active IN (0, 1));
-- Percent, as a decimal number in text. Null: never said, so that no sync can sell at cost unasked.
ALTER TABLE providers ADD COLUMN markup TEXT CHECK (length(markup) >= 1);
-- Milliseconds between two scheduled syncs; null: none is scheduled.
ALTER TABLE providers ADD COLUMN sync_every INTEGER CHECK (sync_every > 0 AND (sync_every IS NULL OR markup IS NOT NULL));
-- What a scheduled sync may do unasked: change a price by so many percent, deactivate so many services.
ALTER TABLE providers ADD COLUMN sync_price_limit TEXT NOT NULL DEFAULT '20' CHECK (length(sync_price_limit) >= 1);
ALTER TABLE providers ADD COLUMN sync_deactivation_limit INTEGER NOT NULL DEFAULT 10 CHECK (sync_deactivation_limit >= 0);
-- What becomes of services that the catalogue does not have yet.
ALTER TABLE providers ADD COLUMN sync_new TEXT NOT NULL DEFAULT 'public' CHECK (sync_new IN ('public', 'private', 'ignore'));
ALTER TABLE providers ADD COLUMN readable_ids INTEGER NOT NULL DEFAULT 0 CHECK (readable_ids IN (0, 1));
-- The last sync, applied or not, and why the last scheduled one was not applied.
ALTER TABLE providers ADD COLUMN synced_at INTEGER;
ALTER TABLE providers ADD COLUMN sync_held TEXT CHECK (length(sync_held) >= 1);

-- Inactive because its provider is: it is active again once the provider is.
ALTER TABLE services ADD COLUMN suspended INTEGER NOT NULL DEFAULT 0
  CHECK (suspended IN (0, 1) AND (suspended = 0 OR active = 0));

-- A service that was never ordered may be deleted; its number is not given again.
CREATE TRIGGER services_give_numbers_once AFTER DELETE ON services
BEGIN
  INSERT INTO number_floors (table_name, floor) VALUES ('services', OLD.number)
  ON CONFLICT (table_name) DO UPDATE SET floor = OLD.number WHERE floor < OLD.number;
END;

-- From where the key was last used.
ALTER TABLE keys ADD COLUMN last_address TEXT CHECK (length(last_address) BETWEEN 1 AND 64);

-- When the personal data of a user was erased. What follows lets that alone be taken out of rows that are never changed
-- otherwise: links, texts, references and notes, of an erased user, to 'erased' or to nothing. A migration that adds a column to
-- one of these tables adds it to the trigger.
ALTER TABLE users ADD COLUMN erased_at INTEGER CHECK (erased_at IS NULL OR active = 0);

CREATE TRIGGER users_stay_erased BEFORE UPDATE OF erased_at, active, username, name ON users
WHEN OLD.erased_at IS NOT NULL AND (NEW.erased_at IS NOT OLD.erased_at OR NEW.active <> OLD.active
  OR NEW.username <> OLD.username OR NEW.name <> OLD.name)
BEGIN SELECT RAISE(ABORT, 'a user stays erased'); END;

DROP TRIGGER orders_keep_terms;

CREATE TRIGGER orders_keep_terms
BEFORE UPDATE OF order_id, id, reseller_account, service_id, service_name, price_micros, per, quantity,
  charge_micros, created_at, provider_id, provider_service ON orders
BEGIN SELECT RAISE(ABORT, 'an order keeps the terms it was placed on'); END;

CREATE TRIGGER orders_keep_link BEFORE UPDATE OF link ON orders
WHEN NEW.link <> 'erased' OR OLD.status IN ('PENDING', 'PROCESSING')
  OR (SELECT erased_at FROM users WHERE account = OLD.reseller_account) IS NULL
BEGIN SELECT RAISE(ABORT, 'an order keeps the terms it was placed on'); END;

DROP TRIGGER orders_keep_reference;

CREATE TRIGGER orders_keep_reference BEFORE UPDATE OF reference ON orders
WHEN NEW.reference IS NOT NULL OR (SELECT erased_at FROM users WHERE account = OLD.reseller_account) IS NULL
BEGIN SELECT RAISE(ABORT, 'an order keeps its reference'); END;

DROP TRIGGER orders_keep_extra;

-- The same fields; each text but the type and an empty one becomes as many lines 'erased' as it has.
CREATE TRIGGER orders_keep_extra BEFORE UPDATE OF extra ON orders
WHEN OLD.status IN ('PENDING', 'PROCESSING') OR OLD.extra IS NULL OR NEW.extra IS NULL
  OR (SELECT erased_at FROM users WHERE account = OLD.reseller_account) IS NULL
  OR (SELECT count(*) FROM json_each(NEW.extra)) <> (SELECT count(*) FROM json_each(OLD.extra))
  OR EXISTS (SELECT 1 FROM json_each(OLD.extra) AS kept LEFT JOIN json_each(NEW.extra) AS made ON made.key = kept.key
    WHERE made.value IS NOT CASE WHEN kept.type <> 'text' OR kept.key = 'type' OR kept.value = '' THEN kept.value
      ELSE 'erased' || replace(hex(zeroblob(length(kept.value) - length(replace(kept.value, char(10), '')))), '00',
        char(10) || 'erased') END)
BEGIN SELECT RAISE(ABORT, 'an order keeps the terms it was placed on'); END;

DROP TRIGGER order_requests_go_forward;

-- Only what was certainly not sent is sent again.
CREATE TRIGGER order_requests_go_forward BEFORE UPDATE ON order_requests
WHEN (OLD.state = 'declined' OR OLD.state = 'done'
    OR (OLD.state = 'accepted' AND (NEW.state = 'requested' OR NEW.state = 'sent'))
    OR (OLD.unknown = 1 AND (NEW.state = 'requested' OR (NEW.state = 'sent' AND NEW.unknown = 0))))
  AND NOT (NEW.note IS NULL AND NEW.state = OLD.state AND NEW.provider_id IS OLD.provider_id AND NEW.unknown = OLD.unknown
    AND NEW.server IS OLD.server AND NEW.provider_refill IS OLD.provider_refill AND NEW.next_at IS OLD.next_at
    AND NEW.tries = OLD.tries AND NEW.sent_at IS OLD.sent_at AND NEW.changed_at = OLD.changed_at
    AND (SELECT erased_at FROM users WHERE account = OLD.reseller_account) IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'a request is sent once, and what became of it is kept'); END;

DROP TRIGGER order_events_append_only_update;

CREATE TRIGGER order_events_append_only_update BEFORE UPDATE ON order_events
WHEN NEW.note IS NOT NULL OR NEW.seq <> OLD.seq OR NEW.order_id <> OLD.order_id OR NEW.from_status <> OLD.from_status
  OR NEW.to_status <> OLD.to_status OR NEW.key_id IS NOT OLD.key_id OR NEW.operator IS NOT OLD.operator
  OR NEW.created_at <> OLD.created_at
  OR (SELECT erased_at FROM orders JOIN users ON account = reseller_account WHERE order_id = OLD.order_id) IS NULL
BEGIN SELECT RAISE(ABORT, 'order events are append-only'); END;

DROP TRIGGER transfers_append_only_update;

CREATE TRIGGER transfers_append_only_update BEFORE UPDATE ON transfers
WHEN NEW.note IS NOT NULL OR NEW.seq <> OLD.seq OR NEW.debit_account <> OLD.debit_account
  OR NEW.credit_account <> OLD.credit_account OR NEW.amount_micros <> OLD.amount_micros OR NEW.kind <> OLD.kind
  OR NEW.order_id IS NOT OLD.order_id OR NEW.key_id IS NOT OLD.key_id OR NEW.operator IS NOT OLD.operator
  OR NEW.created_at <> OLD.created_at OR NEW.balance_after_micros <> OLD.balance_after_micros
  OR NOT EXISTS (SELECT 1 FROM users
    WHERE account IN (OLD.debit_account, OLD.credit_account) AND erased_at IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'transfers are append-only'); END;

DROP TRIGGER audit_append_only_update;

CREATE TRIGGER audit_append_only_update BEFORE UPDATE ON audit
WHEN NEW.seq <> OLD.seq OR NEW.created_at <> OLD.created_at OR NEW.key_id IS NOT OLD.key_id
  OR NEW.operator IS NOT OLD.operator OR NEW.action <> OLD.action OR NEW.account IS NOT OLD.account
  OR (SELECT coalesce(erased_at, (SELECT parents.erased_at FROM users AS parents
      WHERE parents.account = users.parent_account)) FROM users WHERE users.account = OLD.account) IS NULL
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;

DROP TRIGGER placement_attempts_finish_once;

CREATE TRIGGER placement_attempts_finish_once BEFORE UPDATE ON placement_attempts
WHEN (OLD.outcome <> 'sending' OR NEW.order_id <> OLD.order_id OR NEW.started_at <> OLD.started_at)
  AND NOT (NEW.cause IS NULL AND NEW.attempt_id = OLD.attempt_id AND NEW.order_id = OLD.order_id
    AND NEW.outcome = OLD.outcome AND NEW.started_at = OLD.started_at AND NEW.finished_at IS OLD.finished_at
    AND (SELECT erased_at FROM orders JOIN users ON account = reseller_account WHERE order_id = OLD.order_id) IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'an attempt is finished once and then kept'); END;
