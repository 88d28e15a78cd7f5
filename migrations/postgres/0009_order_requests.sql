-- Whether orders of a service can be cancelled and refilled, and for how many days after their end.
ALTER TABLE services ADD COLUMN cancel smallint NOT NULL DEFAULT 0 CHECK (cancel IN (0, 1));
ALTER TABLE services ADD COLUMN refill smallint NOT NULL DEFAULT 0 CHECK (refill IN (0, 1));
ALTER TABLE services ADD COLUMN refill_days bigint NOT NULL DEFAULT 30 CHECK (refill_days BETWEEN 1 AND 3650);
-- Set by the operator: a sync leaves them alone.
ALTER TABLE services ADD COLUMN cancel_by_hand smallint NOT NULL DEFAULT 0 CHECK (cancel_by_hand IN (0, 1));
ALTER TABLE services ADD COLUMN refill_by_hand smallint NOT NULL DEFAULT 0 CHECK (refill_by_hand IN (0, 1));

CREATE TRIGGER services_requests_changed AFTER UPDATE OF cancel, refill, refill_days ON services
FOR EACH STATEMENT EXECUTE FUNCTION catalogue_changed();

-- What was made of the former services is no longer what is to be told.
UPDATE catalogue_version SET version = version + 1;

-- What a reseller asks for an order that it has placed: to cancel it, or to deliver again what was lost. No money moves
-- with a request: it does with the order's status.
CREATE TABLE order_requests (
  request_id bigint PRIMARY KEY CHECK (request_id BETWEEN 1 AND 9007199254740991),
  id text COLLATE "C" NOT NULL UNIQUE CHECK (length(id) = 24),
  order_id bigint NOT NULL REFERENCES orders (order_id),
  reseller_account bigint NOT NULL REFERENCES users (account),
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('cancel', 'refill')),
  -- `sent` is committed before the call to the provider.
  state text COLLATE "C" NOT NULL CHECK (state IN ('requested', 'sent', 'accepted', 'declined', 'done')),
  -- Who decides; null: the operator.
  provider_id bigint REFERENCES providers (provider_id),
  -- Sent, and not known what came of it: it is never sent again, the operator settles it.
  unknown smallint NOT NULL DEFAULT 0 CHECK (unknown IN (0, 1) AND (unknown = 0 OR state = 'sent')),
  -- The server that is sending it.
  server text COLLATE "C" CHECK (server IS NULL OR (state = 'sent' AND unknown = 0)),
  -- The number that the provider gave the refill.
  provider_refill text COLLATE "C" CHECK (provider_refill IS NULL OR kind = 'refill'),
  -- When it is sent, or when the provider is asked how far the refill is.
  next_at bigint CHECK (
    next_at IS NULL
    OR (provider_id IS NOT NULL AND (state = 'requested' OR (state = 'accepted' AND provider_refill IS NOT NULL)))
  ),
  -- How often it was certainly not sent.
  tries bigint NOT NULL DEFAULT 0 CHECK (tries >= 0),
  -- Why, for the operator, with the provider's key masked.
  note text COLLATE "C",
  key_id text COLLATE "C" NOT NULL REFERENCES keys (id),
  created_at bigint NOT NULL,
  -- When it may have been sent.
  sent_at bigint CHECK (sent_at IS NULL OR provider_id IS NOT NULL),
  changed_at bigint NOT NULL,
  CHECK (state <> 'requested' OR (sent_at IS NULL AND (provider_id IS NULL) = (next_at IS NULL))),
  CHECK (state <> 'sent' OR sent_at IS NOT NULL)
);

CREATE SEQUENCE order_requests_number OWNED BY order_requests.request_id;

-- One open request of a kind an order.
CREATE UNIQUE INDEX order_requests_open ON order_requests (order_id, kind)
WHERE state = 'requested' OR state = 'sent' OR state = 'accepted';
CREATE INDEX order_requests_by_order ON order_requests (order_id, request_id);
CREATE INDEX order_requests_due ON order_requests (provider_id, next_at) WHERE next_at IS NOT NULL;
CREATE INDEX order_requests_listed ON order_requests (request_id)
WHERE state = 'requested' OR state = 'sent' OR state = 'accepted';

CREATE TRIGGER order_requests_keep_identity
BEFORE UPDATE OF request_id, id, order_id, reseller_account, kind, key_id, created_at ON order_requests FOR EACH ROW
EXECUTE FUNCTION refuse('a request keeps what it asks for');

-- Only what was certainly not sent is sent again.
CREATE TRIGGER order_requests_go_forward BEFORE UPDATE ON order_requests FOR EACH ROW
WHEN (OLD.state = 'declined' OR OLD.state = 'done'
  OR (OLD.state = 'accepted' AND (NEW.state = 'requested' OR NEW.state = 'sent'))
  OR (OLD.unknown = 1 AND (NEW.state = 'requested' OR (NEW.state = 'sent' AND NEW.unknown = 0))))
EXECUTE FUNCTION refuse('a request is sent once, and what became of it is kept');

CREATE TRIGGER order_requests_are_kept BEFORE DELETE ON order_requests FOR EACH ROW
EXECUTE FUNCTION refuse('requests are never deleted');
