-- Every change of services, grants and discounts, as resellers are told of them. What one of them is to a reseller is worked out when it
-- asks: a change is one row, however many resellers there are.
CREATE TABLE service_changes (
  seq INTEGER PRIMARY KEY CHECK (seq BETWEEN 1 AND 1000000000000000),
  at INTEGER NOT NULL,
  -- Null: the reseller's discount, before what it is to each service.
  service_id TEXT CHECK (length(service_id) BETWEEN 1 AND 64),
  -- Null: of the service itself. Else of what this reseller has of its own.
  reseller_account INTEGER REFERENCES users (account),
  -- The service's terms as JSON; null: there was none, or there is none any more.
  before TEXT,
  after TEXT,
  -- The reseller's own terms as JSON.
  own_before TEXT,
  own_after TEXT,
  CHECK ((service_id IS NULL) = (before IS NULL AND after IS NULL)),
  CHECK (service_id IS NOT NULL OR reseller_account IS NOT NULL),
  CHECK ((reseller_account IS NULL) = (own_before IS NULL) AND (reseller_account IS NULL) = (own_after IS NULL))
) STRICT;

CREATE INDEX service_changes_by_reseller ON service_changes (reseller_account, service_id, seq)
WHERE reseller_account IS NOT NULL;
CREATE INDEX service_changes_by_discount ON service_changes (reseller_account, seq) WHERE reseller_account IS NOT NULL;
CREATE INDEX service_changes_by_service ON service_changes (service_id, seq) WHERE reseller_account IS NULL;

CREATE TRIGGER service_changes_are_kept BEFORE UPDATE ON service_changes
BEGIN SELECT RAISE(ABORT, 'what changed is never changed'); END;

CREATE TRIGGER service_changes_stay BEFORE DELETE ON service_changes
BEGIN SELECT RAISE(ABORT, 'what changed is never deleted'); END;

-- The feed begins with the discounts, the catalogue and the grants as they are now.
INSERT INTO service_changes (at, reseller_account, own_before, own_after)
SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER), account,
  json_object('granted', json('false'), 'priceMicros', NULL, 'discountPpm', 0),
  json_object('granted', json('false'), 'priceMicros', NULL, 'discountPpm', discount_ppm)
FROM users WHERE discount_ppm > 0 ORDER BY account;

INSERT INTO service_changes (at, service_id, after)
SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER), id,
  json_object('name', name, 'priceMicros', price_micros, 'min', min, 'max', max,
    'active', json(CASE active WHEN 1 THEN 'true' ELSE 'false' END),
    'private', json(CASE private WHEN 1 THEN 'true' ELSE 'false' END))
FROM services ORDER BY number;

INSERT INTO service_changes (at, service_id, reseller_account, before, after, own_before, own_after)
SELECT told.at, grants.service_id, grants.reseller_account, told.after, told.after,
  json_object('granted', json('false'), 'priceMicros', NULL, 'discountPpm', users.discount_ppm),
  json_object('granted', json('true'), 'priceMicros', grants.price_micros, 'discountPpm', users.discount_ppm)
FROM grants JOIN users ON users.account = grants.reseller_account
  JOIN service_changes AS told ON told.service_id = grants.service_id AND told.reseller_account IS NULL
ORDER BY grants.service_id, grants.reseller_account;
