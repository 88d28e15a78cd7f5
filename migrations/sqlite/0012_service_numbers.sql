-- Panels name a service by an integer that it keeps for ever, and show it in a category. Services that are there already
-- are numbered in the order in which they were created; numbers are counted up from there, like those of orders
-- (number_floors), and none is given again.

CREATE TABLE new_services (
  number INTEGER PRIMARY KEY CHECK (number BETWEEN 1 AND 9007199254740991),
  id TEXT NOT NULL UNIQUE CHECK (length(id) BETWEEN 1 AND 64),
  name TEXT NOT NULL CHECK (length(name) >= 1),
  category TEXT NOT NULL DEFAULT 'Services' CHECK (length(category) >= 1),
  price_micros INTEGER NOT NULL CHECK (price_micros BETWEEN 0 AND 9007199254740991),
  per TEXT NOT NULL CHECK (per IN ('1000', '1', 'order')),
  min INTEGER NOT NULL CHECK (min >= 1),
  max INTEGER NOT NULL CHECK (max <= 1000000000),
  active INTEGER NOT NULL CHECK (active IN (0, 1)),
  private INTEGER NOT NULL CHECK (private IN (0, 1)),
  created_at INTEGER NOT NULL,
  provider_id INTEGER REFERENCES providers (provider_id),
  provider_service TEXT CHECK ((provider_service IS NULL) = (provider_id IS NULL)),
  -- Which fields the operator set: a sync leaves them alone.
  name_by_hand INTEGER NOT NULL DEFAULT 1 CHECK (name_by_hand IN (0, 1)),
  category_by_hand INTEGER NOT NULL DEFAULT 0 CHECK (category_by_hand IN (0, 1)),
  price_by_hand INTEGER NOT NULL DEFAULT 1 CHECK (price_by_hand IN (0, 1)),
  min_by_hand INTEGER NOT NULL DEFAULT 1 CHECK (min_by_hand IN (0, 1)),
  max_by_hand INTEGER NOT NULL DEFAULT 1 CHECK (max_by_hand IN (0, 1)),
  -- Deactivated by a sync because the provider no longer lists it: the sync that sees it again brings it back.
  vanished INTEGER NOT NULL DEFAULT 0 CHECK (vanished IN (0, 1) AND (vanished = 0 OR active = 0)),
  CHECK (min <= max)
) STRICT;

INSERT INTO new_services (number, id, name, price_micros, per, min, max, active, private, created_at, provider_id,
  provider_service, name_by_hand, price_by_hand, min_by_hand, max_by_hand, vanished)
SELECT row_number() OVER (ORDER BY created_at, rowid), id, name, price_micros, per, min, max, active, private, created_at,
  provider_id, provider_service, name_by_hand, price_by_hand, min_by_hand, max_by_hand, vanished
FROM services;

-- Its triggers and indexes go with it.
DROP TABLE services;

ALTER TABLE new_services RENAME TO services;

CREATE INDEX services_by_name ON services (name, id);
CREATE INDEX services_by_provider ON services (provider_id, provider_service) WHERE provider_id IS NOT NULL;

CREATE TRIGGER services_added AFTER INSERT ON services
BEGIN UPDATE catalogue_version SET version = version + 1; END;

CREATE TRIGGER services_changed
AFTER UPDATE OF id, name, category, price_micros, per, min, max, active, private ON services
BEGIN UPDATE catalogue_version SET version = version + 1; END;

CREATE TRIGGER services_removed AFTER DELETE ON services
BEGIN UPDATE catalogue_version SET version = version + 1; END;

CREATE TRIGGER services_keep_number BEFORE UPDATE OF number ON services WHEN NEW.number <> OLD.number
BEGIN SELECT RAISE(ABORT, 'a service keeps its number'); END;

-- What was made of the former services is no longer what is to be told.
UPDATE catalogue_version SET version = version + 1;
