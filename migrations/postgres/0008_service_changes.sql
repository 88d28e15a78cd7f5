-- Every change of services and grants, as resellers are told of them. What one of them is to a reseller is worked out when it
-- asks: a change is one row, however many resellers there are.
CREATE TABLE service_changes (
  seq bigint PRIMARY KEY CHECK (seq BETWEEN 1 AND 1000000000000000),
  at bigint NOT NULL,
  service_id text COLLATE "C" NOT NULL CHECK (length(service_id) BETWEEN 1 AND 64),
  -- Null: of the service itself. Else of what this reseller has of its own.
  reseller_account bigint REFERENCES users (account),
  -- The service's terms as JSON; null: there was none, or there is none any more.
  before text COLLATE "C",
  after text COLLATE "C",
  -- The reseller's own terms as JSON; null: none.
  own_before text COLLATE "C",
  own_after text COLLATE "C",
  CHECK (before IS NOT NULL OR after IS NOT NULL),
  CHECK (reseller_account IS NOT NULL OR (own_before IS NULL AND own_after IS NULL))
);

CREATE SEQUENCE service_changes_number OWNED BY service_changes.seq;
CREATE INDEX service_changes_by_reseller ON service_changes (reseller_account, service_id, seq)
WHERE reseller_account IS NOT NULL;
CREATE INDEX service_changes_by_service ON service_changes (service_id, seq) WHERE reseller_account IS NULL;

CREATE TRIGGER service_changes_are_kept BEFORE UPDATE ON service_changes FOR EACH ROW
EXECUTE FUNCTION refuse('what changed is never changed');

CREATE TRIGGER service_changes_stay BEFORE DELETE ON service_changes FOR EACH ROW
EXECUTE FUNCTION refuse('what changed is never deleted');

-- The feed begins with the catalogue as it is now.
INSERT INTO service_changes (seq, at, service_id, after)
SELECT nextval('service_changes_number'), listed.at, listed.id, listed.terms
FROM (
  SELECT floor(extract(epoch FROM now()) * 1000)::bigint AS at, id,
    json_build_object('name', name, 'priceMicros', price_micros, 'min', min, 'max', max,
      'active', active = 1, 'private', private = 1)::text AS terms
  FROM services ORDER BY number
) AS listed;

INSERT INTO service_changes (seq, at, service_id, reseller_account, before, after, own_after)
SELECT nextval('service_changes_number'), told.at, told.service_id, told.reseller_account, told.after, told.after, told.own
FROM (
  SELECT told.at, grants.service_id, grants.reseller_account, told.after,
    json_build_object('priceMicros', grants.price_micros)::text AS own
  FROM grants JOIN service_changes AS told ON told.service_id = grants.service_id AND told.reseller_account IS NULL
  ORDER BY grants.service_id, grants.reseller_account
) AS told;
