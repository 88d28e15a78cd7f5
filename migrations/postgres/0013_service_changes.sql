-- Every change of services, grants and discounts, as resellers are told of them. What one of them is to a reseller is worked out when it
-- asks: a change is one row, however many resellers there are.
CREATE TABLE service_changes (
  seq bigint PRIMARY KEY CHECK (seq BETWEEN 1 AND 1000000000000000),
  at bigint NOT NULL,
  -- Null: the reseller's discount, before what it is to each service.
  service_id text COLLATE "C" CHECK (length(service_id) BETWEEN 1 AND 64),
  -- Null: of the service itself. Else of what this reseller has of its own.
  reseller_account bigint REFERENCES users (account),
  -- The service's terms as JSON; null: there was none, or there is none any more.
  before text COLLATE "C",
  after text COLLATE "C",
  -- The reseller's own terms as JSON.
  own_before text COLLATE "C",
  own_after text COLLATE "C",
  CHECK ((service_id IS NULL) = (before IS NULL AND after IS NULL)),
  CHECK (service_id IS NOT NULL OR reseller_account IS NOT NULL),
  CHECK ((reseller_account IS NULL) = (own_before IS NULL) AND (reseller_account IS NULL) = (own_after IS NULL))
);

CREATE SEQUENCE service_changes_number OWNED BY service_changes.seq;
CREATE INDEX service_changes_by_reseller ON service_changes (reseller_account, service_id, seq)
WHERE reseller_account IS NOT NULL;
CREATE INDEX service_changes_by_discount ON service_changes (reseller_account, seq) WHERE reseller_account IS NOT NULL;
CREATE INDEX service_changes_by_service ON service_changes (service_id, seq) WHERE reseller_account IS NULL;

CREATE TRIGGER service_changes_are_kept BEFORE UPDATE ON service_changes FOR EACH ROW
EXECUTE FUNCTION refuse('what changed is never changed');

CREATE TRIGGER service_changes_stay BEFORE DELETE ON service_changes FOR EACH ROW
EXECUTE FUNCTION refuse('what changed is never deleted');

-- The feed begins with the discounts, the catalogue and the grants as they are now.
INSERT INTO service_changes (seq, at, reseller_account, own_before, own_after)
SELECT nextval('service_changes_number'), told.at, told.account, told.own_before, told.own_after
FROM (
  SELECT floor(extract(epoch FROM now()) * 1000)::bigint AS at, account,
    json_build_object('granted', false, 'priceMicros', NULL, 'discountPpm', 0)::text AS own_before,
    json_build_object('granted', false, 'priceMicros', NULL, 'discountPpm', discount_ppm)::text AS own_after
  FROM users WHERE discount_ppm > 0 ORDER BY account
) AS told;

INSERT INTO service_changes (seq, at, service_id, after)
SELECT nextval('service_changes_number'), listed.at, listed.id, listed.terms
FROM (
  SELECT floor(extract(epoch FROM now()) * 1000)::bigint AS at, id,
    json_build_object('name', name, 'priceMicros', price_micros, 'min', min, 'max', max,
      'active', active = 1, 'private', private = 1)::text AS terms
  FROM services ORDER BY number
) AS listed;

INSERT INTO service_changes (seq, at, service_id, reseller_account, before, after, own_before, own_after)
SELECT nextval('service_changes_number'), told.at, told.service_id, told.reseller_account, told.after, told.after,
  told.own_before, told.own_after
FROM (
  SELECT changed.at, grants.service_id, grants.reseller_account, changed.after,
    json_build_object('granted', false, 'priceMicros', NULL, 'discountPpm', users.discount_ppm)::text AS own_before,
    json_build_object('granted', true, 'priceMicros', grants.price_micros, 'discountPpm', users.discount_ppm)::text
      AS own_after
  FROM grants JOIN users ON users.account = grants.reseller_account
    JOIN service_changes AS changed ON changed.service_id = grants.service_id AND changed.reseller_account IS NULL
  ORDER BY grants.service_id, grants.reseller_account
) AS told;
