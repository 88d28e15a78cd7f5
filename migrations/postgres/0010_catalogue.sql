-- How a provider's list comes into the catalogue, by hand and on schedule, and whether the provider gets orders.
ALTER TABLE providers
  ADD COLUMN active smallint NOT NULL DEFAULT 1 CHECK (active IN (0, 1)),
  -- Percent, as a decimal number in text. Null: never said, so that no sync can sell at cost unasked.
  ADD COLUMN markup text COLLATE "C" CHECK (length(markup) >= 1),
  -- Milliseconds between two scheduled syncs; null: none is scheduled.
  ADD COLUMN sync_every bigint CHECK (sync_every > 0 AND (sync_every IS NULL OR markup IS NOT NULL)),
  -- What a scheduled sync may do unasked: change a price by so many percent, deactivate so many services.
  ADD COLUMN sync_price_limit text COLLATE "C" NOT NULL DEFAULT '20' CHECK (length(sync_price_limit) >= 1),
  ADD COLUMN sync_deactivation_limit bigint NOT NULL DEFAULT 10 CHECK (sync_deactivation_limit >= 0),
  -- What becomes of services that the catalogue does not have yet.
  ADD COLUMN sync_new text COLLATE "C" NOT NULL DEFAULT 'public' CHECK (sync_new IN ('public', 'private', 'ignore')),
  ADD COLUMN readable_ids smallint NOT NULL DEFAULT 0 CHECK (readable_ids IN (0, 1)),
  -- The last sync, applied or not, and why the last scheduled one was not applied.
  ADD COLUMN synced_at bigint,
  ADD COLUMN sync_held text COLLATE "C" CHECK (length(sync_held) >= 1);

-- Inactive because its provider is: it is active again once the provider is.
ALTER TABLE services ADD COLUMN suspended smallint NOT NULL DEFAULT 0
  CHECK (suspended IN (0, 1) AND (suspended = 0 OR active = 0));

-- From where the key was last used.
ALTER TABLE keys ADD COLUMN last_address text COLLATE "C" CHECK (length(last_address) BETWEEN 1 AND 64);

-- When the personal data of a user was erased. What follows lets that alone be taken out of rows that are never changed
-- otherwise: links, texts, references and notes, of an erased user, to 'erased' or to nothing.
ALTER TABLE users ADD COLUMN erased_at bigint CHECK (erased_at IS NULL OR active = 0);

CREATE TRIGGER users_stay_erased BEFORE UPDATE OF erased_at, active, username, name ON users FOR EACH ROW
WHEN (OLD.erased_at IS NOT NULL AND (NEW.erased_at IS DISTINCT FROM OLD.erased_at OR NEW.active <> OLD.active
  OR NEW.username <> OLD.username OR NEW.name <> OLD.name))
EXECUTE FUNCTION refuse('a user stays erased');

DROP TRIGGER orders_keep_terms ON orders;
CREATE TRIGGER orders_keep_terms
BEFORE UPDATE OF order_id, id, reseller_account, service_id, service_name, price_micros, per, quantity,
  charge_micros, created_at, provider_id, provider_service ON orders
FOR EACH ROW EXECUTE FUNCTION refuse('an order keeps the terms it was placed on');

CREATE FUNCTION is_erased(bigint) RETURNS boolean LANGUAGE sql STABLE AS
$$ SELECT EXISTS (SELECT FROM users WHERE account = $1 AND erased_at IS NOT NULL) $$;

CREATE FUNCTION orders_are_erased() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT is_erased(OLD.reseller_account) THEN
    RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;

CREATE TRIGGER orders_keep_link BEFORE UPDATE OF link ON orders FOR EACH ROW
WHEN (NEW.link <> 'erased' OR OLD.status IN ('PENDING', 'PROCESSING'))
EXECUTE FUNCTION refuse('an order keeps the terms it was placed on');
CREATE TRIGGER orders_keep_link_unless_erased BEFORE UPDATE OF link ON orders FOR EACH ROW
EXECUTE FUNCTION orders_are_erased('an order keeps the terms it was placed on');

DROP TRIGGER orders_keep_reference ON orders;
CREATE TRIGGER orders_keep_reference BEFORE UPDATE OF reference ON orders FOR EACH ROW
WHEN (NEW.reference IS NOT NULL) EXECUTE FUNCTION refuse('an order keeps its reference');
CREATE TRIGGER orders_keep_reference_unless_erased BEFORE UPDATE OF reference ON orders FOR EACH ROW
EXECUTE FUNCTION orders_are_erased('an order keeps its reference');

-- The same fields; each text but the type and an empty one becomes as many lines 'erased' as it has.
DROP TRIGGER orders_keep_extra ON orders;
CREATE FUNCTION orders_keep_extra() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.status IN ('PENDING', 'PROCESSING') OR NOT is_erased(OLD.reseller_account)
    OR NEW.extra::jsonb IS DISTINCT FROM (
      SELECT jsonb_object_agg(key, CASE WHEN jsonb_typeof(value) <> 'string' OR key = 'type' OR value = '""' THEN value
        ELSE to_jsonb('erased' || repeat(chr(10) || 'erased',
          length(value #>> '{}') - length(replace(value #>> '{}', chr(10), '')))) END)
      FROM jsonb_each(OLD.extra::jsonb)) THEN
    RAISE EXCEPTION 'an order keeps the terms it was placed on' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER orders_keep_extra BEFORE UPDATE OF extra ON orders FOR EACH ROW EXECUTE FUNCTION orders_keep_extra();

DROP TRIGGER order_requests_go_forward ON order_requests;
CREATE FUNCTION order_requests_go_forward() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.note IS NOT NULL OR to_jsonb(NEW) - 'note' IS DISTINCT FROM to_jsonb(OLD) - 'note'
    OR NOT is_erased(OLD.reseller_account) THEN
    RAISE EXCEPTION 'a request is sent once, and what became of it is kept' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
-- Only what was certainly not sent is sent again.
CREATE TRIGGER order_requests_go_forward BEFORE UPDATE ON order_requests FOR EACH ROW
WHEN (OLD.state = 'declined' OR OLD.state = 'done'
  OR (OLD.state = 'accepted' AND (NEW.state = 'requested' OR NEW.state = 'sent'))
  OR (OLD.unknown = 1 AND (NEW.state = 'requested' OR (NEW.state = 'sent' AND NEW.unknown = 0))))
EXECUTE FUNCTION order_requests_go_forward();

DROP TRIGGER order_events_append_only ON order_events;
CREATE TRIGGER order_events_append_only_delete BEFORE DELETE ON order_events FOR EACH ROW
EXECUTE FUNCTION refuse('order events are append-only');
CREATE FUNCTION order_events_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.note IS NOT NULL OR to_jsonb(NEW) - 'note' IS DISTINCT FROM to_jsonb(OLD) - 'note'
    OR NOT is_erased((SELECT reseller_account FROM orders WHERE order_id = OLD.order_id)) THEN
    RAISE EXCEPTION 'order events are append-only' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER order_events_append_only_update BEFORE UPDATE ON order_events FOR EACH ROW
EXECUTE FUNCTION order_events_append_only();

DROP TRIGGER transfers_append_only ON transfers;
CREATE TRIGGER transfers_append_only_delete BEFORE DELETE ON transfers FOR EACH ROW
EXECUTE FUNCTION refuse('transfers are append-only');
CREATE FUNCTION transfers_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.note IS NOT NULL OR to_jsonb(NEW) - 'note' IS DISTINCT FROM to_jsonb(OLD) - 'note'
    OR NOT (is_erased(OLD.debit_account) OR is_erased(OLD.credit_account)) THEN
    RAISE EXCEPTION 'transfers are append-only' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER transfers_append_only_update BEFORE UPDATE ON transfers FOR EACH ROW
EXECUTE FUNCTION transfers_append_only();

DROP TRIGGER audit_append_only ON audit;
CREATE TRIGGER audit_append_only_delete BEFORE DELETE ON audit FOR EACH ROW
EXECUTE FUNCTION refuse('the audit log is append-only');
CREATE FUNCTION audit_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF to_jsonb(NEW) - 'subject' - 'before' - 'after' IS DISTINCT FROM to_jsonb(OLD) - 'subject' - 'before' - 'after'
    OR NOT (is_erased(OLD.account)
      OR is_erased((SELECT parent_account FROM users WHERE account = OLD.account))) THEN
    RAISE EXCEPTION 'the audit log is append-only' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER audit_append_only_update BEFORE UPDATE ON audit FOR EACH ROW
EXECUTE FUNCTION audit_append_only();

DROP TRIGGER placement_attempts_finish_once ON placement_attempts;
CREATE FUNCTION placement_attempts_finish_once() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.cause IS NOT NULL OR to_jsonb(NEW) - 'cause' IS DISTINCT FROM to_jsonb(OLD) - 'cause'
    OR NOT is_erased((SELECT reseller_account FROM orders WHERE order_id = OLD.order_id)) THEN
    RAISE EXCEPTION 'an attempt is finished once and then kept' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER placement_attempts_finish_once BEFORE UPDATE ON placement_attempts FOR EACH ROW
WHEN (OLD.outcome <> 'sending' OR NEW.order_id <> OLD.order_id OR NEW.started_at <> OLD.started_at)
EXECUTE FUNCTION placement_attempts_finish_once();
