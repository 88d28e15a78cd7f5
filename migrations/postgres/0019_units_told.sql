-- The unit of a service's price is told in the catalogue and in the feed of its changes.
CREATE TRIGGER services_unit_changed AFTER UPDATE OF per ON services
FOR EACH STATEMENT EXECUTE FUNCTION catalogue_changed();

UPDATE catalogue_version SET version = version + 1;

-- Whoever follows the feed learns the units that there are.
INSERT INTO service_changes (seq, at, service_id, before, after)
SELECT nextval('service_changes_number'), told.at, told.id, told.terms::text, (told.terms || jsonb_build_object('per', told.per))::text
FROM (
  SELECT floor(extract(epoch FROM now()) * 1000)::bigint AS at, id, per,
    jsonb_build_object('name', name, 'priceMicros', price_micros, 'min', min, 'max', max,
      'active', active = 1, 'private', private = 1) AS terms
  FROM services ORDER BY number
) AS told;
