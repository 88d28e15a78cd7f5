-- The unit of a service's price is told in the catalogue and in the feed of its changes.
CREATE TRIGGER services_unit_changed AFTER UPDATE OF per ON services
BEGIN UPDATE catalogue_version SET version = version + 1; END;

UPDATE catalogue_version SET version = version + 1;

-- Whoever follows the feed learns the units that there are.
INSERT INTO service_changes (at, service_id, before, after)
SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER), id, terms, json_set(terms, '$.per', per)
FROM (
  SELECT id, number, per, json_object('name', name, 'priceMicros', price_micros, 'min', min, 'max', max,
    'active', json(CASE active WHEN 1 THEN 'true' ELSE 'false' END),
    'private', json(CASE private WHEN 1 THEN 'true' ELSE 'false' END)) AS terms
  FROM services
) ORDER BY number;
