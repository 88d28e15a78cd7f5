-- Panels name a service by an integer that it keeps for ever, and show it in a category. Services that are there already
-- are numbered in the order in which they were created: within one import, which gives all of them one time, in the order
-- in which the audit log has them.

ALTER TABLE services ADD COLUMN number bigint;
ALTER TABLE services ADD COLUMN category text COLLATE "C" NOT NULL DEFAULT 'Services' CHECK (length(category) >= 1);
ALTER TABLE services ADD COLUMN category_by_hand smallint NOT NULL DEFAULT 0 CHECK (category_by_hand IN (0, 1));

UPDATE services SET number = numbered.number FROM (
  SELECT services.id, row_number() OVER (ORDER BY created_at, entry NULLS LAST, services.id) AS number
  FROM services LEFT JOIN (
    SELECT subject, min(seq) AS entry FROM audit WHERE action = 'service.create' GROUP BY subject
  ) AS created ON created.subject = services.id
) AS numbered WHERE numbered.id = services.id;

ALTER TABLE services ALTER COLUMN number SET NOT NULL;
ALTER TABLE services ADD CHECK (number BETWEEN 1 AND 9007199254740991);
ALTER TABLE services ADD UNIQUE (number);

CREATE SEQUENCE services_number OWNED BY services.number;
SELECT setval('services_number', coalesce(max(number), 0) + 1, false) FROM services;

DROP TRIGGER services_changed ON services;
CREATE TRIGGER services_changed
AFTER UPDATE OF id, name, category, price_micros, per, min, max, active, private ON services
FOR EACH STATEMENT EXECUTE FUNCTION catalogue_changed();

CREATE TRIGGER services_keep_number BEFORE UPDATE OF number ON services FOR EACH ROW
WHEN (NEW.number <> OLD.number) EXECUTE FUNCTION refuse('a service keeps its number');
